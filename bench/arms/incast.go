package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	lab "github.com/rdmagate/rdmagate/internal/labcongestion"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// incast is four senders into one slow link with a queue of so many packets.
type incast struct {
	Queue         int
	Warm, Measure time.Duration
}

func (i *incast) setup(mode cc.Mode, seed uint64) lab.Setup {
	return lab.IncastSetup(i.Queue, mode, cc.LawRound, seed)
}

// Setup implements kind.
func (i *incast) Setup() string {
	s := i.setup(cc.Enforce, 0)
	return fmt.Sprintf("%s. After %s of it %s are measured. Enforce: %s.", s.Traffic(), i.Warm, i.Measure, s.Policy())
}

// Figures implements kind.
func (i *incast) Figures() []figure {
	return []figure{
		{goodput, "Mbit/s"}, {meanDelay, "ms"}, {p50, "ms"}, {p99, "ms"}, {queuePeak, "packets"}, {dropped, "packets"},
		{sentAgain, "1/s"}, {failedQPs, ""}, {cpuByGB, "s/GB"}, {cpuBySlice, "us"}, {guestByGB, "s/GB"}, {stalledShare, "%"},
	}
}

// open implements kind.
func (i *incast) open(_ context.Context, l *softroce.Lab, mode cc.Mode, seed uint64) (runner, error) {
	return &incastRun{incast: i, lab: l, setup: i.setup(mode, seed)}, nil
}

type incastRun struct {
	*incast
	lab   *softroce.Lab
	setup lab.Setup
}

// close implements runner. Each round has taken its own down.
func (r *incastRun) close() (*end, error) { return nil, nil }

// round implements runner.
func (r *incastRun) round(context.Context) (o outcome, err error) {
	var run lab.Run
	cpu, err := costing(func() error {
		run, err = lab.Measure(r.lab, r.setup, r.Warm, r.Measure)
		return err
	})
	if err != nil {
		return o, err
	}
	s := run.Measured
	o.Figures = cpu.figures(float64((s.Slices+run.Ramp.Slices)*r.setup.SliceBytes), r.setup.SliceBytes)
	for name, v := range map[string]float64{
		goodput: s.GoodputMbit, meanDelay: ms(s.MeanDelay), p50: ms(s.MedianDelay), p99: ms(s.P99Delay),
		queuePeak: float64(max(s.QueuePeak, run.Ramp.QueuePeak)), dropped: float64(s.Dropped),
		sentAgain: float64(s.Counters.Retries) / s.Took.Seconds(), failedQPs: float64(len(s.Failures)),
		stalledShare: 100 * s.StalledShare(),
	} {
		o.Figures[name] = v
	}
	o.Checked = s.Slices + run.Ramp.Slices // a slice without its data is an error
	o.Series = timelines(lab.Timeline(run.Ramp, s))
	o.End = newEnd([]cc.Snapshot{run.End})
	for _, f := range s.Failures {
		o.Notes = append(o.Notes, "a QP failed with "+f)
	}
	return o, nil
}

// timelines turns samples into quantities over time.
func timelines(samples []lab.Sample) []series {
	all := []series{{Name: "queue of the bottleneck", Unit: "packets"}, {Name: "windows of all senders", Unit: "KiB"},
		{Name: "in flight of all senders", Unit: "KiB"}, {Name: "goodput", Unit: "Mbit/s"}}
	for _, s := range samples {
		for i, v := range []float64{float64(s.QueuePackets), float64(s.WindowBytes) / 1024, float64(s.InFlightBytes) / 1024, s.GoodputMbit} {
			if i == 1 && v == 0 {
				continue // mode off has no windows
			}
			all[i].At, all[i].Values = append(all[i].At, s.At), append(all[i].Values, v)
		}
	}
	return all
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
