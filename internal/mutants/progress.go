package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress tells every few seconds how far a run is.
type progress struct {
	w         io.Writer
	pkg       string
	total     int
	began     time.Time
	explained func(*mutant) bool
	mu        sync.Mutex
	run       int
	survivors int
	told      time.Time
}

const tellEvery = 5 * time.Second

// done counts a mutant that was run, and tells of it if no test has killed it and nobody
// has explained it.
func (p *progress) done(m *mutant, o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run++
	if o.fate == survived || o.fate == notCovered {
		p.survivors++
		if !p.explained(m) {
			fmt.Fprintf(p.w, "\t%s\n", m.key)
		}
	}
	now := time.Now()
	if now.Sub(p.told) < tellEvery && p.run < p.total {
		return
	}
	p.told = now
	left := now.Sub(p.began) / time.Duration(p.run) * time.Duration(p.total-p.run)
	fmt.Fprintf(p.w, "%s: %d of %d, %d not killed, %s to go\n", p.pkg, p.run, p.total, p.survivors, left.Round(time.Second))
}
