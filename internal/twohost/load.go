package twohost

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/clock"
)

// Load is what a session has to move.
type Load struct {
	Op transfer.Op
	// Streams is how many transfers are under way at once.
	Streams int
	// Bytes is the length of a transfer. It is divided among the engines, in whole
	// slices.
	Bytes int
	// Duration is how long new transfers are begun, if Stop is not closed before.
	Duration time.Duration
	Stop     <-chan struct{}
}

// DefaultLoad is more than the windows of all pairs hold, for a time.
func (n Numbers) DefaultLoad(op transfer.Op, d time.Duration) Load {
	return Load{Op: op, Streams: 2, Bytes: 60 * n.SliceBytes, Duration: d}
}

// Transfer is one transfer that has ended.
type Transfer struct {
	Began, Took time.Duration
	Retries     int64
	// Wrong: it was reported as complete, and some of its data had not arrived.
	Wrong bool
}

// Run is what happened during one load.
type Run struct {
	Arm        Arm
	Numbers    Numbers
	Load       Load
	Begin, End time.Duration // of the time in which transfers were begun
	Slices     []Slice       // that ended, in the order in which they did
	Transfers  []Transfer
	Verdicts   []Verdict
	Builds     int // of endpoints
}

// Run runs the load, and returns when its last transfer has ended. When ctx ends the
// transfers are cancelled, which is an error.
func (s *Session) Run(ctx context.Context, l Load) (run Run, err error) {
	run = Run{Arm: s.Arm, Numbers: s.Numbers, Load: l}
	var streams []*Stream
	defer func() {
		for _, st := range streams {
			err = errors.Join(err, st.Close())
		}
	}()
	for range l.Streams {
		st, err := s.NewStream(l)
		if err != nil {
			return run, err
		}
		streams = append(streams, st)
	}
	before, builds := len(s.recorder.Slices()), s.builds()
	run.Begin = clock.Now()
	over := time.NewTimer(l.Duration)
	defer over.Stop()
	stopped := make(chan struct{})
	var running sync.WaitGroup
	faults := make([]error, len(streams))
	for i, st := range streams {
		running.Go(func() { faults[i] = st.run(ctx, stopped) })
	}
	select {
	case <-over.C:
	case <-l.Stop:
	case <-ctx.Done():
	}
	run.End = clock.Now()
	close(stopped)
	running.Wait()
	for _, st := range streams {
		run.Transfers = append(run.Transfers, st.done...)
	}
	run.Slices = s.recorder.Slices()[before:]
	run.Builds = s.builds() - builds
	for _, v := range s.verdicts.all() {
		if v.At >= run.Begin {
			run.Verdicts = append(run.Verdicts, v)
		}
	}
	return run, errors.Join(faults...)
}

// during runs the load for as long as f lasts. An error of either ends the other.
func (s *Session) during(ctx context.Context, l Load, f func(context.Context) error) (Run, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := make(chan struct{})
	l.Duration, l.Stop = forever, stop
	ended := make(chan error, 1)
	go func() {
		defer close(stop)
		ended <- f(ctx)
	}()
	run, err := s.Run(ctx, l)
	cancel(err)
	return run, errors.Join(err, <-ended)
}

const forever = 1000 * time.Hour
