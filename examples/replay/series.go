package main

import (
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/replay"
)

// series is what one route did over time, in cells that become wider as time goes on: its
// memory is bounded.
type series struct {
	width time.Duration
	cells []cell // in order; those in which nothing was seen are left out
}

// mostCells is how many cells there are at most: about one for a pixel.
const mostCells = 2048

// cell is a short time.
type cell struct {
	number           int64 // it begins at number times width
	seen             bool
	window, inFlight extent
	answers          [cc.Avoid + 1]uint32
}

// extent is what a number was in a cell.
type extent struct{ least, most, last int64 }

func (e *extent) add(n int64) { *e = extent{min(e.least, n), max(e.most, n), n} }

// at returns the cell of a moment.
func (s *series) at(t time.Duration) *cell {
	if s.width == 0 {
		s.width = time.Microsecond
	}
	for int64(t/s.width) >= mostCells {
		s.widen()
	}
	n := int64(t / s.width)
	if k := len(s.cells); k > 0 && s.cells[k-1].number >= n {
		return &s.cells[k-1]
	}
	s.cells = append(s.cells, cell{number: n})
	return &s.cells[len(s.cells)-1]
}

// widen makes one cell of two.
func (s *series) widen() {
	s.width *= 2
	kept := s.cells[:0]
	for _, c := range s.cells {
		c.number /= 2
		if k := len(kept); k > 0 && kept[k-1].number == c.number {
			kept[k-1].merge(&c)
			continue
		}
		kept = append(kept, c)
	}
	s.cells = kept
}

func (c *cell) merge(next *cell) {
	for i, n := range next.answers {
		c.answers[i] += n
	}
	switch {
	case !next.seen:
	case !c.seen:
		c.seen, c.window, c.inFlight = true, next.window, next.inFlight
	default:
		c.window.join(next.window)
		c.inFlight.join(next.inFlight)
	}
}

func (e *extent) join(next extent) {
	*e = extent{min(e.least, next.least), max(e.most, next.most), next.last}
}

// look takes in how the route is.
func (s *series) look(now replay.Shown, at time.Duration) {
	c := s.at(at)
	if !c.seen {
		c.seen = true
		c.window = extent{now.WindowBytes, now.WindowBytes, now.WindowBytes}
		c.inFlight = extent{now.InFlightBytes, now.InFlightBytes, now.InFlightBytes}
		return
	}
	c.window.add(now.WindowBytes)
	c.inFlight.add(now.InFlightBytes)
}

// decided takes in an answer of admission.
func (s *series) decided(a cc.Answer, at time.Duration) { s.at(at).answers[a]++ }
