package cc

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// MaxBytes is the largest slice and the largest window, in bytes. Sums of a few
// of them still fit an int64.
const MaxBytes = math.MaxInt64 / 4

// maxDuration bounds every duration of a configuration; sums and multiples of it
// do not overflow.
const maxDuration = 365 * 24 * time.Hour

// Config holds the controller's numbers. Start from [DefaultConfig]: zero is not the
// default. It is an error, so that a misspelt setting cannot pass unseen, but for Mode
// (off), Law (LawEpoch), and the fields that say what 0 means.
type Config struct {
	// Mode is off, observe or enforce.
	Mode Mode
	// MinWindowBytes and MaxWindowBytes bound every route's window. At least 1,
	// at most [MaxBytes], minimum not above maximum. LawRound adds a quarter of the minimum
	// in a round, and draws windows to four times the minimum where they meet.
	MinWindowBytes, MaxWindowBytes int64
	// StartWindowBytes is the window of a new route, between the two.
	StartWindowBytes int64
	// DeviceWindowBytes is the window that all routes of one local device share.
	// At least StartWindowBytes, at most [MaxBytes].
	DeviceWindowBytes int64
	// ProbeWindowBytes bounds a route that is only tried: one that is kept because
	// it is the last to its peer, and a new one on a port without a usable route.
	// At least 1, at most MinWindowBytes.
	ProbeWindowBytes int64
	// SuspectWindowBytes bounds what a SUSPECT route admits; 0 is no limit.
	SuspectWindowBytes int64

	// HardErrorThreshold is how many failures in a row quarantine a route. Each QP of an
	// endpoint counts once: after a failed completion build a new endpoint and Renew.
	HardErrorThreshold int
	// ErrorWindow is the longest gap between two failures in a row. It widens to
	// four times the longest retry time that was observed on the pair, up to 60 s.
	ErrorWindow time.Duration
	// Cooldown is the base length of a quarantine, CooldownCap the longest; each
	// one that follows too soon is twice as long.
	Cooldown, CooldownCap time.Duration
	// ProbeInterval is the time from one undecided or early trial to the next. From one
	// early trial that failed to the next it is longer by as much as the quarantine is
	// longer than Cooldown: 10 intervals of 30 s cooldowns that have grown to 5 min.
	ProbeInterval time.Duration
	// Law moves the windows: LawRound, or LawEpoch as the specification has it.
	Law Law
	// Epoch is the length of a control epoch.
	Epoch time.Duration
	// TargetDrain is the drain time (bytes in flight over delivery rate) that windows aim
	// at. Above it pressure is high, below half of it low; with LawRound pressure is of
	// what exceeds an empty path's. LawRound lets windows grow up to a quarter of it, draws
	// them together above that, and cuts above the whole; where an empty path takes about as
	// long, above that and a quarter. Choose at least twice what the largest slice takes
	// alone, or one at a time is in flight.
	TargetDrain time.Duration
	// HighPressureEpochs in a row make a route CONGESTED and shrink its window,
	// LowPressureEpochs in a row end that and let it grow. 1 to 65535.
	HighPressureEpochs, LowPressureEpochs int
	// DeviceMinWindowBytes is the least window of a device; 0 is StartWindowBytes.
	// Its largest is DeviceWindowBytes, where it starts.
	DeviceMinWindowBytes int64
	// SuspectAfter is early suspicion: a route with bytes out on which nothing
	// arrives for so long, or for four drain times if that is longer, becomes SUSPECT
	// while a sibling on its device is served. 0 turns it off.
	SuspectAfter time.Duration
	// StallGap is the longest time between two beats of a [Poller] that runs.
	StallGap time.Duration

	// Prober: the engine probes routes that are due ([Controller.Due]). User slices are
	// not used as trials, and leave a route that has failed to the probe, unless none was
	// taken for four probe intervals. So a dead pair costs the slices that were on their
	// way when it first failed, and no more. A pair that flaps, which is one that was
	// quarantined again less than a cooldown after it came back, is users' again when its
	// probes have succeeded for four probe intervals; otherwise one success is enough. Where
	// some controllers of a pause table have a prober and others none, the first that has
	// seen enough gives the pair back to all.
	Prober bool

	// KeepLastRoute: timeouts do not quarantine the last usable route to a peer. It
	// stays, limited to ProbeWindowBytes. For engines without another transport;
	// others want to be told to avoid it.
	KeepLastRoute bool
}

// DefaultConfig returns the defaults:
//
//	Mode                                     off
//	Min-, Start-, MaxWindowBytes             64 KiB, 64 KiB, 64 MiB
//	DeviceWindowBytes, DeviceMinWindowBytes  64 MiB, 0
//	ProbeWindowBytes, SuspectWindowBytes     64 KiB
//	HardErrorThreshold, ErrorWindow          3, 10 s
//	Cooldown, CooldownCap, ProbeInterval     30 s, 5 min, 1 s
//	Law, Epoch, TargetDrain                  round, 100 ms, 100 us
//	HighPressureEpochs, LowPressureEpochs    2, 3
//	SuspectAfter, StallGap                   50 ms, 1 s
//	Prober, KeepLastRoute                    false
//
// The target suits 100 to 400 Gb/s: at 400 Gb/s it is 5 MB of queue. With LawEpoch, a path
// that takes longer without any queue, such as one made in software, is CONGESTED by it
// all the time: choose a larger one. With LawRound it is what comes on top of the path's
// own delay.
func DefaultConfig() Config {
	return Config{
		Mode:              Off,
		MinWindowBytes:    64 << 10,
		StartWindowBytes:  64 << 10,
		MaxWindowBytes:    64 << 20,
		DeviceWindowBytes: 64 << 20,

		ProbeWindowBytes:   64 << 10,
		SuspectWindowBytes: 64 << 10,
		HardErrorThreshold: 3,
		ErrorWindow:        10 * time.Second,
		Cooldown:           30 * time.Second,
		CooldownCap:        300 * time.Second,
		ProbeInterval:      time.Second,

		Law:                LawRound,
		Epoch:              100 * time.Millisecond,
		TargetDrain:        100 * time.Microsecond,
		HighPressureEpochs: 2,
		LowPressureEpochs:  3,
		SuspectAfter:       50 * time.Millisecond,
		StallGap:           time.Second,
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
	if positive("ProbeWindowBytes", c.ProbeWindowBytes) && least {
		order("ProbeWindowBytes", c.ProbeWindowBytes, "MinWindowBytes", c.MinWindowBytes)
	}
	if c.SuspectWindowBytes < 0 || c.SuspectWindowBytes > MaxBytes {
		faults = append(faults, fmt.Errorf("cc: SuspectWindowBytes is %d, must be 0 (no limit) to %d bytes", c.SuspectWindowBytes, int64(MaxBytes)))
	}
	if c.HardErrorThreshold < 1 {
		faults = append(faults, fmt.Errorf("cc: HardErrorThreshold is %d, must be at least 1", c.HardErrorThreshold))
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"ErrorWindow", c.ErrorWindow}, {"Cooldown", c.Cooldown}, {"CooldownCap", c.CooldownCap}, {"ProbeInterval", c.ProbeInterval}} {
		if d.value <= 0 || d.value > maxDuration {
			faults = append(faults, fmt.Errorf("cc: %s is %s, must be above 0 and at most %s", d.field, d.value, maxDuration))
		}
	}
	if c.Cooldown > c.CooldownCap {
		faults = append(faults, fmt.Errorf("cc: Cooldown is %s, must not be above CooldownCap, which is %s", c.Cooldown, c.CooldownCap))
	}
	faults = append(faults, c.lawFaults()...)
	return errors.Join(faults...)
}
