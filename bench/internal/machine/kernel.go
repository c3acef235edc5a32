package machine

import (
	"os"
	"strings"
)

// Kernel returns the release of the running kernel.
func Kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}
