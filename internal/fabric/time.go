package fabric

import (
	"math"
	"time"
)

// Time is an instant or a span of virtual time in picoseconds. It has room for 106
// days.
type Time int64

// Units of Time.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// never is later than anything that happens.
const never Time = math.MaxInt64

// Duration returns t in whole nanoseconds, rounded down.
func (t Time) Duration() time.Duration { return time.Duration(t / Nanosecond) }

// Seconds returns t as a number of seconds.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// picoseconds returns d as a Time. What does not fit is never.
func picoseconds(d time.Duration) Time {
	if d > time.Duration(never/Nanosecond) {
		return never
	}
	return Time(d) * Nanosecond
}

// transmission returns how long bytes, up to 1 MB, take at a rate in bit/s, rounded down
// to the picosecond.
func transmission(bytes, rate int64) Time { return Time(bytes * (8 * int64(Second)) / rate) }
