package softroce

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// portName is the name of the serial port between host and agent.
const portName = "softroce"

// outputGrace is how long processes that the command left behind may hold its
// output open.
const outputGrace = 2 * time.Second

// nicsParameter of the kernel's command line tells the number of NICs a side.
const nicsParameter = "softroce.nics="

// InGuest reports whether the calling program runs in a guest of this package.
func InGuest() bool {
	_, err := guestNICs()
	return err == nil
}

func guestNICs() (int, error) {
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return 0, fmt.Errorf("softroce: not in a guest: %w", err)
	}
	return parseNICs(string(line))
}

func parseNICs(cmdline string) (int, error) {
	for _, word := range strings.Fields(cmdline) {
		if value, found := strings.CutPrefix(word, nicsParameter); found {
			return strconv.Atoi(value)
		}
	}
	return 0, errors.New("softroce: not in a guest: run the program with guestexec")
}

// ServeAgent is the guest's side of [Run]: it lays out the NICs, runs the
// command that the host sends and reports its outcome. The program named by
// Config.Agent calls it when started in the guest as "-agent".
func ServeAgent() error {
	path, err := findPort("/sys/class/virtio-ports")
	if err != nil {
		return err
	}
	port, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("softroce: port to the host: %w", err)
	}
	defer port.Close()

	kind, payload, err := readFrame(port)
	if err != nil {
		return fmt.Errorf("softroce: reading the job: %w", err)
	}
	var j job
	if err := json.Unmarshal(payload, &j); err != nil || kind != frameJob {
		return fmt.Errorf("softroce: frame %q instead of a job: %w", kind, err)
	}
	frames := &frameWriter{w: port}
	var result outcome
	if result.Status, err = j.run(frames); err != nil {
		result.Error = err.Error()
	}
	if err := frames.writeJSON(frameExit, result); err != nil {
		return fmt.Errorf("softroce: reporting the outcome: %w", err)
	}
	// The guest must not power off before the host has read everything.
	_, _, err = readFrame(port)
	return err
}

// findPort returns the device of the named port: without udev there is no link
// of that name.
func findPort(sysfs string) (string, error) {
	names, err := filepath.Glob(filepath.Join(sysfs, "*", "name"))
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err == nil && strings.TrimSpace(string(text)) == portName {
			return filepath.Join("/dev", filepath.Base(filepath.Dir(name))), nil
		}
	}
	return "", fmt.Errorf("softroce: no port %q among %v: is this a guest of guestexec?", portName, names)
}

// run prepares the guest, runs the command and returns its exit status.
func (j job) run(frames *frameWriter) (int, error) {
	nics, err := guestNICs()
	if err != nil {
		return 0, err
	}
	layout, err := NewLayout(nics)
	if err != nil {
		return 0, err
	}
	if err := layout.build(); err != nil {
		return 0, err
	}
	if j.Share != "" {
		options := "trans=virtio,version=9p2000.L,msize=262144,cache=none"
		if _, err := runTool("mount", "-t", "9p", "-o", options, "share", j.Share); err != nil {
			return 0, err
		}
	}
	if err := frames.write(frameStarted, nil); err != nil {
		return 0, err
	}
	return j.Command.run(frames)
}

// run runs the command and returns its exit status, counted as a shell does:
// 128 and the signal's number after a fatal signal.
func (c Command) run(frames *frameWriter) (int, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdout, cmd.Stderr = frames.stream(frameStdout), frames.stream(frameStderr)
	cmd.WaitDelay = outputGrace
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return 0, nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return exit.ExitCode(), nil
}
