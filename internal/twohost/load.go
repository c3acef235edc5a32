package twohost

import (
	"context"
	"errors"
	"fmt"
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
	var streams []*stream
	defer func() {
		for _, st := range streams {
			err = errors.Join(err, st.close())
		}
	}()
	for range l.Streams {
		st, err := s.newStream(l)
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

// stream repeats one transfer. With several engines each moves its part.
type stream struct {
	op    transfer.Op
	parts []part
	done  []Transfer
}

// part is what one engine moves: memory of both hosts, registered with all NICs.
type part struct {
	peer   *transfer.Peer
	near   *transfer.Buffer
	object transfer.Object
	far    memory
}

func (s *Session) newStream(l Load) (*stream, error) {
	slices := l.Bytes / s.Numbers.SliceBytes
	if slices < len(s.peers) || slices%len(s.peers) != 0 {
		return nil, fmt.Errorf("twohost: transfers of %d bytes: must be whole slices of %d, in %d equal parts",
			l.Bytes, s.Numbers.SliceBytes, len(s.peers))
	}
	st := &stream{op: l.Op}
	for _, p := range s.peers {
		bytes := slices / len(s.peers) * s.Numbers.SliceBytes
		near, err := transfer.NewBuffer(s.host, s.host.NICs(), bytes)
		if err != nil {
			return nil, errors.Join(err, st.close())
		}
		st.parts = append(st.parts, part{peer: p, near: near})
		last := &st.parts[len(st.parts)-1]
		if err := last.far.alloc(s.bed.b, bytes); err != nil {
			return nil, errors.Join(err, st.close())
		}
		last.object = last.far.object()
	}
	return st, nil
}

// run makes one transfer after another until it is stopped.
func (st *stream) run(ctx context.Context, stopped <-chan struct{}) error {
	for {
		t, err := st.once(ctx)
		if err != nil {
			return err
		}
		st.done = append(st.done, t)
		select {
		case <-stopped:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
	}
}

// once makes one transfer. It lasts until every part has arrived.
func (st *stream) once(ctx context.Context) (Transfer, error) {
	t := Transfer{Began: clock.Now()}
	var under []*transfer.Transfer
	var faults []error
	for _, p := range st.parts {
		tr, err := p.peer.Start(st.op, p.near, p.object)
		if err != nil {
			faults = append(faults, err)
			break
		}
		under = append(under, tr)
	}
	for _, tr := range under {
		faults = append(faults, tr.Wait(ctx))
		t.Retries += tr.Report().Retries
	}
	t.Took = clock.Now() - t.Began
	return t, errors.Join(faults...)
}

func (st *stream) close() error {
	var faults []error
	for _, p := range st.parts {
		faults = append(faults, p.near.Close(), p.far.close())
	}
	return errors.Join(faults...)
}
