package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// outage is a load over all pairs of two hosts, some of which fail under way.
type outage struct {
	Op      transfer.Op
	Dead    [][2]int // NICs of the two sides
	Times   twohost.Outage
	Mbit    float64 // that reach a NIC
	Streams int
	Windows twohost.Windows
}

// newOutage has windows of some slices of 8 KiB, which take 4 ms each on a link that five
// pairs share; the target is about half of an ACK timeout.
func newOutage(op transfer.Op, dead [][2]int, times twohost.Outage) *outage {
	return &outage{
		Op: op, Dead: dead, Times: times, Mbit: 16, Streams: 4,
		Windows: twohost.Windows{Law: cc.LawRound, MinBytes: 8 << 10, StartBytes: 64 << 10, MaxBytes: 1 << 20, Target: 150 * time.Millisecond},
	}
}

// management are the pairs of the first NIC of a side with those of the other side but its
// last, and the other way round: a NIC that is cabled to a network of its own.
func management() (dead [][2]int) {
	for i := range twohost.NICs {
		for j := range twohost.NICs {
			if (i == 0) != (j == twohost.NICs-1) {
				dead = append(dead, [2]int{i, j})
			}
		}
	}
	return dead
}

func (o *outage) numbers(mode cc.Mode, seed uint64) twohost.Numbers {
	n := twohost.DefaultNumbers()
	n.Mode, n.Seed, n.Windows, n.Workers = mode, seed, o.Windows, 2
	return n
}

// Setup implements kind.
func (o *outage) Setup() string {
	n := o.numbers(cc.Enforce, 0)
	text := fmt.Sprintf("%d of %d pairs of NICs fail after %s", len(o.Dead), twohost.NICs*twohost.NICs, o.Times.Before)
	if o.Times.After > 0 {
		text += fmt.Sprintf(", work again %s later, and the load goes on for %s", o.Times.Down, o.Times.After)
	} else {
		text += fmt.Sprintf(" and stay dead for the other %s", o.Times.Down)
	}
	return fmt.Sprintf("%s. %d %vs of %d KiB are under way, in slices of %d KiB; %g Mbit/s reach a NIC. A slice on a dead pair fails after %s, as the QP's numbers say; probes every %s, pauses of %s. %s.",
		text, o.Streams, o.Op, n.DefaultLoad(o.Op, 0).Bytes>>10, n.SliceBytes>>10, o.Mbit, n.Timeout().Round(time.Millisecond), n.ProbeInterval, n.Cooldown, n.Windows)
}

// Figures implements kind.
func (o *outage) Figures() []figure {
	list := []figure{{goodputBefore, "MB/s"}, {goodputDuring, "MB/s"}}
	if o.Times.After > 0 {
		list = append(list, figure{goodputAfter, "MB/s"}, figure{useAgain, "s"})
	}
	return append(list, figure{stalledTransfers, ""}, figure{longest, "s"}, figure{lostSlices, ""}, figure{lostKnowing, ""},
		figure{lastError, "s"}, figure{p50, "ms"}, figure{p99, "ms"}, figure{cpuByGB, "s/GB"}, figure{cpuBySlice, "us"}, figure{guestByGB, "s/GB"})
}

// open implements kind.
func (o *outage) open(_ context.Context, lab *softroce.Lab, mode cc.Mode, seed uint64) (runner, error) {
	bed, err := twohost.OpenWith(lab, func(i, j int) bool { return slices.Contains(o.Dead, [2]int{i, j}) })
	if err != nil {
		return nil, err
	}
	if err := bed.Shape(o.Mbit); err != nil {
		return nil, errors.Join(err, bed.Close())
	}
	return &outageRun{outage: o, bed: bed, numbers: o.numbers(mode, seed)}, nil
}

type outageRun struct {
	*outage
	bed     *twohost.Bed
	numbers twohost.Numbers
}

// close implements runner.
func (r *outageRun) close() (*end, error) { return nil, r.bed.Close() }

// round implements runner. Each has controllers of its own, which know nothing.
func (r *outageRun) round(ctx context.Context) (o outcome, err error) {
	load := r.numbers.DefaultLoad(r.Op, 0)
	load.Streams = r.Streams
	var s twohost.Suffered
	cpu, err := costing(func() error {
		s, err = r.bed.Suffer(ctx, twohost.Ours, r.numbers, load, r.Times)
		return err
	})
	if err != nil {
		return o, err
	}
	lost, knowing := s.Lost()
	o.Figures = cpu.figures(s.Bandwidth*s.Duration.Seconds(), r.numbers.SliceBytes)
	for name, v := range map[string]float64{
		goodputBefore: s.Before / 1e6, goodputDuring: s.During / 1e6, goodputAfter: s.After / 1e6,
		stalledTransfers: float64(s.Stalled), longest: s.Longest.Seconds(), lostSlices: float64(lost), lostKnowing: float64(knowing),
		lastError: max(0, s.LastError-s.Failing).Seconds(),
	} {
		o.Figures[name] = v
	}
	if last, all := s.LastAgain(); all {
		o.Figures[useAgain] = last.Seconds()
	}
	o.Times = s.Times
	o.Checked, o.Wrong, o.End = s.Transfers, s.Wrong, newEnd(s.End)
	o.Series = []series{overTime(s)}
	o.Marks = []mark{{s.Failed, "pairs are dead"}}
	if s.Lifted > 0 {
		o.Marks = append(o.Marks, mark{s.Lifted, "they work again"})
	}
	return o, nil
}

// overTime is the goodput, in the middle of each bucket.
func overTime(s twohost.Suffered) series {
	g := series{Name: "goodput", Unit: "MB/s"}
	for i, v := range s.Goodput {
		g.At, g.Values = append(g.At, time.Duration(i)*s.Bucket+s.Bucket/2), append(g.Values, v/1e6)
	}
	return g
}
