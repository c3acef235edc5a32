package cc

import (
	"fmt"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The device's window follows the drain time of all its routes.
func TestDeviceWindow(t *testing.T) {
	const n = 4
	start := func(t *testing.T) (*rig, []*load) {
		r := tunedRig(t, Enforce, func(c *Config) { c.MaxWindowBytes = mib })
		var loads []*load
		for i := range n {
			loads = append(loads, r.load("D1", "P", fmt.Sprint(i)))
		}
		r.next()
		return r, loads
	}
	epochs := func(r *rig, loads []*load, count int, took ...time.Duration) {
		for range count {
			for _, l := range loads {
				l.fill()
			}
			began := r.now
			for i, l := range loads {
				r.now = began + took[min(i, len(took)-1)]
				l.drain(success)
			}
			r.next()
		}
	}
	t.Run("halves while all are slow, down to the start window, and comes back", func(t *testing.T) {
		r, loads := start(t)
		d := loads[0].route.device
		epochs(r, loads, 1, high)
		assert.Equal(t, 4*mib, d.window.Load(), "one epoch")
		epochs(r, loads, 1, high)
		assert.Equal(t, 2*mib, d.window.Load(), "two epochs")
		epochs(r, loads, 4, high)
		assert.Equal(t, mib, d.window.Load(), "never below the start window")
		assert.LessOrEqual(t, d.granted.Load(), mib)
		epochs(r, loads, 20, low)
		assert.Equal(t, 4*mib, d.window.Load(), "never above where it started")
	})
	t.Run("one slow route is not the device", func(t *testing.T) {
		r, loads := start(t)
		epochs(r, loads, 5, low, low, low, 60*ms)
		assert.Equal(t, 4*mib, loads[0].route.device.window.Load())
		assert.Equal(t, Congested, loads[n-1].route.State())
	})
	t.Run("a route alone is not the device", func(t *testing.T) {
		r, loads := start(t)
		epochs(r, loads[:1], 5, high)
		assert.Equal(t, 4*mib, loads[0].route.device.window.Load())
	})
	t.Run("only routes that delivered count", func(t *testing.T) {
		r, loads := start(t)
		for range 5 {
			loads[0].fill() // hangs
			loads[1].epoch(high)
		}
		assert.Equal(t, 4*mib, loads[0].route.device.window.Load())
		loads[0].drain(teardown)
		r.next()
	})
	t.Run("grows only if it was the limit", func(t *testing.T) {
		r, loads := start(t)
		d := loads[0].route.device
		epochs(r, loads, 3, high)
		require.Equal(t, mib, d.window.Load())
		for range 10 {
			var s slice
			r.post(&s, loads[0].route, loads[0].gen, 4*kib, loads[0].qp)
			r.settle(&s, success)
			r.next()
		}
		assert.Equal(t, mib, d.window.Load())
	})
	t.Run("a least window of its own", func(t *testing.T) {
		r := tunedRig(t, Enforce, func(c *Config) { c.DeviceMinWindowBytes = 3 * mib })
		var loads []*load
		for i := range n {
			loads = append(loads, r.load("D1", "P", fmt.Sprint(i)))
		}
		epochs(r, loads, 5, high)
		assert.Equal(t, 3*mib, loads[0].route.device.window.Load())
	})
}

// An open lease is always visited: what is posted on it comes by nothing else.
func TestLeaseHolderIsActive(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	require.True(t, route.growLease(4*kib))
	require.True(t, route.flight.open())
	assert.True(t, route.active.Load())
	r.next()
	r.next()
	assert.False(t, route.flight.open(), "an idle lease is returned")
	assert.Zero(t, route.device.granted.Load())
}

// No law acts on a route that only a trial may use.
func TestBarredRouteHasNoLaw(t *testing.T) {
	l := newRig(t, Enforce).load("D1", "P", "n1")
	l.next()
	l.fill()
	_, _, err := l.ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}, l.now)
	require.NoError(t, err)
	require.Equal(t, Quarantined, l.route.State())
	for range 6 {
		l.next()
	}
	assert.Equal(t, mib, l.route.lawWindow)
	assert.False(t, l.route.health.congested)
}

// The pressure of a device is that of all its routes, also without the one that took
// longest, whichever comes first.
func TestPressureOfSeveralRoutes(t *testing.T) {
	const target = 10 * ms
	took := func(delay time.Duration) sums {
		return sums{bytes: 1000, delay: 1000 * uint64(delay/time.Microsecond)}
	}
	for name, tt := range map[string]struct {
		delays []time.Duration
		want   Pressure
	}{
		"none":                            {nil, PressureIdle},
		"one":                             {[]time.Duration{time.Second}, PressureNeutral},
		"one of two, the first":           {[]time.Duration{time.Second, ms}, PressureNeutral},
		"one of two, the second":          {[]time.Duration{ms, time.Second}, PressureNeutral},
		"the other at the target":         {[]time.Duration{time.Second, target}, PressureNeutral},
		"the other above the target":      {[]time.Duration{target + ms, time.Second}, PressureHigh},
		"one of three, in the middle":     {[]time.Duration{ms, time.Second, ms}, PressureNeutral},
		"two of three":                    {[]time.Duration{time.Second, 2 * time.Second, ms}, PressureHigh},
		"all below half the target":       {[]time.Duration{ms, 2 * ms}, PressureLow},
		"neither":                         {[]time.Duration{8 * ms, 9 * ms}, PressureNeutral},
		"a fast one, and one that is not": {[]time.Duration{0, time.Second}, PressureNeutral},
	} {
		var s epochSum
		for _, d := range tt.delays {
			s.add(took(d))
		}
		assert.Equal(t, tt.want, s.pressure(target), name)
	}
}
