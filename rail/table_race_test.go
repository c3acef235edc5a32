package rail

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Who sees a new version finds the new data: the writer's n-th change makes version
// n, and a count of n.
func TestVersionAfterData(t *testing.T) {
	changes := uint64(20_000)
	if testing.Short() {
		changes = 5_000
	}
	o := newOne(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for seen := uint64(0); seen < changes; {
				version := o.Version()
				v := o.view()
				if !assert.GreaterOrEqual(t, v.Version, version, "the view is at least as new") ||
					!assert.EqualValues(t, v.Version, v.Count, "and is of one moment") ||
					!assert.GreaterOrEqual(t, version, seen, "versions only grow") {
					return
				}
				seen = version
			}
		})
	}
	for range changes {
		o.Update(o.pair, o.now, func(b *Breaker) bool { b.Count++; return false })
	}
	wg.Wait()
}

// Routes come and go, fail, are tried and succeed while the table is full, swept and
// looked at. One trial of a pair is out at a time, the books agree in the end, and
// nothing stays of peers that nobody refers to.
func TestTableRace(t *testing.T) {
	rounds, steps := 6, 3000
	if testing.Short() {
		rounds, steps = 3, 1000
	}
	table := NewTable()
	table.limit = 12
	var clock atomic.Int64
	clock.Store(int64(start))
	now := func() time.Duration { return time.Duration(clock.Load()) }
	const peers, remotes = 8, 3
	var gauges [peers * remotes]atomic.Int64
	var tried, counted atomic.Int64
	pol := policy
	pol.Cooldown, pol.CooldownCap, pol.Threshold = time.Second, 4*time.Second, 2
	work := func(seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		for range steps {
			i := rnd.IntN(peers * remotes)
			pair := Pair{Peer: fmt.Sprint("P", i%peers), Local: "D1", Port: 1, Remote: fmt.Sprint("n", i/peers)}
			clock.Add(int64(rnd.IntN(20)) * int64(time.Millisecond))
			p := table.Join(pair)
			evidence := p.Version()
			switch rnd.IntN(8) {
			case 0, 1, 2:
				q := []QP{{rnd.Uint64N(1000), seed % 2}}
				if p.Report(pair, now(), evidence, q, func(b *Breaker) bool { b.Fail(pol, now(), 1); return true }) {
					counted.Add(1)
				}
			case 3:
				p.Succeeded(pair, policy, now(), 0, evidence, 0)
			case 4, 5: // a trial that ends at once: its lease does not run out
				var trial uint64
				p.Update(pair, now(), func(b *Breaker) bool {
					if at := now(); b.Paused && at >= b.TrialDue() && !b.TrialOut(at) {
						trial = b.StartTrial(at)
						assert.EqualValues(t, 1, gauges[i].Add(1), "trials of %v", pair)
					}
					return false
				})
				if trial == 0 {
					break
				}
				tried.Add(1)
				end := func(f func(*Breaker)) {
					p.Update(pair, now(), func(b *Breaker) bool { gauges[i].Add(-1); f(b); return true })
				}
				if rnd.IntN(2) == 0 {
					end(func(b *Breaker) { b.TrialFailed(pol, trial, now(), 1) })
				} else {
					end(func(b *Breaker) { b.TrialUndecided(trial, now(), 0) })
				}
			case 6:
				v := p.View(pair)
				assert.GreaterOrEqual(t, v.Version, v.Evidence)
				assert.GreaterOrEqual(t, v.Version, evidence)
			case 7:
				for _, l := range table.List() {
					assert.LessOrEqual(t, l.Evidence, l.Version)
				}
				table.Look(pair)
				assert.GreaterOrEqual(t, table.Stats().Peers, 1)
				table.Sweep(now())
			}
			p.Leave(pair)
		}
	}
	for round := range rounds {
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() { work(uint64(10*round + w)) })
		}
		wg.Wait()
		clock.Add(int64(sweepEvery)) // not while trials are out: their leases would run out
		all := table.List()
		s := table.Stats()
		assert.Len(t, all, s.Entries, "entries that are counted and entries that are there")
		with := map[string]bool{}
		for _, l := range all {
			with[l.Pair.Peer] = true
		}
		assert.Len(t, with, s.Peers, "a peer without a route is there for its entries")
	}
	clock.Add(int64(3 * time.Hour))
	table.Sweep(now())
	assert.Equal(t, Stats{GivenUp: table.Stats().GivenUp}, table.Stats())
	assert.Positive(t, table.Stats().GivenUp)
	assert.Positive(t, tried.Load())
	t.Logf("%d failures counted, %d trials, %d entries given up", counted.Load(), tried.Load(), table.Stats().GivenUp)
}

// A pause that is over when a full table looks for what to give up, and runs again
// when it drops it, is not to be dropped.
func TestGiveUpRace(t *testing.T) {
	const limit = 2000
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	now := start + time.Hour
	for round := range rounds {
		table := NewTable()
		table.limit = limit
		pair := Pair{Peer: "oldest", Local: "D1", Port: 1, Remote: "n1"}
		for i := range limit - 1 {
			table.Join(Pair{Peer: strconv.Itoa(i), Local: "D1", Port: 1, Remote: "n1"})
			record(table, strconv.Itoa(i), start, pauses)
		}
		p := table.Join(pair)
		record(table, "oldest", start-time.Second, pauses)
		done := make(chan bool)
		go func() {
			record(table, "one more", now, pauses)
			done <- true
		}()
		time.Sleep(time.Duration(round) * 10 * time.Microsecond)
		escalated := false
		p.Update(pair, now, func(b *Breaker) bool {
			if b.Paused {
				b.Escalate(policy, now, 1)
				escalated = true
			}
			return true
		})
		<-done
		if escalated && !assert.True(t, table.Look(pair).Paused, "round %d: it runs for another minute", round) {
			return
		}
	}
}
