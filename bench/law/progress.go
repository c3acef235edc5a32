package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// progress tells how far the runs are, and when they will be through: a run is taken
// to be as long as those of its experiment before it, and of an experiment that was not
// begun yet, as long as a run was so far.
type progress struct {
	w    io.Writer
	left map[string]int           // runs of an experiment
	took map[string]time.Duration // by its runs so far
	ran  map[string]int
}

func newProgress(w io.Writer, chosen []fabriclab.Experiment, o *options) *progress {
	p := &progress{w: w, left: map[string]int{}, took: map[string]time.Duration{}, ran: map[string]int{}}
	for _, e := range chosen {
		p.left[e.Name] = len(o.asked(e)) * o.seeds
	}
	return p
}

func (p *progress) show(e fabriclab.Experiment, arm string, seed uint64, seeds int) {
	runs := 0
	for _, n := range p.left {
		runs += n
	}
	eta := "no estimate yet"
	if d := p.remaining(); d > 0 {
		eta = "about " + d.Round(time.Second).String()
	}
	fmt.Fprintf(p.w, "\r%s: %s, seed %d of %d; %d runs to go, %s \x1b[K", e.Name, arm, seed+1, seeds, runs, eta)
}

func (p *progress) done(e fabriclab.Experiment, took time.Duration) {
	p.left[e.Name]--
	p.ran[e.Name]++
	p.took[e.Name] += took
}

// remaining estimates the time that the rest takes; 0 if nothing has run.
func (p *progress) remaining() (d time.Duration) {
	var took time.Duration
	ran := 0
	for name, n := range p.ran {
		ran += n
		took += p.took[name]
	}
	if ran == 0 {
		return 0
	}
	for name, left := range p.left {
		if n := p.ran[name]; n > 0 {
			d += p.took[name] / time.Duration(n) * time.Duration(left)
		} else {
			d += took / time.Duration(ran) * time.Duration(left)
		}
	}
	return d
}

// clear takes the line away.
func (p *progress) clear() { fmt.Fprint(p.w, "\r\x1b[K") }
