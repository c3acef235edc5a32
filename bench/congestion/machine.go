package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine says where and of what a report is.
type machine struct {
	cpu, commit string
	cores       int
	date        time.Time
}

func thisMachine() machine {
	return machine{cpuName(), commit(), runtime.NumCPU(), time.Now().UTC()}
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, commit %s, %s", m.cpu, m.cores, m.commit, m.date.Format(time.DateOnly))
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

// kernel returns the release of the running kernel.
func kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}
