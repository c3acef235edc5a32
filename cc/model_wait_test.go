package cc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// Waiters are goroutines, so what they do is compared where it does not depend on who
// runs first: on devices that always have room, with laws that stand still, when all
// of them sleep. A waiter that an attempt would admit then has to be gone.

// modelPlace is a waiter in line for its route.
type modelPlace struct {
	permit *modelPermit
	number int
	since  time.Duration
	gen    Generation
	n      int64
	answer modelAnswer // once it is out of the line
}

func (a modelAnswer) waits() bool {
	switch a.Reason {
	case classify.ReasonByteWindow, classify.ReasonCongestionFeedback, classify.ReasonRouteSuspect, classify.ReasonProbing:
		return a.Answer == Defer
	}
	return false
}

// wait is Acquire: it returns the place in line, or nil if the answer is there at once.
func (m *model) wait(r *modelRoute, p *modelPermit, gen Generation, n int64) (*modelPlace, modelAnswer) {
	r.endClaim(p)
	if len(r.parked) == 0 {
		if a := m.acquire(r, p, gen, n, false); !a.waits() {
			return nil, a
		}
		r.endClaim(p)
	}
	m.claims++
	p.claim = m.claims
	place := &modelPlace{permit: p, number: p.claim, since: m.now, gen: gen, n: n}
	r.parked = append(r.parked, place)
	return place, modelAnswer{}
}

// admitParked lets those at the head of the line go that need not wait any more.
func (r *modelRoute) admitParked() {
	for len(r.parked) > 0 {
		first := r.parked[0]
		if first.answer = r.m.acquire(r, first.permit, first.gen, first.n, false); first.answer.waits() {
			return
		}
		r.unpark(first)
	}
}

func (r *modelRoute) unpark(place *modelPlace) {
	place.permit.claim = 0
	r.parked = slices.DeleteFunc(r.parked, func(p *modelPlace) bool { return p == place })
}

// modelSleeper is a goroutine in Acquire.
type modelSleeper struct {
	route  int
	place  *modelPlace
	done   chan struct{}
	d      Decision
	cancel context.CancelFunc
}

// wait starts a goroutine that waits for a slice.
func (x *modelRun) wait(i, j int, c uint32) string {
	p, r := x.m.permits[i], x.models[j]
	if p.held {
		return ""
	}
	n := 1 + int64(c>>4)*20
	if c%8 == 0 {
		n += r.window()
	}
	gen := r.gen.number
	ctx, cancel := context.WithCancel(context.Background())
	s := &modelSleeper{route: j, done: make(chan struct{}), cancel: cancel}
	slice, route := &x.slices[i], x.routes[j]
	go func() {
		defer close(s.done)
		s.d = route.Acquire(ctx, &slice.permit, gen, n, &slice.task)
	}()
	synctest.Wait()
	place, a := x.m.wait(r, p, gen, n)
	if place != nil {
		s.place, x.sleepers[i] = place, s
		return ""
	}
	cancel()
	if !s.over() {
		return fmt.Sprintf("permit %d waits for %d bytes on route %d (%s), want %v", i, n, j, route.State(), a)
	}
	if wrong := x.answered(i, j, s.d, a); wrong != "" {
		return fmt.Sprintf("permit %d, which would wait for %d bytes on route %d: %s", i, n, j, wrong)
	}
	return ""
}

// giveUp ends a wait by its context.
func (x *modelRun) giveUp(i int) string {
	s := x.sleepers[i]
	if s == nil {
		return ""
	}
	s.cancel()
	if !s.over() {
		return fmt.Sprintf("permit %d still waits after its context ended", i)
	}
	if !errors.Is(s.d.Err, context.Canceled) {
		return fmt.Sprintf("Acquire of permit %d gave %v after its context ended", i, s.d)
	}
	x.models[s.route].unpark(s.place)
	delete(x.sleepers, i)
	return ""
}

// rouse compares who still waits. Waiters that look at the clock now and then get the
// time to do so.
func (x *modelRun) rouse() (wrong string) {
	for _, r := range x.models {
		if r != nil {
			r.admitParked()
		}
	}
	for i := range modelPermits {
		s := x.sleepers[i]
		if s == nil {
			continue
		}
		parked := slices.Contains(x.models[s.route].parked, s.place)
		for nap := ms; !parked && !s.over() && nap < time.Hour; nap *= 2 {
			time.Sleep(nap) // the controller's clock stands
		}
		switch over := s.over(); {
		case over && parked:
			return fmt.Sprintf("permit %d waits no more on route %d: %v, want %v", i, s.route, s.d, s.place.answer)
		case !over && !parked:
			return fmt.Sprintf("permit %d waits on route %d (%s), want %v", i, s.route, x.routes[s.route].State(), s.place.answer)
		case !over:
			x.reach.asleep++
			continue
		}
		s.cancel()
		delete(x.sleepers, i)
		if wrong := x.answered(i, s.route, s.d, s.place.answer); wrong != "" {
			return fmt.Sprintf("permit %d, which waited on route %d: %s", i, s.route, wrong)
		}
		x.reach.woken++
	}
	return ""
}

// over reports whether the goroutine has its answer, once all of them sleep.
func (s *modelSleeper) over() bool {
	synctest.Wait()
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// leave ends all waiting.
func (x *modelRun) leave() {
	for i, s := range x.sleepers {
		s.cancel()
		<-s.done
		x.slices[i].permit.Unposted() // when others left, there may have been room
	}
	clear(x.sleepers)
}
