package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/rail"
)

// conduct makes the faults of a schedule, each at its time, and returns when the last one
// is over.
func (s *Site) conduct(ctx context.Context, plan Schedule, l *load) error {
	start := s.now()
	var running sync.WaitGroup
	faults := make([]error, len(plan.Faults))
	for i, f := range plan.Faults {
		running.Go(func() {
			rng := rand.New(rand.NewPCG(plan.Seed, uint64(i)))
			if sleep(ctx, start+time.Duration(f.At)-s.now()) != nil {
				return
			}
			if err := s.make(ctx, f, l, rng); err != nil {
				faults[i] = fmt.Errorf("chaos: %v: %w", f, err)
			}
		})
	}
	running.Wait()
	return errors.Join(faults...)
}

// make makes one fault, and ends it.
func (s *Site) make(ctx context.Context, f Fault, l *load, rng *rand.Rand) (err error) {
	s.health.made(f)
	end := s.ledger.begin(f, s.now())
	over := func() { end(s.now()) }
	if f.Kind == DestroyEndpoint {
		// Nobody notices before something is posted there, which may be much later.
		return s.watch.orphan(route{f.Peer, f.Local, f.Remote}, s.ends.destroy, over)
	}
	defer over()
	undo, err := s.begin(ctx, f, l, rng)
	if err != nil {
		return err
	}
	if undo != nil {
		_ = sleep(ctx, time.Duration(f.For)) // it is undone also when ctx ends
		return undo()
	}
	return nil
}

// begin begins a fault. Those that are over when it returns have no undo.
func (s *Site) begin(ctx context.Context, f Fault, l *load, rng *rand.Rand) (undo func() error, err error) {
	r := route{f.Peer, f.Local, f.Remote}
	faults := s.watch.pair(r)
	switch f.Kind {
	case KillQP:
		faults.kills.Store(int64(f.Amount))
		return func() error { faults.kills.Store(0); return nil }, nil
	case Flap:
		return s.flap(ctx, f)
	case StaleKey:
		faults.stale.Store(true)
		return func() error { faults.stale.Store(false); return nil }, nil
	case RefusePost:
		faults.refuse.Store(true)
		return func() error { faults.refuse.Store(false); return nil }, nil
	case Hang:
		faults.deaf.Store(true)
		undo, err := s.bed.Begin(f)
		return func() error { faults.deaf.Store(false); return undo() }, err
	case ShallowQueue:
		d := &s.watch.devices[f.Local]
		d.shallow.Store(true)
		s.rebuild(f.Local)
		return func() error { d.shallow.Store(false); s.rebuild(f.Local); return nil }, nil
	case StallPoller:
		s.watch.stalled[f.Worker].Store(int64(s.now() + time.Duration(f.For)))
		return func() error { return nil }, nil
	case Cancel:
		l.cancel(int(f.Amount), rng)
		return nil, nil
	case Rebuild:
		s.rebuild(f.Local)
		return nil, nil
	case Restart:
		return nil, s.peers[f.Peer].restart(ctx, time.Duration(f.For))
	}
	return s.bed.Begin(f)
}

// downIntervals is how many probe intervals a flapping pair is blocked at a time.
const downIntervals = 4

// flap blocks a pair and lets it work in turns. The undo ends that.
func (s *Site) flap(ctx context.Context, f Fault) (undo func() error, err error) {
	interval := s.numbers.CC.ProbeInterval
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		for block := f; ; {
			block.Kind = Block
			lift, err := s.bed.Begin(block)
			if err == nil {
				_ = sleep(ctx, downIntervals*interval)
				err = lift()
			}
			if err != nil || sleep(ctx, time.Duration(f.Amount*float64(interval))) != nil {
				ended <- err
				return
			}
		}
	}()
	return func() error { stop(); return <-ended }, nil
}

// rebuild has all endpoints of a device of host A built again.
func (s *Site) rebuild(local int) {
	name := s.bed.Near().NICs()[local].Name()
	for _, p := range s.peers {
		if conn, _ := p.connected(); conn != nil {
			conn.Rebuild(func(pair rail.Pair) bool { return pair.Local == name })
		}
	}
}
