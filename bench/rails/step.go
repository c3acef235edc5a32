package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// step is one part of the experiment with what came out; one of the pointers is set.
type step struct {
	Name    string
	Wire    *wire               `json:",omitempty"`
	Result  *twohost.Result     `json:",omitempty"`
	Compare *twohost.Comparison `json:",omitempty"`
	Repair  *twohost.Repair     `json:",omitempty"`
	Flap    *twohost.Flap       `json:",omitempty"`
	// Fault says which promise was broken, or that the step failed; empty if none.
	Fault string `json:",omitempty"`
}

// wire is what was seen of the fabric before anything was measured.
type wire struct {
	Op      string
	Numbers twohost.Numbers
	// Retry is how long a slice on a dead pair takes to fail, Nominal what the QP's
	// numbers say.
	Retry, Nominal time.Duration
	// Rate is bytes per second over the pairs that work.
	Rate float64
	// Streams of transfers of Bytes are the load of all arms.
	Streams, Bytes int
}

// bench is the experiment in the guest.
type bench struct {
	*options
	bed   *twohost.Bed
	loads map[transfer.Op]twohost.Load
	out   *json.Encoder
	log   io.Writer
	began time.Time
}

// measure runs all steps in the guest and writes each as a line of JSON.
func (o *options) measure(ctx context.Context, stdout, stderr io.Writer) (err error) {
	lab, err := softroce.Current()
	if err != nil {
		return err
	}
	if err := lab.Heal(); err != nil {
		return err
	}
	bed, err := twohost.Open(lab)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bed.Close()) }()
	if err := bed.Shape(o.rate); err != nil {
		return err
	}
	b := &bench{options: o, bed: bed, loads: map[transfer.Op]twohost.Load{}, out: json.NewEncoder(stdout), log: stderr, began: time.Now()}
	return b.all(ctx)
}

var ops = []transfer.Op{transfer.Write, transfer.Read}

// all runs the steps. A step that fails does not keep the others from running.
func (b *bench) all(ctx context.Context) error {
	for _, op := range ops {
		b.step(ctx, fmt.Sprintf("wire/%v", op), func(s *step) error { return b.wire(ctx, op, s) })
		if b.loads[op].Streams == 0 {
			return fmt.Errorf("the fabric does not work; see wire/%v", op)
		}
	}
	for _, arm := range twohost.Arms() {
		for _, op := range ops {
			b.selected(ctx, fmt.Sprintf("%s/%v", arm.Name, op), func(s *step) error { return b.arm(ctx, arm, op, s) })
		}
	}
	for _, op := range ops {
		b.selected(ctx, fmt.Sprintf("compare/%v", op), func(s *step) error {
			return b.compare(ctx, op, [2]twohost.Arm{twohost.Ours, twohost.Perfect}, s)
		})
		b.selected(ctx, fmt.Sprintf("control/%v", op), func(s *step) error {
			return b.compare(ctx, op, [2]twohost.Arm{twohost.Perfect, twohost.Perfect}, s)
		})
	}
	for _, op := range ops {
		b.selected(ctx, fmt.Sprintf("repair/%v", op), func(s *step) error { return b.repair(ctx, op, s) })
	}
	// Where the cable ends in a switch the peer's port stays up, and endpoints can be
	// built while nothing arrives.
	lab, nic := b.bed.Lab, b.bed.Lab.B[2]
	for _, c := range []struct {
		link string
		fail func() (softroce.Undo, error)
	}{
		{"port", func() (softroce.Undo, error) { return lab.LinkDown(nic) }},
		{"switch", func() (softroce.Undo, error) { return lab.Loss(nic, 100) }},
	} {
		for _, op := range ops {
			b.selected(ctx, fmt.Sprintf("flap/%s/%v", c.link, op), func(s *step) error {
				return b.flap(ctx, op, twohost.Flapping{Link: c.link + " of " + nic.Device, Fail: c.fail}, s)
			})
		}
	}
	return context.Cause(ctx)
}

func (b *bench) selected(ctx context.Context, name string, f func(*step) error) {
	if b.only.MatchString(name) {
		b.step(ctx, name, f)
	}
}

// step runs one step and reports it.
func (b *bench) step(ctx context.Context, name string, f func(*step) error) {
	if ctx.Err() != nil {
		return
	}
	fmt.Fprintf(b.log, "rails: %4.0f s  %s\n", time.Since(b.began).Seconds(), name)
	s := step{Name: name}
	if err := f(&s); err != nil {
		s.Fault = err.Error()
		fmt.Fprintf(b.log, "rails: %s: %v\n", name, err)
	}
	if err := b.out.Encode(s); err != nil {
		fmt.Fprintf(b.log, "rails: reporting %s: %v\n", name, err)
	}
}

// wire looks at the fabric, and chooses the load for it: a transfer that nothing
// stalls is to take well below a third of the timeout.
func (b *bench) wire(ctx context.Context, op transfer.Op, s *step) error {
	w := &wire{Op: op.String(), Numbers: b.numbers, Nominal: b.numbers.Timeout(), Bytes: b.slices * b.numbers.SliceBytes}
	var err error
	if w.Retry, err = b.bed.RetryTime(ctx, b.numbers, op); err != nil {
		return err
	}
	load := twohost.Load{Op: op, Streams: max(b.streams, 2), Bytes: w.Bytes, Duration: 3 * time.Second}
	r, err := b.bed.Learn(ctx, twohost.Perfect, b.numbers, load)
	if err != nil {
		return err
	}
	w.Rate, w.Streams = r.Late, b.streams
	if w.Streams == 0 {
		w.Streams = max(2, min(int(w.Rate*w.Nominal.Seconds()/6/float64(w.Bytes)), 8))
	}
	load.Streams, load.Duration = w.Streams, b.run
	s.Wire, b.loads[op] = w, load
	return nil
}

func (b *bench) arm(ctx context.Context, arm twohost.Arm, op transfer.Op, s *step) error {
	r, err := b.bed.Learn(ctx, arm, b.numbers, b.loads[op])
	if err != nil {
		return err
	}
	s.Result = &r
	if arm.Name == twohost.Ours.Name {
		return r.Check(b.bed)
	}
	return nil
}

// leastRatio is what ours must reach of the arm that knows the dead pairs. Less is a
// fault when it is less by more than two standard errors.
const leastRatio = 0.97

// compare runs two arms side by side. An arm with itself tells how exact that is.
func (b *bench) compare(ctx context.Context, op transfer.Op, arms [2]twohost.Arm, s *step) error {
	c, err := b.bed.Compare(ctx, b.numbers, b.loads[op], arms)
	if err != nil {
		return err
	}
	s.Compare = &c
	if c.Ratio()+2*c.Error() < leastRatio {
		return fmt.Errorf("%s has %.1f%% (+-%.1f) of the bandwidth of %s, at least %.0f%% are wanted",
			c.Arms[0], 100*c.Ratio(), 200*c.Error(), c.Arms[1], 100*leastRatio)
	}
	return nil
}

func (b *bench) repair(ctx context.Context, op transfer.Op, s *step) error {
	// The repair comes at any moment between the first two probes.
	phase := rand.New(rand.NewPCG(b.numbers.Seed, uint64(op))).Float64()
	r, err := b.bed.Repair(ctx, b.numbers, b.loads[op], time.Duration((1+phase)*float64(b.numbers.ProbeInterval)))
	if err != nil {
		return err
	}
	s.Repair = &r
	return r.Check()
}

func (b *bench) flap(ctx context.Context, op transfer.Op, fl twohost.Flapping, s *step) error {
	// 5 s and 2 s at the default probe interval of 1 s.
	fl.Down, fl.Up, fl.Cycles = 5*b.numbers.ProbeInterval, 2*b.numbers.ProbeInterval, b.cycles
	f, err := b.bed.Flap(ctx, b.numbers, b.loads[op], fl)
	if err != nil {
		return err
	}
	s.Flap = &f
	if limit := max(1, 3*b.cycles/17); f.Hit() > limit {
		return fmt.Errorf("%d of %d cycles had a transfer that stalled; at most %d may", f.Hit(), b.cycles, limit)
	}
	return nil
}
