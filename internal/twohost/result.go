package twohost

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// Result is a run in numbers. Times count from the start of the run. It travels as
// JSON.
type Result struct {
	Arm, Op   string
	Duration  time.Duration
	Transfers int
	// Bandwidth is bytes per second, over the whole run and over its second half.
	Bandwidth, Late float64
	// Stalled is how many transfers lost a slice and took more than a third of the
	// timeout, Slow how many took as long without a loss: the machine was too slow.
	Stalled, Slow int
	// Wrong is how many transfers were reported as complete without all of their data.
	Wrong           int
	Median, Longest time.Duration
	// Dead holds the lessons on dead pairs that were used, Spurious those on pairs
	// that work.
	Dead, Spurious []Lesson
	// Builds is how many endpoints were built during the run.
	Builds int
	// LastError is when the last slice failed on a dead pair; 0 if none did.
	LastError time.Duration
	// Retry is how long the slices took that timed out first on their QP.
	Retry Spread
	// Bucket is the width of the buckets of Goodput, in bytes per second.
	Bucket  time.Duration
	Goodput []float64
	// Failures are the times at which user slices timed out.
	Failures []time.Duration
}

// Spread is the least, the middle and the largest of some times.
type Spread struct {
	N                   int
	Least, Middle, Most time.Duration
}

func spread(list []time.Duration) Spread {
	if len(list) == 0 {
		return Spread{}
	}
	slices.Sort(list)
	return Spread{len(list), list[0], list[len(list)/2], list[len(list)-1]}
}

// buckets is into how many parts a run is divided for a plot.
const buckets = 100

// Result sums a run up.
func (run Run) Result(b *Bed) Result {
	r := Result{
		Arm: run.Arm.Name, Op: run.Load.Op.String(), Duration: run.End - run.Begin,
		Transfers: len(run.Transfers), Builds: run.Builds,
		Bandwidth: run.Rate(run.Begin, run.End), Late: run.Rate((run.Begin+run.End)/2, run.End),
		Bucket: (run.End - run.Begin) / buckets,
	}
	var times []time.Duration
	for _, t := range run.Transfers {
		switch {
		case run.stalled(t):
			r.Stalled++
		case t.Took > run.stall():
			r.Slow++
		}
		if t.Wrong {
			r.Wrong++
		}
		times = append(times, t.Took)
	}
	all := spread(times)
	r.Median, r.Longest = all.Middle, all.Most
	for _, l := range lessons(run) {
		if !b.Dead(l.Path) {
			r.Spurious = append(r.Spurious, l)
			continue
		}
		r.Dead = append(r.Dead, l)
		r.LastError = max(r.LastError, l.Last)
	}
	var took []time.Duration
	for _, s := range run.Slices {
		if run.user(s) && s.Status == classify.StatusRetryExcErr {
			took = append(took, s.Ended-s.Posted)
			r.Failures = append(r.Failures, s.Ended-run.Begin)
		}
	}
	r.Retry = spread(took)
	for i := range time.Duration(buckets) {
		from := run.Begin + i*r.Bucket
		r.Goodput = append(r.Goodput, run.Rate(from, from+r.Bucket))
	}
	return r
}

// stall is how long a transfer may take before it counts as stalled.
func (run Run) stall() time.Duration { return run.Numbers.Timeout() / 3 }

// stalled reports whether a failed slice has stalled a transfer.
func (run Run) stalled(t Transfer) bool { return t.Retries > 0 && t.Took > run.stall() }

// Rate returns the bytes per second that arrived in a part of the run.
func (run Run) Rate(from, to time.Duration) float64 {
	var sum int64
	for _, s := range run.Slices {
		if s.Status == classify.StatusSuccess && s.Ended >= from && s.Ended < to {
			sum += s.Bytes
		}
	}
	return float64(sum) / (to - from).Seconds()
}

// MostRounds is the largest number of timeouts that one dead pair cost, Rounds their
// sum over all of them.
func (r Result) MostRounds() (most int) {
	for _, l := range r.Dead {
		most = max(most, l.Rounds)
	}
	return most
}

// Rounds is the sum of the timeouts that the dead pairs cost.
func (r Result) Rounds() (sum int) {
	for _, l := range r.Dead {
		sum += l.Rounds
	}
	return sum
}

// Lost is how many slices failed on dead pairs, and how many of them were posted when
// a failure there was known.
func (r Result) Lost() (lost, after int) {
	for _, l := range r.Dead {
		lost, after = lost+l.Slices, after+l.After
	}
	return lost, after
}
