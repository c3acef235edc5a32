// Package machine tells where a benchmark ran.
package machine

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Machine says where and of what a report is.
type Machine struct {
	cpu, system, goVersion, commit string
	cores                          int
	date                           time.Time
}

// This returns the machine that the program runs on, and what it was built from.
func This() Machine {
	return Machine{
		cpu:       cpuName(),
		system:    runtime.GOOS + "/" + runtime.GOARCH,
		goVersion: runtime.Version(),
		commit:    commit(),
		cores:     runtime.NumCPU(),
		date:      time.Now().UTC(),
	}
}

func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s, commit %s, %s", m.cpu, m.cores, m.system, m.goVersion, m.commit, m.date.Format(time.DateOnly))
}

// cpuName returns the processor's name where the system tells it in a file.
func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// commit returns what the work tree is at, with a mark if it was changed since.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
