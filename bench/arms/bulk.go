package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// bulk is a healthy fabric: one transfer a round over several pairs of NICs, each with its
// opposite.
type bulk struct {
	Op             transfer.Op
	Pairs          int
	Slice, Bytes   int
	Windows        twohost.Windows
	SettlingRounds int // before the first that counts
}

// settled is how many transfers an arm makes before the first that counts: windows have
// grown by then.
const settled = 3

// newBulk takes a target that fits: next to others a slice of 64 KiB takes about 10 ms on
// these NICs when it is alone on its pair, and the processors that emulate them work best
// with many at once.
func newBulk(op transfer.Op, slice, bytes int) *bulk {
	return &bulk{
		Op: op, Pairs: 4, Slice: slice, Bytes: bytes, SettlingRounds: settled,
		Windows: twohost.Windows{
			Law: cc.LawRound, MinBytes: 64 << 10, StartBytes: 64 << 10, MaxBytes: 64 << 20,
			Target: min(max(1, time.Duration(slice/(64<<10)))*400*time.Millisecond, 1600*time.Millisecond),
		},
	}
}

func (b *bulk) numbers(mode cc.Mode, seed uint64) twohost.Numbers {
	n := twohost.DefaultNumbers()
	n.Mode, n.Seed, n.Windows = mode, seed, b.Windows
	n.SliceBytes, n.Workers = b.Slice, 2
	n.AckTimeout, n.Retry = 18, 6 // nothing is sent again because the machine is slow
	return n
}

// Setup implements kind.
func (b *bulk) Setup() string {
	n := b.numbers(cc.Enforce, 0)
	return fmt.Sprintf("A %v of %d KiB in slices of %d KiB a round, over %d pairs of NICs, by %d workers; nothing is shaped. ACK timeout code %d. %s.",
		b.Op, b.Bytes>>10, b.Slice>>10, b.Pairs, n.Workers, n.AckTimeout, n.Windows)
}

// Figures implements kind.
func (b *bulk) Figures() []figure {
	return []figure{{throughput, "MB/s"}, {cpuByGB, "s/GB"}, {cpuBySlice, "us"}, {guestByGB, "s/GB"}, {p50, "ms"}, {p99, "ms"}}
}

// open implements kind.
func (b *bulk) open(ctx context.Context, lab *softroce.Lab, mode cc.Mode, seed uint64) (_ runner, err error) {
	r := &bulkRun{bulk: b}
	defer func() {
		if err != nil {
			_, failed := r.close()
			err = errors.Join(err, failed)
		}
	}()
	// The pairs that this calls dead are not used, and nothing makes them so.
	r.bed, err = twohost.OpenWith(lab, func(i, j int) bool { return i != j || i >= b.Pairs })
	if err != nil {
		return nil, err
	}
	if r.session, err = r.bed.Start(ctx, twohost.Perfect, b.numbers(mode, seed)); err != nil {
		return nil, err
	}
	if r.stream, err = r.session.NewStream(twohost.Load{Op: b.Op, Bytes: b.Bytes}); err != nil {
		return nil, err
	}
	for range b.SettlingRounds {
		if _, err := r.stream.Move(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// bulkRun is an engine that waits for its turn.
type bulkRun struct {
	*bulk
	bed     *twohost.Bed
	session *twohost.Session
	stream  *twohost.Stream
}

// round implements runner.
func (r *bulkRun) round(ctx context.Context) (o outcome, err error) {
	r.session.Slices() // those that the rounds before it left
	var t twohost.Transfer
	cpu, err := costing(func() error {
		t, err = r.stream.Move(ctx)
		return err
	})
	if err != nil {
		return o, err
	}
	for _, s := range r.session.Slices() {
		if s.Bytes == int64(r.Slice) && s.Status == classify.StatusSuccess {
			o.Times = append(o.Times, s.Ended-s.Posted)
		}
	}
	if o.Checked++; t.Wrong {
		o.Wrong++
	}
	if t.Retries > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%d slices were posted again", t.Retries))
	}
	o.Figures = cpu.figures(float64(r.Bytes), r.Slice)
	o.Figures[throughput] = float64(r.Bytes) / 1e6 / t.Took.Seconds()
	return o, nil
}

// close implements runner.
func (r *bulkRun) close() (*end, error) {
	var e *end
	var faults []error
	if r.session != nil {
		e = newEnd(r.session.Snapshots())
	}
	if r.stream != nil {
		faults = append(faults, r.stream.Close())
	}
	if r.session != nil {
		faults = append(faults, r.session.Close())
	}
	if r.bed != nil {
		faults = append(faults, r.bed.Close())
	}
	return e, errors.Join(faults...)
}
