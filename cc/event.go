package cc

import (
	"fmt"
	"math"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Event takes an asynchronous event that the caller's own reader got, and returns
// what it means and how many QPs of current generations it reached. An element
// that no current generation registered, or that was retired, reaches none, and
// then nothing changes. The call does not block. It calls nothing back but the
// function of [WithTransitions], with no lock of the controller's held; without
// that function it may be made with any lock of the owner's held.
//
// The element's Device must be set, for every event that is not ignored. What takes a
// port or a device out of service is also kept for routes that are made there later.
//
// A QP that an event kills has the event as the root cause of its later flushes.
// An event that leaves its element out gives an error that wraps
// [classify.ErrNoElement], and changes nothing.
//
// Specification: async event matrix.
func (c *Controller) Event(e classify.Event, now time.Duration) (v classify.Verdict, reached int, err error) {
	if c.rec != nil {
		return c.recordEvent(e, now)
	}
	return c.takeEvent(e, now)
}

func (c *Controller) takeEvent(e classify.Event, now time.Duration) (v classify.Verdict, reached int, err error) {
	if v, err = e.Verdict(); err != nil {
		return v, 0, fmt.Errorf("cc: Event: %w", err)
	}
	if v.Scope() == classify.ScopeNone {
		return v, 0, nil
	}
	switch name := e.Element.Device; {
	case name == "":
		return classify.Verdict{}, 0, fmt.Errorf("cc: Event %s: %w: Device is empty; name the local device that reported it", e.Type, classify.ErrNoElement)
	case len(name) > rail.MaxName:
		return classify.Verdict{}, 0, fmt.Errorf("cc: Event %s: device name %.16q... has %d bytes, at most %d are allowed; give the name that its routes have", e.Type, name, len(name), rail.MaxName)
	}
	return v, c.event(v, e, now), nil
}

// event applies a verdict within its scope and counts the QPs that it reaches.
func (c *Controller) event(v classify.Verdict, e classify.Event, now time.Duration) (reached int) {
	if c.cfg.Mode == Off {
		return 0
	}
	c.mu.Lock()
	dev := c.devices[e.Element.Device]
	if dev == nil && v.Immediate() && v.Scope() != classify.ScopeCQ {
		dev = c.device(e.Element.Device)
	}
	if c.closed || dev == nil {
		c.mu.Unlock()
		return 0
	}
	hit := dev.qps.within(v.Scope(), e)
	c.mu.Unlock()

	faulty := map[*generation][]*qp{}
	for _, r := range hit {
		r.qp.note(v)
		if v.Countable() {
			faulty[r.gen] = append(faulty[r.gen], r.qp)
		}
	}
	for _, r := range hit {
		if qps := faulty[r.gen]; qps != nil {
			delete(faulty, r.gen)
			r.gen.route.failed(r.gen, failure{verdict: v, evidence: math.MaxUint64}, now, qps...)
		}
	}
	dev.locked(func() {
		switch {
		case v.Immediate() && v.Scope() == classify.ScopeCQ:
			for _, r := range hit {
				if r.gen.route.current.Load() == r.gen {
					r.gen.route.isolate(v, dev.later(now))
					dev.checkUsable(r.gen.route, v, dev.latest)
				}
			}
		case v.Immediate() && v.Scope() == classify.ScopePort:
			dev.mark(e.Element.Port, v, now)
		case v.Immediate():
			dev.mark(0, v, now)
		case v.Class() == classify.ClassRecovery:
			dev.portActive(e.Element.Port, now)
		}
	})
	return len(hit)
}
