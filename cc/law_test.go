package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
)

func TestStreak(t *testing.T) {
	const n, i, l, h, v = PressureNeutral, PressureIdle, PressureLow, PressureHigh, PressureVoid
	tests := []struct {
		name   string
		epochs []Pressure
		acts   string // of each epoch: h sustained high, l sustained low, L the same without the idle ones, . none
	}{
		{"the second high acts, and each further one", []Pressure{h, h, h}, ".hh"},
		{"the third low acts, and each further one", []Pressure{l, l, l, l}, "..LL"},
		{"alternating never acts", []Pressure{h, l, h, l, h, l}, "......"},
		{"neutral clears a high streak", []Pressure{h, n, h, h}, "...h"},
		{"neutral clears a low streak", []Pressure{l, l, n, l, l, l}, ".....L"},
		{"idle counts as low", []Pressure{i, l, i, i}, "..ll"},
		{"but not towards growth, and ends no row of ease", []Pressure{l, i, l, i, l, i}, "..llLl"},
		{"a high epoch ends ease", []Pressure{l, l, h, l, l, l}, ".....L"},
		{"idle clears a high streak", []Pressure{h, i, h}, "..."},
		{"void is as if it had not been", []Pressure{h, v, h, l, v, v, l, l}, "..h....L"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s streak
			acts := ""
			for _, p := range tt.epochs {
				switch high, low, ease := s.take(p, 2, 3); {
				case high:
					acts += "h"
				case ease:
					acts += "L"
				case low:
					acts += "l"
				default:
					acts += "."
				}
			}
			assert.Equal(t, tt.acts, acts)
		})
	}
	var s streak
	for range 100_000 {
		s.take(PressureHigh, 65535, 65535)
	}
	high, _, _ := s.take(PressureHigh, 65535, 65535)
	assert.True(t, high, "a long row does not wrap")
}

// Bounds and steps, as the configuration has them.
func TestLawsOfConfig(t *testing.T) {
	c := DefaultConfig()
	c.Law = LawEpoch
	routes, devices := c.laws()
	assert.Equal(t, epochLaw{bounds{c.MinWindowBytes, c.MaxWindowBytes}, c.StartWindowBytes}, routes)
	assert.Equal(t, epochLaw{bounds{c.StartWindowBytes, c.DeviceWindowBytes}, 4 * mib}, devices, "a sixteenth of 64 MiB")

	c.DeviceWindowBytes, c.DeviceMinWindowBytes = mib, 64*kib
	_, devices = c.laws()
	assert.Equal(t, epochLaw{bounds{64 * kib, mib}, c.StartWindowBytes}, devices, "a sixteenth would be less than a start window")

	c.Law = LawRound
	for least, step := range map[int64]int64{64 * kib: 16 * kib, 16: 4, 1: 1} {
		c.MinWindowBytes = least
		routes, _ = c.laws()
		assert.Equal(t, roundLaw{bounds{least, c.MaxWindowBytes}, step}, routes)
	}
}

// A time of 0 that was observed is not one that was not.
func TestGauge(t *testing.T) {
	var g gauge
	assert.Zero(t, g.get())
	assert.Equal(t, taskstate.Observed[time.Duration]{}, g.observed())
	for _, d := range []time.Duration{0, 1, time.Hour} {
		g.set(d)
		assert.Equal(t, d, g.get())
		assert.Equal(t, taskstate.Seen(d), g.observed())
	}
}

func TestDrainPressure(t *testing.T) {
	const target = 10 * time.Millisecond
	for drain, want := range map[time.Duration]Pressure{
		0: PressureLow, target/2 - 1: PressureLow, target / 2: PressureNeutral, target: PressureNeutral, target + 1: PressureHigh, time.Hour: PressureHigh,
	} {
		assert.Equal(t, want, drainPressure(drain, target), "drain time %s at target %s", drain, target)
	}
}

func TestEpochLaw(t *testing.T) {
	l := epochLaw{bounds{64 * kib, 4 * mib}, mib}
	tests := []struct {
		name   string
		window int64
		signs  epochSigns
		want   int64
	}{
		{"sustained high halves", mib, epochSigns{high: true, mayGrow: true}, 512 * kib},
		{"not below the minimum", 100 * kib, epochSigns{high: true}, 64 * kib},
		{"sustained ease adds a step", mib, epochSigns{low: true, ease: true, mayGrow: true}, 2 * mib},
		{"not above the maximum", 3*mib + 1, epochSigns{low: true, ease: true, mayGrow: true}, 4 * mib},
		{"no growth if the window was not the limit", mib, epochSigns{low: true, ease: true}, mib},
		{"no growth by idle epochs", mib, epochSigns{low: true, mayGrow: true}, mib},
		{"no growth before ease has lasted", mib, epochSigns{mayGrow: true}, mib},
		{"no cut before high has lasted", mib, epochSigns{mute: true}, mib},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, l.afterEpoch(tt.window, tt.signs), tt.name)
	}
	assert.Equal(t, mib, l.afterRound(mib, roundSigns{delay: time.Hour, mayGrow: true}), "rounds are not its business")
}

func TestRoundLaw(t *testing.T) {
	const ms = time.Millisecond
	l := roundLaw{bounds{64 * kib, 4 * mib}, 16 * kib}
	at := marks{low: 3 * ms, high: 12 * ms}
	tests := []struct {
		name   string
		window int64
		signs  roundSigns
		want   int64
	}{
		{"doubles while it ramps", mib, roundSigns{delay: 3 * ms, ramping: true, mayGrow: true}, 2 * mib},
		{"adds a step up to the low mark", mib, roundSigns{delay: 3 * ms, mayGrow: true}, mib + 16*kib},
		{"takes a sixteenth above it, and adds a step", mib, roundSigns{delay: 4 * ms, mayGrow: true}, mib - 64*kib + 16*kib},
		{"also at the high mark", mib, roundSigns{delay: 12 * ms, mayGrow: true}, mib - 64*kib + 16*kib},
		{"which draws a large window to sixteen steps", 257 * kib, roundSigns{delay: 4 * ms, mayGrow: true}, 257*kib - kib/16},
		{"and a small one", 128 * kib, roundSigns{delay: 4 * ms, mayGrow: true}, 136 * kib},
		{"cuts to three quarters of the mark's share, and adds a step", mib, roundSigns{delay: 15 * ms, mayGrow: true}, mib*6/10 + 16*kib},
		{"however small that is", 4 * mib, roundSigns{delay: 360 * ms}, 4 * mib / 40},
		{"no doubling above the marks", mib, roundSigns{delay: 15 * ms, ramping: true, mayGrow: true}, mib*6/10 + 16*kib},
		{"not below the minimum", 64 * kib, roundSigns{delay: time.Hour}, 64 * kib},
		{"not above the maximum", 3 * mib, roundSigns{ramping: true, mayGrow: true}, 4 * mib},
		{"no growth if the window was not the limit", mib, roundSigns{ramping: true}, mib},
		{"and no step then", mib, roundSigns{delay: 4 * ms}, mib - 64*kib},
	}
	for _, tt := range tests {
		tt.signs.marks = at
		assert.InDelta(t, tt.want, l.afterRound(tt.window, tt.signs), 1, tt.name)
	}
	assert.Equal(t, 512*kib, l.afterEpoch(mib, epochSigns{high: true, mute: true}), "pressure that no completion shows")
	assert.Equal(t, mib, l.afterEpoch(mib, epochSigns{high: true}), "what completions showed was acted on by rounds")
	assert.Equal(t, mib, l.afterEpoch(mib, epochSigns{low: true, mayGrow: true}), "growth is by rounds")
}

// The target is of the whole delay, unless the path is long by itself.
func TestRoundMarks(t *testing.T) {
	const us = time.Microsecond
	cfg := Config{TargetDrain: 100 * us}
	for _, tt := range []struct{ base, low, high time.Duration }{
		{0, 25, 100}, {20, 25, 100}, {40, 45, 100}, {80, 90, 100}, {160, 180, 200}, {4000, 4500, 5000},
	} {
		assert.Equal(t, marks{tt.low * us, tt.high * us}, cfg.marks(tt.base*us), "a path of %d us", tt.base)
	}
}
