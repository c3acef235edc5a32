package main

import (
	"fmt"
	"math"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/rail"
)

// publisher is a process's pause table that failures of ever new pairs come to.
type publisher struct {
	*check
	table *rail.Table
	now   time.Duration
	pol   rail.Policy
	made  int // pairs
}

func newPublisher(c *check) *publisher {
	cfg := cc.DefaultConfig()
	return &publisher{check: c, table: rail.NewTable(), now: time.Hour, pol: rail.Policy{
		Threshold: cfg.HardErrorThreshold, ErrorWindow: cfg.ErrorWindow,
		Cooldown: cfg.Cooldown, CooldownCap: cfg.CooldownCap, ProbeInterval: cfg.ProbeInterval,
	}}
}

// pairsOfAPeer is how many pairs of a peer are paused.
const pairsOfAPeer = 8

func (p *publisher) pair(i int) rail.Pair {
	return pair(fmt.Sprint("host-", i/pairsOfAPeer), i%pairsOfAPeer, i%nics)
}

// fails has a QP of the next pair fail, which is counted.
func (p *publisher) fails() {
	p.report(func(b *rail.Breaker) { b.Fail(p.pol, p.now, 1) })
}

// pauses has a QP of the next pair fail, which pauses it, and returns the pair. In a full
// table there is no room for a count that leads there.
func (p *publisher) pauses() rail.Pair {
	return p.report(func(b *rail.Breaker) { b.Pause(p.pol, p.now, 1) })
}

func (p *publisher) report(f func(*rail.Breaker)) rail.Pair {
	of := p.pair(p.made)
	p.made++
	peer := p.table.Join(of)
	peer.Report(of, p.now, peer.Version(), []rail.QP{{Number: uint64(p.made)}}, func(b *rail.Breaker) bool {
		f(b)
		return true
	})
	peer.Leave(of)
	return of
}

// fill has pairs fail until so many are paused, with the same time between two.
func (p *publisher) fill(pairs int, over time.Duration) {
	for range pairs {
		p.now += over / time.Duration(pairs)
		p.pauses()
	}
}

// running ends the case if one of the pairs from first on, whose pauses run, is not
// paused.
func (p *publisher) running(first int, rule string) {
	for i := first; i < p.made; i++ {
		if v := p.table.Look(p.pair(i)); !v.Paused {
			p.must(false, rule, "pair %d of %d, after %d were paused", i, p.made, p.made-first)
		}
	}
	p.rules++
}

// pace returns the time of so many calls of slow by that of as many of fast, the shortest
// of some turns.
func pace(turns, calls int, slow, fast func()) float64 {
	many := func(f func()) func() {
		return func() {
			for range calls {
				f()
			}
		}
	}
	t := fastest(turns, many(slow), many(fast))
	return t[0] / t[1]
}

// pauses fills a table with pauses that run, and goes on. The table has one size, so this
// case is as large at every scale.
func pauses(c *check) {
	const turns, rounds = 3, 2000
	half, full := newPublisher(c), newPublisher(c)
	empty := heap()
	half.fill(rail.MaxEntries/2, time.Second)
	full.fill(rail.MaxEntries, time.Second)
	c.shows("bytes of a paused pair, eight to a peer", (heap()-empty)/(1.5*rail.MaxEntries), weight)
	equal(c, rail.MaxEntries, full.table.Stats().Entries, "entries of a full table")
	c.at(0.2)

	// Counts of new pairs: there is no room for them.
	rest := func(p *publisher) func() { return func() { p.fails() } }
	c.atMost(growth, "a first failure, with a full table, by a half full one", pace(turns, rounds, rest(full), rest(half)), ratio)
	equal(c, rail.MaxEntries, full.table.Stats().Entries, "entries of a full table that counts come to")
	equal(c, turns*rounds, int(full.table.Stats().GivenUp), "counts that are given up")
	made := full.made
	full.made = rail.MaxEntries
	full.running(0, "no pause that runs is given up for a count")
	full.made = made
	c.at(0.3)

	// Pauses of new pairs: they are kept, beyond the limit.
	pause := func(p *publisher) func() { return func() { p.pauses() } }
	first := full.made
	c.atMost(growth, "a pause, with a full table, by a half full one", pace(turns, rounds, pause(full), pause(half)), ratio)
	full.running(first, "no pause that runs is given up for another")
	c.at(0.4)

	full, half = newPublisher(c), newPublisher(c)
	c.steady(full, half)
	c.at(0.7)
	c.ended()
}

// steady has pauses begin as fast as others end: as many run as the table holds.
func (c *check) steady(full, half *publisher) {
	gaps := map[*publisher]time.Duration{full: full.pol.Cooldown / rail.MaxEntries, half: half.pol.Cooldown / (rail.MaxEntries / 2)}
	most := 0
	next := func(p *publisher) func() {
		return func() {
			p.now += gaps[p]
			p.pauses()
			most = max(most, p.table.Stats().Entries)
		}
	}
	full.fill(rail.MaxEntries, full.pol.Cooldown)
	half.fill(rail.MaxEntries/2, half.pol.Cooldown)
	c.atMost(growth, "a pause while as many end, with a full table, by a half full one", pace(4, rail.MaxEntries/8, next(full), next(half)), ratio)
	full.running(full.made-rail.MaxEntries+1, "no pause that runs is given up for another")
	c.atMost(rail.MaxEntries*9/8+1, "most entries while no more pauses run than the table holds", float64(most), count)

	// When the pauses are over, and nobody tries the pairs, there is room for others.
	full.now += time.Minute
	full.pauses()
	full.now += time.Second
	of := full.pauses()
	c.must(full.table.Look(of).Paused, "a pair that fails is paused when the others' pauses are over", "%+v", full.table.Look(of))
	c.atMost(rail.MaxEntries, "entries when the pauses are over", float64(full.table.Stats().Entries), count)
	full.now += 2 * time.Hour
	full.table.Sweep(full.now)
	equal(c, 0, full.table.Stats().Entries, "entries when all is swept")
}

// ended has a success end a pause for each that begins.
func (c *check) ended() {
	full, half := newPublisher(c), newPublisher(c)
	full.fill(rail.MaxEntries, time.Second)
	half.fill(rail.MaxEntries/2, time.Second)
	oldest := map[*publisher]int{}
	next := func(p *publisher) func() {
		return func() {
			of := p.pair(oldest[p])
			oldest[p]++
			peer := p.table.Join(of)
			peer.Succeeded(of, p.pol, p.now, 0, math.MaxUint64, 0)
			peer.Leave(of)
			p.now += time.Millisecond
			p.pauses()
		}
	}
	c.atMost(growth, "a pause for each that a success ends, with a full table, by a half full one", pace(3, 3000, next(full), next(half)), ratio)
	full.running(oldest[full], "no pause that runs is given up for another")
	c.atMost(rail.MaxEntries*9/8+1, "most entries when as many pauses end", float64(full.table.Stats().Entries), count)
}
