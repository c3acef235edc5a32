package main

import (
	"os"
	"strings"
)

// kernel returns the release of the running kernel.
func kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}
