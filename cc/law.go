package cc

import (
	"fmt"
	"math"
	"time"
)

//go:generate go tool stringer -type=Law,Pressure -linecomment

// Law is the rule by which windows follow what completions show.
type Law uint8

const (
	// LawEpoch is the specification's: once in a control epoch, halve after
	// sustained pressure, add a step after sustained ease. It is the zero value.
	LawEpoch Law = iota // epoch
	// LawRound follows completions: once in a delivery round, cut in proportion to
	// the excess over the target, draw windows to one size where there is some queue,
	// and let them grow where there is none. Health still goes by epochs.
	LawRound // round
)

// Pressure is what a control epoch showed.
type Pressure uint8

const (
	// PressureNeutral: neither high nor low, or nothing that could be judged.
	PressureNeutral Pressure = iota // neutral
	// PressureIdle: nothing was out and nothing came. It helps out of CONGESTED,
	// and never into a larger window.
	PressureIdle // idle
	// PressureLow: bytes were delivered in less than half the target drain time.
	PressureLow // low
	// PressureHigh: the drain time was above target, the receiver was not ready, or
	// bytes were out all the time and none were delivered.
	PressureHigh // high
	// PressureVoid: the poller stalled; nothing can be said of the network.
	PressureVoid // void
)

// law turns what was observed into a window, in bytes. Laws keep no state of their
// own: one of each serves all routes. A law never leaves its bounds.
type law interface {
	// afterEpoch returns the window that follows a control epoch.
	afterEpoch(window int64, e epochSigns) int64
	// afterRound returns the window that follows a delivery round.
	afterRound(window int64, s roundSigns) int64
}

// epochSigns is what a law needs to know of an epoch.
type epochSigns struct {
	// high: this epoch ends a row of high ones that is long enough, or is one more.
	high bool
	// low: the same of low ones.
	low bool
	// ease: it ends a long enough row of low ones that were not idle, or is one more.
	ease bool
	// mute: the pressure is not one that delays show.
	mute bool
	// mayGrow: bytes were delivered, the window was the limit, and the state lets
	// it grow.
	mayGrow bool
}

// roundSigns is what a law needs to know of a delivery round.
type roundSigns struct {
	// delay is from Posting to completion, weighted by bytes, or what it will be.
	delay time.Duration
	marks
	// ramping: no delay was above the low mark or the target yet.
	ramping bool
	// mayGrow as for an epoch.
	mayGrow bool
}

// streak counts epochs of one kind in a row; idle ones count as low, and ease is how
// many of the low ones were not idle.
type streak struct{ high, low, ease uint16 }

// take takes an epoch's pressure and reports whether it completes or continues a
// sustained row of high or low ones, and whether that of low ones is long enough
// without the idle ones. Neutral clears all; a void epoch is as if it had not been.
func (s *streak) take(p Pressure, highEpochs, lowEpochs int) (high, low, ease bool) {
	switch p {
	case PressureVoid:
		return false, false, false
	case PressureHigh:
		*s = streak{high: uint16(min(int(s.high)+1, highEpochs))}
	case PressureLow:
		s.ease = uint16(min(int(s.ease)+1, lowEpochs))
		fallthrough
	case PressureIdle:
		s.high = 0
		s.low = uint16(min(int(s.low)+1, lowEpochs))
	default:
		*s = streak{}
	}
	return int(s.high) >= highEpochs, int(s.low) >= lowEpochs, p == PressureLow && int(s.ease) >= lowEpochs
}

// drainPressure judges a drain time against the target.
func drainPressure(drain, target time.Duration) Pressure {
	switch {
	case drain > target:
		return PressureHigh
	case drain < target/2:
		return PressureLow
	}
	return PressureNeutral
}

// bounds are the limits of a window, in bytes.
type bounds struct{ least, most int64 }

func (b bounds) clamp(window int64) int64 { return min(max(window, b.least), b.most) }

// laws returns the law of routes and the law of devices.
func (c Config) laws() (law, epochLaw) {
	routes := bounds{c.MinWindowBytes, c.MaxWindowBytes}
	least := c.DeviceMinWindowBytes
	if least == 0 {
		least = c.StartWindowBytes
	}
	// A device begins at its most. A sixteenth of that, the largest lease, is a step
	// by which it recovers in seconds.
	device := epochLaw{bounds{least, c.DeviceWindowBytes}, max(c.StartWindowBytes, c.DeviceWindowBytes/leasePart)}
	if c.Law == LawRound {
		return roundLaw{routes, max(1, c.MinWindowBytes/4)}, device
	}
	return epochLaw{routes, c.StartWindowBytes}, device
}

// lawFaults reports what is wrong with the numbers of laws and monitor.
func (c Config) lawFaults() (faults []error) {
	if c.Law > LawRound {
		faults = append(faults, fmt.Errorf("cc: Law is %d; use LawEpoch or LawRound", c.Law))
	}
	for _, d := range []struct {
		field string
		value time.Duration
		least time.Duration
	}{{"Epoch", c.Epoch, time.Millisecond}, {"TargetDrain", c.TargetDrain, time.Microsecond}, {"StallGap", c.StallGap, time.Microsecond}} {
		if d.value < d.least || d.value > maxDuration {
			faults = append(faults, fmt.Errorf("cc: %s is %s, must be %s to %s", d.field, d.value, d.least, maxDuration))
		}
	}
	if c.SuspectAfter < 0 || c.SuspectAfter > maxDuration {
		faults = append(faults, fmt.Errorf("cc: SuspectAfter is %s, must be 0 (off) to %s", c.SuspectAfter, maxDuration))
	}
	for _, n := range []struct {
		field string
		value int
	}{{"HighPressureEpochs", c.HighPressureEpochs}, {"LowPressureEpochs", c.LowPressureEpochs}} {
		if n.value < 1 || n.value > math.MaxUint16 {
			faults = append(faults, fmt.Errorf("cc: %s is %d, must be 1 to %d", n.field, n.value, math.MaxUint16))
		}
	}
	switch {
	case c.DeviceMinWindowBytes < 0 || c.DeviceMinWindowBytes > MaxBytes:
		faults = append(faults, fmt.Errorf("cc: DeviceMinWindowBytes is %d, must be 0 (StartWindowBytes) to %d bytes", c.DeviceMinWindowBytes, int64(MaxBytes)))
	case c.DeviceMinWindowBytes > max(c.DeviceWindowBytes, 0):
		faults = append(faults, fmt.Errorf("cc: DeviceMinWindowBytes is %d, must not be above DeviceWindowBytes, which is %d", c.DeviceMinWindowBytes, c.DeviceWindowBytes))
	}
	return faults
}
