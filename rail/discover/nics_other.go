//go:build !linux

package discover

import (
	"errors"
	"fmt"
	"runtime"
)

// NICs returns an error that wraps [errors.ErrUnsupported]: RDMA devices are found
// on Linux only.
func NICs() ([]NIC, error) {
	return nil, fmt.Errorf("discover: RDMA devices on %s: %w; sysfs is on Linux only", runtime.GOOS, errors.ErrUnsupported)
}
