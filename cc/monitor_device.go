package cc

import (
	"sync/atomic"
	"time"
)

// atomicFlag is raised by many, and lowered by one who acts on it. Raising it again
// costs a load.
type atomicFlag struct{ up atomic.Bool }

func (f *atomicFlag) raise() {
	if !f.up.Load() {
		f.up.Store(true)
	}
}

func (f *atomicFlag) take() bool { return f.up.Load() && f.up.Swap(false) }

// epochSum is what the routes of a device delivered in an epoch.
type epochSum struct {
	all    sums
	worst  sums // the route that took longest
	routes int
}

// add takes in a route that delivered.
func (s *epochSum) add(e sums) {
	e.bytes, e.delivered = e.weight(), 0
	s.all = s.all.plus(e)
	if s.routes == 0 || e.queueing() > s.worst.queueing() {
		s.worst = e
	}
	s.routes++
}

// pressure judges the device. Its drain time is that of all routes which delivered:
// what they have in flight over the rate of them all. But one congested route must
// not shrink what the others share, so pressure is high only if it also is without
// the route that took longest. A single route has its own window for that.
func (s *epochSum) pressure(target time.Duration) Pressure {
	if s.routes == 0 {
		return PressureIdle
	}
	p := drainPressure(s.all.queueing(), target)
	if p == PressureHigh {
		rest := s.all.since(s.worst)
		if s.routes == 1 || rest.queueing() <= target {
			return PressureNeutral
		}
	}
	return p
}

// activity is what the monitor keeps of a device.
type activity struct {
	active  []*Route      // in use; the monitor's lock guards it
	joining []*Route      // in use since the last tick; the device's lock guards it
	moved   time.Duration // the latest tick that found a route that had delivered
	streak  streak
	full    atomicFlag
	report  report
}

// report is the device's last epoch, for snapshots.
type report struct {
	drain    gauge
	pressure atomic.Uint32 // a Pressure
}

// closeEpoch judges the device's epoch and moves its window.
func (d *device) closeEpoch(sum epochSum) {
	cfg := &d.ctl.cfg
	p := sum.pressure(cfg.TargetDrain)
	d.report.pressure.Store(uint32(p))
	if sum.routes > 0 {
		d.report.drain.set(sum.all.drain())
	}
	signs := epochSigns{mayGrow: d.full.take() && p == PressureLow}
	signs.high, signs.low, signs.ease = d.streak.take(p, cfg.HighPressureEpochs, cfg.LowPressureEpochs)
	was := d.window.Load()
	if window := d.ctl.deviceLaw.afterEpoch(was, signs); window != was {
		d.setWindow(window)
	}
}
