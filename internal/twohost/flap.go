package twohost

import (
	"context"
	"errors"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/clock"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// Flap is what a link that goes down and up costs, cycle by cycle.
type Flap struct {
	Op, Link string
	Down, Up time.Duration // of a cycle, in this order
	// Stalled is how many transfers stalled that began in each cycle, Failed how
	// many slices failed that ended in it.
	Stalled, Failed []int
	// Paused is how often a pair was paused in each cycle, Back how often one came
	// back.
	Paused, Back []int
	// Unbuilt is how many pairs had no endpoint at the end of each time down, and Why
	// is why the last of them had none.
	Unbuilt []int
	Why     string `json:",omitempty"`
}

// Hit is how many cycles had a transfer that stalled.
func (f Flap) Hit() (hit int) {
	for _, n := range f.Stalled {
		if n > 0 {
			hit++
		}
	}
	return hit
}

// Flapping says how a link goes down and up.
type Flapping struct {
	Link     string
	Fail     func() (softroce.Undo, error)
	Down, Up time.Duration
	Cycles   int
}

// Flap lets a link go down and up while ours runs the load. All pairs work
// otherwise.
func (b *Bed) Flap(ctx context.Context, n Numbers, l Load, fl Flapping) (f Flap, err error) {
	none := func() []int { return make([]int, fl.Cycles) }
	f = Flap{
		Op: l.Op.String(), Link: fl.Link, Down: fl.Down, Up: fl.Up,
		Stalled: none(), Failed: none(), Paused: none(), Back: none(), Unbuilt: none(),
	}
	if err := b.Lift(); err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, b.Block()) }()
	s, err := b.Start(ctx, Ours, n)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var starts []time.Duration
	run, err := s.during(ctx, l, func(ctx context.Context) error {
		if err := sleep(ctx, fl.Up); err != nil {
			return err
		}
		for i := range fl.Cycles {
			starts = append(starts, clock.Now())
			undo, err := fl.Fail()
			if err != nil {
				return err
			}
			err = sleep(ctx, fl.Down)
			f.look(i, s)
			if err := errors.Join(err, undo(), sleep(ctx, fl.Up)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	f.read(run, starts)
	return f, nil
}

// look counts the pairs without an endpoint.
func (f *Flap) look(cycle int, s *Session) {
	for _, p := range s.peers {
		for _, r := range p.NewSampler().Sample() {
			if !r.Up {
				f.Unbuilt[cycle]++
			}
			if r.Failure != nil {
				f.Why = r.Failure.Error()
			}
		}
	}
}

// read sorts what happened by cycle.
func (f *Flap) read(run Run, starts []time.Duration) {
	for _, t := range run.Transfers {
		// A transfer that a cycle stalls may have begun just before it.
		if run.stalled(t) {
			f.Stalled[cycleOf(starts, t.Began+run.stall())]++
		}
	}
	for _, s := range run.failed() {
		f.Failed[cycleOf(starts, s.Ended)]++
	}
	for _, v := range run.Verdicts {
		switch i := cycleOf(starts, v.At); {
		case v.To == cc.Quarantined && v.From < cc.Quarantined:
			f.Paused[i]++
		case v.To < cc.Quarantined && v.From >= cc.Quarantined:
			f.Back[i]++
		}
	}
}

// cycleOf returns the cycle that a moment belongs to.
func cycleOf(starts []time.Duration, at time.Duration) int {
	for i := len(starts) - 1; i > 0; i-- {
		if at >= starts[i] {
			return i
		}
	}
	return 0
}
