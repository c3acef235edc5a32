package labcongestion

import (
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// Stretch is what was seen in a time of sending. The figures leave out what stalls
// of the machine touched.
type Stretch struct {
	Took    time.Duration `json:"took_ns"`
	Stalled time.Duration `json:"stalled_ns"` // the part in which nobody looked, a mean of the senders
	Slices  int           `json:"slices"`     // that arrived, with their data
	// GoodputMbit is the payload that arrived, in Mbit/s.
	GoodputMbit float64 `json:"goodput_mbit"`
	// From Posting to completion, over the slices that arrived.
	MedianDelay time.Duration `json:"median_delay_ns"`
	MeanDelay   time.Duration `json:"mean_delay_ns"`
	P99Delay    time.Duration `json:"p99_delay_ns"`
	// QueuePeak is the most packets that were seen in the link's queue, Dropped how many
	// it has dropped.
	QueuePeak int64    `json:"queue_peak"`
	Dropped   int64    `json:"dropped"`
	Counters  Counters `json:"counters"` // stalls included
	// Failures are QPs that failed, and had to be replaced.
	Failures []string `json:"failures,omitempty"`
	Samples  []Sample `json:"samples"`

	setup   Setup
	began   time.Duration
	landed  []landing
	stalls  []span
	sampled int // of landed
	backlog softroce.Backlog
	drops   int64 // of the link's queue, before
}

// landing is a slice that has arrived.
type landing struct {
	at, delay time.Duration
	void      bool // it was found after a stall
}

// span is a stall of one sender.
type span struct{ from, to time.Duration }

// Sample is a moment of a stretch. Bytes are sums over the senders.
type Sample struct {
	At            time.Duration `json:"at_ns"`        // since the stretch began
	WindowBytes   int64         `json:"window_bytes"` // 0 in mode off
	InFlightBytes int64         `json:"in_flight_bytes"`
	// QueuePackets wait in front of the link.
	QueuePackets int64 `json:"queue_packets"`
	// Drain is the mean of what the routes' snapshots show; 0 if none does.
	Drain time.Duration `json:"drain_ns"`
	// Since the sample before:
	MedianDelay time.Duration `json:"median_delay_ns"`
	GoodputMbit float64       `json:"goodput_mbit"`
}

// look reads the link's queue.
func (s *Stretch) look(b *Bottleneck) (err error) {
	s.backlog, err = b.lab.Backlog(b.receiver)
	s.QueuePeak = max(s.QueuePeak, s.backlog.Packets)
	s.Dropped = s.backlog.Drops - s.drops
	return err
}

// sample looks at the senders at now.
func (s *Stretch) sample(b *Bottleneck, now time.Duration) {
	at := Sample{At: now - s.began, QueuePackets: s.backlog.Packets}
	observed := 0
	for _, x := range b.senders {
		snap := x.route.Snapshot()
		if b.ctl.Mode() == cc.Off { // which keeps nothing
			at.InFlightBytes += x.out()
			continue
		}
		at.WindowBytes += snap.WindowBytes
		at.InFlightBytes += snap.InFlightBytes
		if d, ok := snap.Flow.DrainTime.Get(); ok {
			at.Drain += d
			observed++
		}
	}
	at.Drain /= time.Duration(max(1, observed))
	since := time.Duration(0)
	if n := len(s.Samples); n > 0 {
		since = s.Samples[n-1].At
	}
	fresh := s.landed[s.sampled:]
	s.sampled = len(s.landed)
	at.MedianDelay = medianDelay(fresh)
	at.GoodputMbit = s.mbit(len(fresh), at.At-since)
	s.Samples = append(s.Samples, at)
}

// lookedAgain notes that a sender looked for completions, and reports whether that was
// after a stall.
func (s *Stretch) lookedAgain(before, now time.Duration) (stalled bool) {
	if now-before <= stallGap {
		return false
	}
	s.stalls = append(s.stalls, span{before, now})
	return true
}

// StalledShare is the share of the time in which nobody looked, 0 to 1.
func (s Stretch) StalledShare() float64 { return float64(s.Stalled) / float64(max(1, s.Took)) }

// summarize computes the figures.
func (s *Stretch) summarize() {
	var counted []landing
	for _, l := range s.landed {
		if !l.void {
			counted = append(counted, l)
		}
	}
	s.Stalled = 0
	for _, v := range s.stalls {
		s.Stalled += (v.to - v.from) / time.Duration(s.setup.Senders)
	}
	s.Slices, s.MeanDelay = len(counted), 0
	s.GoodputMbit = s.mbit(s.Slices, s.Took-s.Stalled)
	s.MedianDelay, s.P99Delay = medianDelay(counted), quantile(delays(counted), 0.99)
	for _, l := range counted {
		s.MeanDelay += l.delay / time.Duration(s.Slices)
	}
}

// From returns the part of the stretch after a time, without its counters.
func (s Stretch) From(start time.Duration) Stretch {
	part := Stretch{Took: s.Took - start, began: s.began + start, setup: s.setup}
	for _, l := range s.landed {
		if l.at >= part.began {
			part.landed = append(part.landed, l)
		}
	}
	for _, v := range s.stalls {
		if v.to > part.began {
			part.stalls = append(part.stalls, span{max(v.from, part.began), v.to})
		}
	}
	for _, at := range s.Samples {
		if at.At > start {
			at.At -= start
			part.Samples = append(part.Samples, at)
		}
	}
	part.summarize()
	return part
}

func (s Stretch) String() string {
	return fmt.Sprintf("%5.2f Mbit/s, median delay %6.1f ms, %d retries, %d out of sequence, %d failures, stalled %2.0f%%",
		s.GoodputMbit, ms(s.MedianDelay), s.Counters.Retries, s.Counters.OutOfSequence, len(s.Failures), 100*s.StalledShare())
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (s *Stretch) mbit(slices int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(slices*s.setup.SliceBytes) * 8 / 1e6 / d.Seconds()
}

// medianDelay returns the median of the delays; 0 if there are none.
func medianDelay(landed []landing) time.Duration {
	return Median(delays(landed))
}

func delays(landed []landing) []time.Duration {
	return each(landed, func(l landing) time.Duration { return l.delay })
}

// Median returns the middle value, the larger of two; zero if there are none.
func Median[T int64 | float64 | time.Duration](values []T) T {
	return quantile(values, 0.5)
}

// quantile returns the value below which a share q of them is; zero if there are none.
func quantile[T int64 | float64 | time.Duration](values []T, q float64) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// MedianDrain returns the median of the drain times that snapshots showed.
func (s Stretch) MedianDrain() time.Duration {
	var drains []time.Duration
	for _, at := range s.Samples {
		if at.Drain > 0 {
			drains = append(drains, at.Drain)
		}
	}
	return Median(drains)
}

// Timeline returns the samples of stretches that followed each other, with times from
// the first one's beginning.
func Timeline(stretches ...Stretch) (samples []Sample) {
	began := time.Duration(0)
	for _, s := range stretches {
		for _, at := range s.Samples {
			at.At += began
			samples = append(samples, at)
		}
		began += s.Took
	}
	return samples
}
