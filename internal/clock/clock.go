// Package clock has the process's monotonic clock.
package clock

import "time"

var base = time.Now()

// Now returns the time since the process started, by the monotonic clock. All
// parts of one process count from the same instant; only differences between two
// readings have a meaning.
func Now() time.Duration { return time.Since(base) }
