package twohost

import (
	"context"
	"errors"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/clock"
)

// Outage says when the dead pairs of a bed stop to work, and when they work again.
type Outage struct {
	// Before is how long all pairs work, Down how long the dead ones then do not, and
	// After how long the load goes on when they do again. After 0 leaves them dead.
	Before, Down, After time.Duration
}

// Suffered is what an outage did to a load. Times count from the start of the run.
type Suffered struct {
	Result
	// Failing is when the first pair was blocked, Failed when all were, and Lifted when
	// all worked again; 0 if they do not.
	Failing, Failed, Lifted time.Duration
	// Again is, for each dead pair, how long after Lifted the first user slice had arrived
	// that was posted after it; 0 if none did.
	Again []time.Duration
	// Rates are bytes per second before, during and after.
	Before, During, After float64
	// Times are those of user slices that arrived, from post to completion.
	Times []time.Duration
	// End is what the controllers held when the last transfer had ended.
	End []cc.Snapshot
}

// LastAgain is when the last pair carried user slices again after the repair; false if one
// never did.
func (s Suffered) LastAgain() (last time.Duration, all bool) {
	for _, t := range s.Again {
		if t == 0 {
			return 0, false
		}
		last = max(last, t)
	}
	return last, true
}

// Suffer runs a load on an arm while the dead pairs fail and come back. Nothing may be
// blocked before, and nothing is afterwards.
func (b *Bed) Suffer(ctx context.Context, a Arm, n Numbers, l Load, o Outage) (s Suffered, err error) {
	session, err := b.Start(ctx, a, n)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, session.Close(), b.Lift()) }()
	var failing, failed, lifted time.Duration
	run, err := session.during(ctx, l, func(ctx context.Context) error {
		if err := sleep(ctx, o.Before); err != nil {
			return err
		}
		failing = clock.Now()
		if err := b.Block(); err != nil {
			return err
		}
		failed = clock.Now()
		if err := sleep(ctx, o.Down); err != nil || o.After == 0 {
			return err
		}
		if err := b.Lift(); err != nil {
			return err
		}
		lifted = clock.Now()
		return sleep(ctx, o.After)
	})
	if err != nil {
		return s, err
	}
	s = Suffered{
		Result: run.Result(b), Failing: failing - run.Begin, Failed: failed - run.Begin, End: session.Snapshots(),
		Before: run.Rate(run.Begin, failing), During: run.Rate(failed, run.End),
	}
	for _, sl := range run.Slices {
		if run.user(sl) && sl.Status == classify.StatusSuccess {
			s.Times = append(s.Times, sl.Ended-sl.Posted)
		}
	}
	if o.After > 0 {
		s.Lifted, s.Again = lifted-run.Begin, run.again(b.DeadPaths(), lifted)
		s.During, s.After = run.Rate(failed, lifted), run.Rate(lifted, run.End)
	}
	return s, nil
}

// again returns when the first user slice of each path had arrived that was posted after
// a moment, counted from that.
func (run Run) again(paths []Path, since time.Duration) []time.Duration {
	list := make([]time.Duration, len(paths))
	for i, p := range paths {
		for _, s := range run.Slices {
			if s.Path == p && run.user(s) && s.Posted > since && s.Status == classify.StatusSuccess {
				list[i] = s.Ended - since
				break
			}
		}
	}
	return list
}
