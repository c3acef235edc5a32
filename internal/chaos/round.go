package chaos

import (
	"context"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// Result is what came out of a round.
type Result struct {
	Schedule Schedule
	// Took is how long the round lasted, Faulty the part of it with faults.
	Took, Faulty Duration
	Seen         []Seen // by kind
	Done         Done
	// Requests is how many work requests were posted, Torn how many of them ended with
	// their QP, and Status how many failed, by status.
	Requests, Torn int64
	Status         map[string]int
	// Probes and Good are the prober's.
	Probes, Good uint64
	// Suspicions is how often a route became SUSPECT without a fault that explains it:
	// silence is enough for that.
	Suspicions int
	// Slowest is the longest time from the last fault that reaches a route until it was
	// well again; Bound is what it may be.
	Slowest, Bound Duration
	States         []States
	First, Last    Footprint
	Broken         []Broken
}

// Failed reports whether an invariant was broken.
func (r Result) Failed() bool { return len(r.Broken) > 0 }

// endless is how long transfers may take to end once nothing is wrong: each slice may
// have all its attempts ahead.
func (n Numbers) endless() time.Duration {
	return n.Engine.Patience + time.Duration(n.Engine.MaxAttempts)*n.Evidence()
}

// Warm runs a load without faults for a while, so that what grows once has grown, and
// measures the first quiet moment.
func (s *Site) Warm(ctx context.Context, plan Schedule, d time.Duration) error {
	plan.Faults = nil
	l := s.startLoad(ctx, plan)
	err := sleep(ctx, d)
	l.end(s.numbers.endless())
	s.quiet(ctx)
	return err
}

// Round runs a schedule. The error says that it could not be run; what was broken is in
// the result.
func (s *Site) Round(ctx context.Context, plan Schedule) (Result, error) {
	if err := plan.Validate(); err != nil {
		return Result{}, err
	}
	if plan.Setup != s.setup {
		return Result{}, fmt.Errorf("chaos: the schedule is for %+v, the site is %+v", plan.Setup, s.setup)
	}
	s.ledger.clear()
	s.health.reset()
	began, before := s.now(), s.counted()
	if s.begun != nil {
		s.begun(s)
	}
	l := s.startLoad(ctx, plan)
	looking, stop := context.WithCancel(ctx)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for sleep(looking, s.numbers.Look) == nil {
			s.look()
		}
	}()
	err := s.conduct(ctx, plan, l)
	faulty := s.now() - began
	s.recover(ctx)
	done := l.end(s.numbers.endless())
	stop()
	<-looked
	r := Result{Schedule: plan, Faulty: Duration(faulty), Done: done, Bound: Duration(s.bound)}
	r.Last = s.quiet(ctx)
	r.First = *s.first
	r.Took = Duration(s.now() - began)
	after := s.counted()
	r.Requests, r.Torn = after.requests-before.requests, after.torn-before.torn
	r.Probes, r.Good = after.Probes-before.Probes, after.ProbesSucceeded-before.ProbesSucceeded
	s.health.report(&r, began)
	r.Broken = s.court.take()
	for i := range r.Broken {
		r.Broken[i].At -= Duration(began)
	}
	return r, err
}

type counts struct {
	requests, torn int64
	transfer.Totals
}

func (s *Site) counted() counts {
	c := counts{Totals: s.engine.Totals()}
	for i := range s.watch.devices {
		c.requests += s.watch.devices[i].requests.Load()
		c.torn += s.watch.devices[i].torn.Load()
	}
	return c
}

// look looks at everything once, and returns how many routes have not recovered.
func (s *Site) look() (ill int) {
	s.books()
	now := s.now()
	var count [cc.Probing + 1]int
	for _, p := range s.peers {
		conn, _ := p.connected()
		if conn == nil {
			ill++
			continue
		}
		rails := conn.NewSampler().Sample()
		if over(conn) {
			continue
		}
		ill += s.health.look(now, rails, &count)
	}
	s.health.record(now, count)
	return ill
}

func over(p *transfer.Peer) bool {
	select {
	case <-p.Lost():
		return true
	default:
		return false
	}
}

// books compares the controller's books with the wire.
func (s *Site) books() {
	nics := s.bed.Near().NICs()
	posted := make([]int64, len(nics))
	for i := range nics {
		posted[i] = s.watch.devices[i].posted.Load()
	}
	devices := s.ctl.Snapshot().Devices
	for i, nic := range nics {
		// What was posted before the books were read, and has not ended after.
		left := posted[i] - s.watch.devices[i].ended.Load()
		for _, d := range devices {
			if d.Device == nic.Name() && d.InFlightBytes < left {
				s.court.broken(Once, "%d bytes are on the wire of %s, and %d on the controller's books", left, nic.Name(), d.InFlightBytes)
			}
			if d.InFlightBytes < 0 {
				s.court.broken(Once, "%d bytes are in flight on %s", d.InFlightBytes, d.Device)
			}
		}
	}
}

// recover waits until every route has recovered, or should have.
func (s *Site) recover(ctx context.Context) {
	limit := s.now() + s.bound + 2*s.numbers.Look
	for s.look() > 0 && s.now() < limit && sleep(ctx, s.numbers.Look) == nil {
	}
}

// quiet waits until nothing is in flight, which probes may delay, and measures.
func (s *Site) quiet(ctx context.Context) Footprint {
	limit := s.now() + s.bound
	for s.inFlight() != "" || s.watch.onWire() != 0 {
		if s.now() > limit || sleep(ctx, s.numbers.Look/10) != nil {
			s.court.broken(Flight, "after %v of quiet: %s; %d bytes are on the wire", s.bound, s.inFlight(), s.watch.onWire())
			break
		}
	}
	least, most := s.measure(ctx)
	if s.first == nil {
		s.first, s.stacks = &most, creators()
		return least
	}
	// What faults and load have left behind may take a while to end.
	for least.growth(*s.first) != "" && s.now() < limit && ctx.Err() == nil {
		least, _ = s.measure(ctx)
	}
	if more := least.growth(*s.first); more != "" {
		s.court.broken(Flat, "%v after the load, more than at the first quiet moment: %s; goroutines by who began them:%s", s.bound, more, creators().more(s.stacks))
	}
	return least
}

// measure returns the least and the most that there is within two probe intervals.
func (s *Site) measure(ctx context.Context) (least, most Footprint) {
	const looks = 8
	s.watch.footprint() // what was garbage is garbage no more
	least = s.watch.footprint()
	most = least
	for range looks {
		_ = sleep(ctx, s.numbers.CC.ProbeInterval/4)
		f := s.watch.footprint()
		least, most = least.least(f), most.most(f)
	}
	return least, most
}

// inFlight says what is in flight; it is empty if nothing is.
func (s *Site) inFlight() (text string) {
	snap := s.ctl.Snapshot()
	for _, d := range snap.Devices {
		if d.InFlightBytes != 0 {
			text += fmt.Sprintf(" %s: %d", d.Device, d.InFlightBytes)
		}
	}
	for _, r := range snap.Routes {
		if r.InFlightBytes != 0 {
			text += fmt.Sprintf(" %v: %d", r.Pair, r.InFlightBytes)
		}
	}
	return text
}

// report takes what was counted into a result.
func (h *health) report(r *Result, began time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range Kinds() {
		if s := h.seen[k]; s != nil {
			r.Seen = append(r.Seen, *s)
		}
	}
	r.Status = map[string]int{}
	for s, n := range h.status {
		r.Status[statusName(s)] += n
	}
	r.Suspicions, r.Slowest = h.strange, Duration(h.slowest)
	for _, s := range h.states {
		s.At -= Duration(began)
		r.States = append(r.States, s)
	}
}

func statusName(s classify.Status) string { return s.String() }
