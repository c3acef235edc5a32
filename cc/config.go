package cc

import (
	"errors"
	"fmt"
	"math"
)

// MaxBytes is the largest slice and the largest window, in bytes. Sums of a few
// of them still fit an int64.
const MaxBytes = math.MaxInt64 / 4

// Config holds the controller's numbers. Start from [DefaultConfig]; a zero field
// is an error, not a default, so that a misspelt setting cannot pass unseen.
type Config struct {
	// Mode is off, observe or enforce.
	Mode Mode
	// MinWindowBytes and MaxWindowBytes bound every route's window. At least 1,
	// at most [MaxBytes], minimum not above maximum.
	MinWindowBytes, MaxWindowBytes int64
	// StartWindowBytes is the window of a new route, between the two.
	StartWindowBytes int64
	// DeviceWindowBytes is the window that all routes of one local device share.
	// At least StartWindowBytes, at most [MaxBytes].
	DeviceWindowBytes int64
}

// DefaultConfig returns the defaults: mode off, windows of 64 KiB to 64 MiB that
// start at 256 KiB, and 64 MiB for a device.
func DefaultConfig() Config {
	return Config{
		Mode:              Off,
		MinWindowBytes:    64 << 10,
		StartWindowBytes:  256 << 10,
		MaxWindowBytes:    64 << 20,
		DeviceWindowBytes: 64 << 20,
	}
}

// Validate reports every fault of the configuration, joined into one error, or
// nil. Each fault names the field, its value and the rule.
func (c Config) Validate() error {
	var faults []error
	if c.Mode > Enforce {
		faults = append(faults, fmt.Errorf("cc: Mode is %d; use Off, Observe or Enforce", c.Mode))
	}
	positive := func(field string, v int64) bool {
		if v >= 1 && v <= MaxBytes {
			return true
		}
		faults = append(faults, fmt.Errorf("cc: %s is %d, must be 1 to %d bytes; start from DefaultConfig", field, v, int64(MaxBytes)))
		return false
	}
	order := func(low string, lv int64, high string, hv int64) {
		if lv > hv {
			faults = append(faults, fmt.Errorf("cc: %s is %d, must not be above %s, which is %d", low, lv, high, hv))
		}
	}
	least, start := positive("MinWindowBytes", c.MinWindowBytes), positive("StartWindowBytes", c.StartWindowBytes)
	most, dev := positive("MaxWindowBytes", c.MaxWindowBytes), positive("DeviceWindowBytes", c.DeviceWindowBytes)
	if least && most {
		order("MinWindowBytes", c.MinWindowBytes, "MaxWindowBytes", c.MaxWindowBytes)
	}
	if least && start {
		order("MinWindowBytes", c.MinWindowBytes, "StartWindowBytes", c.StartWindowBytes)
	}
	if start && most {
		order("StartWindowBytes", c.StartWindowBytes, "MaxWindowBytes", c.MaxWindowBytes)
	}
	if start && dev {
		order("StartWindowBytes", c.StartWindowBytes, "DeviceWindowBytes", c.DeviceWindowBytes)
	}
	return errors.Join(faults...)
}
