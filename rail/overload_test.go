package rail

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// paces returns the times of two functions, each the shortest of some turns.
func paces(turns int, f, g func()) (least [2]time.Duration) {
	least = [2]time.Duration{math.MaxInt64, math.MaxInt64}
	for range turns {
		for i, f := range []func(){f, g} {
			began := time.Now()
			f()
			least[i] = min(least[i], time.Since(began))
		}
	}
	return least
}

// noSlower fails when a table that is full takes more than ten times as long as one that
// is half full. A busy machine may spoil a turn, but not all of them.
func noSlower(t *testing.T, what string, full, half func()) {
	t.Helper()
	const turns, attempts = 3, 3
	var seen []string
	for range attempts {
		took := paces(turns, full, half)
		if took[0] <= 10*took[1] {
			return
		}
		seen = append(seen, fmt.Sprint(took))
	}
	assert.Fail(t, "cost grows", "%s, with a full table and a half full one: %s", what, seen)
}

// flood is a table that failures of ever new pairs come to, on a clock of its own.
type flood struct {
	*Table
	now  time.Duration
	made int
}

func newFlood(limit, pairs int, over time.Duration) *flood {
	f := &flood{Table: NewTable(), now: start}
	f.limit = limit
	for range pairs {
		f.pause(over / time.Duration(pairs))
	}
	return f
}

// pause pauses the next pair.
func (f *flood) pause(gap time.Duration) {
	f.now += gap
	record(f.Table, fmt.Sprint("host-", f.made), f.now, pauses)
	f.made++
}

// keeps fails if one of the latest pairs is not paused.
func (f *flood) keeps(t *testing.T, latest int) {
	t.Helper()
	for i := f.made - latest; i < f.made; i++ {
		require.True(t, knows(f.Table, fmt.Sprint("host-", i)), "pause %d of %d, which runs", i, f.made)
	}
}

const overloadLimit = 8192

// A table that is full of pauses that run takes more of them, gives up first failures of
// other pairs, and is not slower for it. The long form is in bench/overload.
func TestOverloadTableFullOfPauses(t *testing.T) {
	full, half := newFlood(overloadLimit, overloadLimit, time.Second), newFlood(overloadLimit, overloadLimit/2, time.Second)
	require.Equal(t, overloadLimit, full.Stats().Entries)
	n := 0
	fail := func(f *flood) func() {
		return func() {
			for range 200 {
				n++
				record(f.Table, fmt.Sprint("once-", n), f.now, counts)
			}
		}
	}
	noSlower(t, "a first failure", fail(full), fail(half))
	assert.Equal(t, overloadLimit, full.Stats().Entries, "there is no room for a count")
	full.keeps(t, full.made)

	pause := func(f *flood) func() {
		return func() {
			for range 100 {
				f.pause(0)
			}
		}
	}
	noSlower(t, "a pause", pause(full), pause(half))
	assert.Equal(t, full.made, full.Stats().Entries, "pauses that run are all kept")
	full.keeps(t, full.made)
}

// As many pauses begin as end, and the table is always about full of those that run: each
// new one would find little that can be given up.
func TestOverloadPausesBeginAsOthersEnd(t *testing.T) {
	const cooldown = 30 * time.Second
	full, half := newFlood(overloadLimit, overloadLimit, cooldown), newFlood(overloadLimit, overloadLimit/2, cooldown)
	most := 0
	pause := func(f *flood, gap time.Duration) func() {
		return func() {
			for range 512 {
				f.pause(gap)
				most = max(most, f.Stats().Entries)
			}
		}
	}
	noSlower(t, "a pause", pause(full, cooldown/overloadLimit), pause(half, 2*cooldown/overloadLimit))
	full.keeps(t, overloadLimit-1)
	assert.LessOrEqual(t, most, overloadLimit*9/8+1, "entries while no more pauses run than the table holds")

	full.pause(time.Minute)
	assert.LessOrEqual(t, full.Stats().Entries, overloadLimit, "when the pauses are over they are given up")
	full.pause(time.Second)
	full.keeps(t, 1)
	full.Sweep(full.now + 2*time.Hour)
	assert.Zero(t, full.Stats().Entries)
	assert.Zero(t, full.Stats().Peers)
}

// A success ends a pause for each that begins.
func TestOverloadPausesBeginAsSuccessesEndOthers(t *testing.T) {
	full, half := newFlood(overloadLimit, overloadLimit, time.Second), newFlood(overloadLimit, overloadLimit/2, time.Second)
	oldest := map[*flood]int{}
	turn := func(f *flood) func() {
		return func() {
			for range 200 {
				pair := Pair{Peer: fmt.Sprint("host-", oldest[f]), Local: "D1", Port: 1, Remote: "n1"}
				oldest[f]++
				p := f.Join(pair)
				p.Succeeded(pair, policy, f.now, 0, math.MaxUint64, 0)
				p.Leave(pair)
				f.pause(time.Millisecond)
			}
		}
	}
	noSlower(t, "a pause for each that ends", turn(full), turn(half))
	full.keeps(t, overloadLimit/2)
	assert.LessOrEqual(t, full.Stats().Entries, overloadLimit*9/8+1)
}

// A retry time that was measured over a leap of the clock does not keep a pair out: the
// lease of a trial that is lost expires.
func TestOverloadLeaseIsBounded(t *testing.T) {
	for _, retry := range []time.Duration{time.Hour, 24 * time.Hour, math.MaxInt64 / 5, math.MaxInt64 / 3, math.MaxInt64} {
		p := newPath(t)
		p.LongestRetry = retry
		p.fail(3)
		p.try()
		p.advance(maxTrialLease)
		assert.False(t, p.TrialOut(p.now), "longest retry time %v", retry)
	}
}
