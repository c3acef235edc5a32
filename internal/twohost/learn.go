package twohost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/clock"
)

// Learn runs a load on an arm that knows nothing yet.
func (b *Bed) Learn(ctx context.Context, a Arm, n Numbers, l Load) (r Result, err error) {
	s, err := b.Start(ctx, a, n)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	run, err := s.Run(ctx, l)
	return run.Result(b), err
}

// Check returns what is wrong with a result of [Ours]: every dead pair is to be met,
// once, for one timeout.
func (r Result) Check(b *Bed) error {
	var faults []error
	if got, want := len(r.Dead), len(b.DeadPaths()); got < want {
		faults = append(faults, fmt.Errorf("%s %s: %d of %d dead pairs were met: the load is too small to tell", r.Arm, r.Op, got, want))
	}
	for _, l := range r.Dead {
		if l.Rounds > 1 || l.After > 0 {
			faults = append(faults, fmt.Errorf("%s %s: %v cost %d timeout rounds; %d of its %d lost slices were posted when a failure was known",
				r.Arm, r.Op, l.Path, l.Rounds, l.After, l.Slices))
		}
	}
	return errors.Join(faults...)
}

// Learned waits until some controller has every dead pair paused.
func (s *Session) Learned(ctx context.Context, limit time.Duration) error {
	began := clock.Now()
	for {
		paused := map[Path]bool{}
		for _, v := range s.verdicts.all() {
			paused[v.Path] = v.To >= cc.Quarantined
		}
		missing := 0
		for _, p := range s.bed.DeadPaths() {
			if !paused[p] {
				missing++
			}
		}
		if missing == 0 {
			return nil
		}
		if clock.Now()-began > limit {
			return fmt.Errorf("twohost: %d dead pairs are not paused after %v", missing, limit)
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
