package replay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// settleTime lets claims of slices that nobody asks for any more lapse.
const settleTime = 10 * time.Second

// mostLeft is how many things may still happen by themselves at the end: traffic that is
// never admitted asks for ever.
const mostLeft = 1 << 16

// finish ends a case: what is on its way arrives, and what has to hold in the end is
// checked.
func (w *world) finish() {
	end := &scenario.Statement{Kind: scenario.LeaveOpen}
	w.step = Step{Case: w.name, Statement: end, world: w}
	w.happened = 0
	for _, t := range w.expects {
		w.atEnd("transition", t.String(), "no call after it")
	}
	if !w.recorded {
		w.ticks.every = 0
		for range mostLeft {
			if len(w.agenda.items) == 0 {
				break
			}
			w.advance(end, w.agenda.items[0].at-w.clockNow())
		}
		if len(w.agenda.items) > 0 {
			w.atEnd("traffic", "all of it to arrive", "some waits for room in vain")
		}
	}
	w.watch(true)
	w.heed()
	w.overdue(math.MaxInt64)
	w.releaseWaiters(func(p *permit) {
		w.atEnd(fmt.Sprintf("permit %s of route %s", p.name, p.route.name), "to have returned", "it still waits")
	})
	w.over = true
	t := w.runner.options.Tracer
	if t != nil {
		w.step.At, w.step.Transitions = w.time(), slices.Clone(w.told)
		w.step.final = slices.Collect(w.step.Routes())
		w.step.End = true
	}
	if !w.recorded && !w.leaveOpen {
		w.advance(end, settleTime)
		w.invariant()
	}
	if t != nil {
		w.step.tellMore()
		t.Trace(&w.step)
	}
}

// releaseWaiters ends those who still wait, and tells of each.
func (w *world) releaseWaiters(tell func(*permit)) {
	for _, p := range w.allPermits() {
		if p.waiting != nil {
			tell(p)
			p.route.route.Close()
			<-p.waiting
		}
	}
}

// invariant is what has to hold after every scenario: no bytes are in flight, and a route
// that is not quarantined admits a slice as large as its window.
func (w *world) invariant() {
	for _, p := range w.allPermits() {
		if n := p.held(); n > 0 {
			w.atEnd(fmt.Sprintf("permit %s of route %s", p.name, p.route.name), "no bytes held", bytesText(n))
		}
	}
	for _, k := range w.crew {
		if k.ctl == nil || k.cfg.Mode == cc.Off {
			continue
		}
		for _, d := range k.ctl.Snapshot().Devices {
			if d.InFlightBytes != 0 {
				w.atEnd("device "+d.Device, "0 bytes in flight", bytesText(d.InFlightBytes))
			}
		}
	}
	for _, r := range w.ordered {
		if n := r.route.InFlight(); n != 0 {
			w.atEnd("route "+r.name.String(), "0 bytes in flight", bytesText(n))
		}
	}
	for _, r := range w.ordered {
		w.admitsWindow(r)
	}
}

// admitsWindow has a route admit a slice as large as its window.
func (w *world) admitsWindow(r *route) {
	now := r.route.Snapshot()
	if r.closed || r.worker.cfg.Mode == cc.Off || now.Health.State == cc.Quarantined || now.Health.State == cc.Probing {
		return
	}
	w.lastQP++
	gen, err := r.route.Renew(r.gen, []cc.QP{{ID: w.lastQP, CQ: 1}})
	if err != nil {
		w.atEnd("route "+r.name.String(), "to be renewed", err.Error())
		return
	}
	var p cc.Permit
	if d := r.route.TryAcquire(&p, gen, now.WindowBytes, nil); !d.Admitted() && d.Answer != cc.Avoid {
		w.atEnd("route "+r.name.String(), "a slice as large as its window to be admitted", d.String())
	}
	p.Unposted()
}

// atEnd notes what is wrong in the end.
func (w *world) atEnd(what, want, got string) { w.mismatch(w.step.Statement, what, want, got) }

func bytesText(n int64) string { return strconv.FormatInt(n, 10) + " bytes" }
