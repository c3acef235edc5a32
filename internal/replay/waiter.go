package replay

import (
	"context"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// wait has goroutines wait for room, and goes on once each has been refused for the first
// time. In a recording what counts is the moment at which they returned: then there was
// room.
func (w *world) wait(s *scenario.Statement) {
	if w.recorded {
		if n, _ := s.AnswerNum("error"); n != cause(context.Canceled) {
			w.acquire(s)
		}
		return
	}
	r := w.route(s)
	if r == nil {
		return
	}
	n, given := s.Num("bytes")
	if !given {
		n = 4 << 10
	}
	gen := r.generation(s)
	i := 0
	for id := range scenario.IDs(s.Values("permit")) {
		p := w.permit(id)
		t := w.taskOf(s, p, i)
		i++
		if p.waiting != nil {
			w.wrong(s, id.String()+" waits already")
			return
		}
		refused := refusals(r)
		p.waiting, p.route, p.gen = make(chan cc.Decision, 1), r, gen
		go func(p *permit) { p.waiting <- r.route.Acquire(context.Background(), p.one, gen, n, t) }(p)
		for begin := time.Now(); len(p.waiting) == 0 && refusals(r) == refused; time.Sleep(50 * time.Microsecond) {
			if time.Since(begin) > w.runner.options.Patience {
				w.runner.exhausted()
				w.mismatch(s, id.String(), "to wait or to return", "neither")
				return
			}
		}
		if s.Answered {
			w.ended(s, p)
		}
	}
}

// refusals returns how many admissions a route has refused.
func refusals(r *route) (n uint64) {
	for _, c := range r.route.Snapshot().Refusals {
		n += c.Count
	}
	return n
}

func (w *world) returned(s *scenario.Statement) {
	for id := range scenario.IDs(s.Values("permit")) {
		p := w.permits[id]
		if p == nil || p.waiting == nil {
			w.wrong(s, id.String()+" does not wait")
			continue
		}
		w.ended(s, p)
	}
}

// ended compares what a goroutine that waited was answered.
func (w *world) ended(s *scenario.Statement, p *permit) {
	select {
	case d := <-p.waiting:
		p.waiting = nil
		w.said(p.route, d)
		if d.Admitted() {
			p.admitted(s, p.route, p.gen, d.Use)
		}
		w.decisionOf(s, p, d)
	case <-time.After(w.runner.options.Patience):
		w.runner.exhausted()
		w.mismatch(s, p.name.String(), "to have returned", "it still waits")
	}
}

// exhausted shortens the patience with those who still wait.
func (r *run) exhausted() { r.options.Patience = max(r.options.Patience/10, time.Millisecond) }
