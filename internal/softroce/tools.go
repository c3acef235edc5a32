package softroce

import (
	"fmt"
	"os/exec"
	"strings"
)

// runTool runs a command and returns what it printed. The error carries the
// command line and its output.
func runTool(name string, args ...string) (string, error) {
	return finish(exec.Command(name, args...))
}

// runBatch feeds the lines to a tool of iproute2 in its batch mode, which
// stops at the first line that fails.
func runBatch(tool string, lines []string) error {
	cmd := exec.Command(tool, "-b", "-")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := finish(cmd)
	if err != nil {
		if line := failedLine(out, lines); line != "" {
			return fmt.Errorf("%w (at %q)", err, tool+" "+line)
		}
		return err
	}
	return nil
}

// failedLine finds the line that iproute2 complains about as "Command failed -:3".
func failedLine(out string, lines []string) string {
	_, rest, found := strings.Cut(out, "Command failed -:")
	var number int
	if !found {
		return ""
	}
	if _, err := fmt.Sscanf(rest, "%d", &number); err != nil || number < 1 || number > len(lines) {
		return ""
	}
	return lines[number-1]
}

func finish(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("softroce: %s: %w: %s", strings.Join(cmd.Args, " "), err, text)
	}
	return text, nil
}
