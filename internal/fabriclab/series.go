package fabriclab

import (
	"math"
	"slices"
	"time"
)

// Series is a quantity over time.
type Series struct {
	Name, Unit string
	Every      time.Duration
	Values     []float64 // the first one Every after the start of the run
}

// between returns the values of a part of the run.
func (s *Series) between(from, until time.Duration) []float64 {
	first := min(int(from/s.Every), len(s.Values))
	return s.Values[first:max(first, min(int(until/s.Every), len(s.Values)))]
}

// mean and peak are of a part of the run; not a number if nothing was seen there.
func (s *Series) mean(from, until time.Duration) float64 { return mean(s.between(from, until)) }

func (s *Series) peak(from, until time.Duration) float64 {
	v := s.between(from, until)
	if len(v) == 0 {
		return math.NaN()
	}
	return slices.Max(v)
}

func (s *Series) least(from, until time.Duration) float64 {
	v := s.between(from, until)
	if len(v) == 0 {
		return math.NaN()
	}
	return slices.Min(v)
}

// watch samples a quantity from now until the run ends.
func (b *Bed) watch(name, unit string, every time.Duration, value func() float64) *Series {
	s := &Series{Name: name, Unit: unit, Every: every}
	b.Sim.Every(every, func() bool {
		if !b.ending {
			s.Values = append(s.Values, value())
		}
		return !b.ending
	})
	return s
}

// watchFabric samples the bytes on wires and in buffers, in MB.
func (b *Bed) watchFabric(every time.Duration) *Series {
	return b.watch("in the fabric", "MB", every, func() float64 { return float64(b.Sim.Totals().InFabric()) / 1e6 })
}

// watchPosted samples the bytes that are posted and not back, in MB.
func (b *Bed) watchPosted(every time.Duration) *Series {
	return b.watch("posted", "MB", every, func() float64 { return float64(b.posted()) / 1e6 })
}

// watchRate samples the payload that arrives for flows, in Gb/s.
func (b *Bed) watchRate(name string, every time.Duration, flows ...*Flow) *Series {
	last := int64(0)
	return b.watch(name, "Gb/s", every, func() float64 {
		now := int64(0)
		for _, f := range flows {
			now += f.Received()
		}
		rate := float64(now-last) * 8 / every.Seconds() / 1e9
		last = now
		return rate
	})
}

// watchWindow samples the window of a flow's first route, in KiB; 0 where there is
// none.
func (b *Bed) watchWindow(name string, every time.Duration, f *Flow) *Series {
	return b.watch(name, "KiB", every, func() float64 { return f.window() / float64(kib) })
}

// watchTimes keeps the times of the flows' slices from post to completion.
func watchTimes(flows ...*Flow) *[]time.Duration {
	var times []time.Duration
	for _, f := range flows {
		f.watch = func(s *slice, now time.Duration) { times = append(times, now-s.postedAt) }
	}
	return &times
}

// mean returns the mean of values, not a number if there are none.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// jain returns Jain's fairness index.
func jain(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(x)) * squares)
}

// thin sorts times and returns at most a thousand of them, evenly taken, with the last.
func thin(times []time.Duration) []time.Duration {
	const most = 1000
	slices.Sort(times)
	if len(times) <= most {
		return times
	}
	var some []time.Duration
	for i := range most {
		some = append(some, times[(i+1)*len(times)/most-1])
	}
	return some
}

// quantile returns the value below which that share of the values is. It sorts them.
func quantile(values []time.Duration, share float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	i := int(math.Ceil(share*float64(len(values)))) - 1
	return values[min(max(i, 0), len(values)-1)]
}
