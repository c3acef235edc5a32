package rail

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// record makes an entry of a pair to that peer, and leaves. threshold 1 pauses it,
// and a failure that succeeded leaves a lifted one.
func record(t *Table, peer string, now time.Duration, threshold int) {
	pol := policy
	pol.Threshold = threshold
	pair := Pair{Peer: peer, Local: "D1", Port: 1, Remote: "n1"}
	p := t.Join(pair)
	defer p.Leave(pair)
	p.Report(pair, now, p.Version(), []QP{fresh()}, func(b *Breaker) bool { b.Fail(pol, now, 1); return true })
}

const counts, pauses = 3, 1 // thresholds

func knows(t *Table, peer string) bool {
	return t.Look(Pair{Peer: peer, Local: "D1", Port: 1, Remote: "n1"}).Breaker != Breaker{}
}

// Nothing is kept of pairs that are well; peers are there while a route refers to
// them.
func TestHealthyPairHasNoEntry(t *testing.T) {
	table := NewTable()
	p := table.Join(pairOfTests)
	assert.Equal(t, Stats{Peers: 1}, table.Stats())
	other := pairOfTests
	other.Local, other.Port, other.Remote = "D2", 2, "n2"
	assert.Same(t, p, table.Join(other), "one record for all pairs of a peer")
	assert.Equal(t, View{}, table.Look(pairOfTests))
	assert.Empty(t, table.List())
	p.Leave(other)
	assert.Equal(t, Stats{Peers: 1}, table.Stats(), "one route refers to it still")
	p.Leave(pairOfTests)
	assert.Zero(t, table.Stats())
}

// Looking at what is not there makes nothing.
func TestLookChangesNothing(t *testing.T) {
	table := NewTable()
	assert.Equal(t, View{}, table.Look(pairOfTests))
	assert.Zero(t, table.Stats())
}

// Only the very pair that failed is paused, and only the incarnation of the peer
// that it was.
func TestPairsAreApart(t *testing.T) {
	o := newOne(t)
	for range 3 {
		o.fail()
	}
	assert.True(t, o.table.Look(o.pair).Paused)
	for _, change := range []func(*Pair){
		func(p *Pair) { p.Peer = "Q" }, func(p *Pair) { p.Incarnation = "2" }, func(p *Pair) { p.Local = "D10" },
		func(p *Pair) { p.Port = 2 }, func(p *Pair) { p.Remote = "n10" },
		func(p *Pair) { p.Peer, p.Incarnation = "", "P" }, func(p *Pair) { p.Local, p.Remote = p.Remote, p.Local },
	} {
		other := o.pair
		change(&other)
		assert.False(t, o.table.Look(other).Paused, "%v", other)
	}
	assert.NotSame(t, o.Peer, o.table.Join(Pair{Peer: "P", Incarnation: "2", Local: "D1", Port: 1, Remote: "n1"}))
}

// What is known outlives the routes, and meets who joins later.
func TestKnowledgeOutlivesRoutes(t *testing.T) {
	table := NewTable()
	record(table, "P", start, pauses)
	assert.Equal(t, Stats{Peers: 1, Entries: 1}, table.Stats())
	p := table.Join(pairOfTests)
	assert.True(t, p.View(pairOfTests).Paused)
	assert.NotZero(t, p.Version(), "so a new route looks")
}

func TestList(t *testing.T) {
	table := NewTable()
	for _, peer := range []string{"Q", "P", "R"} {
		record(table, peer, start, pauses)
	}
	p := table.Join(pairOfTests)
	other := pairOfTests
	other.Local = "D0"
	p.Update(other, start, func(b *Breaker) bool { b.Fail(policy, start, 1); return true })
	all := table.List()
	var names []string
	for _, l := range all {
		names = append(names, l.Pair.Peer+" "+l.Pair.Local)
		assert.Equal(t, table.Look(l.Pair), l.View)
	}
	assert.Equal(t, []string{"P D0", "P D1", "Q D1", "R D1"}, names)
}

func TestSharedIsOne(t *testing.T) {
	assert.Same(t, Shared(), Shared())
}

// What a sweep drops, by what it is, whether routes to the peer exist, and its age.
func TestSweep(t *testing.T) {
	build := map[string]func(*one){
		"count":  func(o *one) { o.fail() },
		"pause":  func(o *one) { o.fail(); o.fail(); o.fail() },
		"lifted": func(o *one) { o.fail(); o.fail(); o.fail(); o.Succeeded(o.pair, policy, o.now, 0, o.Version(), 0) },
		"lifted later": func(o *one) {
			o.fail()
			o.fail()
			o.fail()
			o.now += time.Minute
			o.Succeeded(o.pair, policy, o.now, 0, o.Version(), 0)
		},
		// A trial that another verdict asked for failed: there is no count.
		"escalated": func(o *one) {
			o.Update(o.pair, o.now, func(b *Breaker) bool { b.Escalate(policy, o.now, 1); return true })
		},
		// The next trial, after one that proved nothing, is what counts.
		"tried": func(o *one) {
			o.fail()
			o.fail()
			o.fail()
			n := o.try()
			o.now = start
			o.Update(o.pair, o.now, func(b *Breaker) bool { b.TrialUndecided(n, o.now, time.Minute); return false })
		},
	}
	const hour = time.Hour
	for _, tt := range []struct {
		what   string
		routes bool
		after  time.Duration
		gone   bool
	}{
		{"count", false, hour - 1, false},
		{"count", false, hour, true},
		{"count", true, 10 * hour, false},
		{"pause", false, hour, false},
		{"pause", false, hour + 30*time.Second - 1, false},
		{"pause", false, hour + 30*time.Second, true},
		{"pause", true, 10 * hour, false},
		{"lifted", false, hour - 1, false},
		{"lifted", false, hour, true},
		{"lifted", true, hour - 1, false},
		{"lifted", true, hour, true},
		{"lifted later", false, hour + time.Minute - 1, false},
		{"lifted later", false, hour + time.Minute, true},
		{"escalated", true, 10 * hour, false},
		{"escalated", false, hour + time.Minute, true},
		{"tried", false, hour + time.Minute - 1, false},
		{"tried", false, hour + time.Minute, true},
	} {
		t.Run(fmt.Sprint(tt.what, " routes ", tt.routes, " after ", tt.after), func(t *testing.T) {
			o := newOne(t)
			build[tt.what](o)
			if !tt.routes {
				o.Leave(o.pair)
			}
			version := o.Version()
			o.table.Sweep(start + tt.after)
			assert.Equal(t, tt.gone, o.view().Breaker == Breaker{})
			want := Stats{Peers: 1, Entries: 1}
			if tt.gone {
				want.Entries = 0
				assert.Greater(t, o.Version(), version, "routes have to hear of it")
			}
			if tt.gone && !tt.routes {
				want.Peers = 0
			}
			assert.Equal(t, want, o.table.Stats())
		})
	}
}

// A sweep looks at all entries, so it is made once in five minutes.
func TestSweepIsSeldom(t *testing.T) {
	table := NewTable()
	table.Sweep(start)
	record(table, "P", start-sweepAfter, counts)
	table.Sweep(start + 5*time.Minute - 1)
	assert.True(t, knows(table, "P"))
	table.Sweep(start + 5*time.Minute)
	assert.False(t, knows(table, "P"))
	record(table, "P", start, counts)
	table.Sweep(start)
	table.Sweep(start + sweepAfter)
	assert.False(t, knows(table, "P"), "an earlier now is no sweep")
}

// A full table gives up counts before pauses that are over, what no route refers to
// before the rest, and the oldest first; pauses that run stay.
func TestGiveUpInOrder(t *testing.T) {
	table := NewTable()
	table.limit = 8
	now := start + time.Hour
	for _, peer := range []string{"runs", "count used", "old pause used"} {
		table.Join(Pair{Peer: peer, Local: "D1", Port: 1, Remote: "n1"})
	}
	record(table, "runs", now-29*time.Second, pauses)
	record(table, "old pause used", start, pauses)
	record(table, "old pause", start+2, pauses)
	record(table, "older pause", start+1, pauses)
	record(table, "count used", start, counts)
	record(table, "count", start+4, counts)
	record(table, "older count", start+3, counts)
	record(table, "runs too", now-29*time.Second, pauses)
	require.Equal(t, Stats{Peers: 8, Entries: 8}, table.Stats(), "full, not over")

	var gone []string
	rest := []string{"older count", "count", "count used", "older pause", "old pause", "old pause used", "runs", "runs too"}
	for i := range 3 {
		record(table, fmt.Sprint("new", i), now, pauses) // one more than the limit: two go
		for len(rest) > 0 && !knows(table, rest[0]) {
			gone, rest = append(gone, rest[0]), rest[1:]
		}
		for _, peer := range rest {
			assert.True(t, knows(table, peer), "%s before its turn", peer)
		}
		record(table, fmt.Sprint("next", i), now, pauses)
	}
	assert.Equal(t, []string{"older count", "count", "count used", "older pause", "old pause", "old pause used"}, gone)
	assert.Equal(t, uint64(6), table.Stats().GivenUp)
	for i := range 20 {
		record(table, fmt.Sprint("more", i), now, pauses)
	}
	assert.Equal(t, uint64(6), table.Stats().GivenUp, "pauses that run are all that is left")
	assert.Equal(t, 28, table.Stats().Entries)
	record(table, "late", now+30*time.Second-29*time.Second, pauses)
	assert.False(t, knows(table, "runs"), "its pause is over")
	assert.True(t, knows(table, "new0"))
	_, used := table.peers[peerKey{"count used", ""}]
	assert.True(t, used, "a peer that a route refers to stays")
	_, used = table.peers[peerKey{"count", ""}]
	assert.False(t, used)
}

// A route hears that its pair's entry was given up.
func TestGiveUpIsTold(t *testing.T) {
	table := NewTable()
	table.limit = 1
	p := table.Join(pairOfTests)
	record(table, "P", start, counts)
	version := p.Version()
	record(table, "Q", start, pauses)
	assert.Greater(t, p.Version(), version)
	assert.Zero(t, p.View(pairOfTests).Count)
}

// A full table makes some room at once, and what was learnt last stays.
func TestTableIsBounded(t *testing.T) {
	assert.Equal(t, MaxEntries, NewTable().limit)
	table := NewTable()
	table.limit = 800
	for i := range 800 {
		record(table, strconv.Itoa(i), start, counts)
	}
	assert.Equal(t, Stats{Peers: 800, Entries: 800}, table.Stats())
	record(table, "one more", start+1, counts)
	assert.Equal(t, Stats{Peers: 700, Entries: 700, GivenUp: 101}, table.Stats())
	assert.True(t, knows(table, "one more"))
}

// A million peers that fail and go leave a bounded table, and memory for its entries
// only. The pauses that run outlive all counts.
func TestMillionPeers(t *testing.T) {
	peers := 1_000_000
	if testing.Short() {
		peers = 30_000
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const limit, every = 4096, 100 // each hundredth peer is paused
	const gap = 10 * time.Millisecond
	before := heap()
	table := NewTable()
	table.limit = limit
	now := start
	var full uint64
	for i := range peers {
		threshold := counts
		if i%every == 0 {
			threshold = pauses
		}
		record(table, strconv.Itoa(i), now, threshold)
		now += gap
		if n := table.entries.Load(); n > limit {
			require.LessOrEqual(t, n, int64(limit), "entries after peer %d", i)
		}
		if i%(peers/20) == 0 {
			s := table.Stats()
			require.Equal(t, s.Entries, s.Peers, "peers without an entry that no route refers to")
			for j := i - i%every; j >= 0 && time.Duration(i-j+1)*gap < 30*time.Second; j -= every {
				require.True(t, knows(table, strconv.Itoa(j)), "pause of peer %d, which runs", j)
			}
		}
		if i == peers/5 {
			full = heap() - before
		}
	}
	end := heap() - before
	assert.Less(t, float64(end), 1.3*float64(full), "memory after five times as many peers, over that once the table was full")
	s := table.Stats()
	assert.EqualValues(t, peers, uint64(s.Entries)+s.GivenUp, "each entry is there or was given up")
	t.Logf("%d peers: %d entries, %d given up, %d bytes an entry", peers, s.Entries, s.GivenUp, end/uint64(s.Entries))
	table.Sweep(now + 2*time.Hour)
	assert.Equal(t, Stats{GivenUp: s.GivenUp}, table.Stats())
}

// Counts are given up also while the rest of a full table are pauses that run.
func TestGiveUpBesideRunningPauses(t *testing.T) {
	table := NewTable()
	table.limit = 16
	for i := range 14 {
		record(table, "paused"+strconv.Itoa(i), start, pauses)
	}
	for i := range 1000 {
		record(table, "counted"+strconv.Itoa(i), start, counts)
		require.LessOrEqual(t, table.Stats().Entries, 16)
	}
	for i := range 14 {
		require.True(t, knows(table, "paused"+strconv.Itoa(i)))
	}
	assert.Equal(t, start+30*time.Second, table.fullUntil, "until the first of them is over there is nothing to look for")
}

// The number of a trial is not given again when its entry was dropped meanwhile: its
// late success would end a pause that it knows nothing of.
func TestTrialNumberAfterDrop(t *testing.T) {
	o := newOne(t)
	o.table.limit = 1
	for range 3 {
		o.fail()
	}
	first := o.try()
	old := o.Version()
	o.now += time.Hour
	record(o.table, "Q", o.now, pauses) // the table is full: the pause that is over goes
	require.False(t, o.view().Paused)
	o.table.limit = 2
	for range 3 {
		o.fail()
	}
	assert.NotEqual(t, first, o.try())
	o.Succeeded(o.pair, policy, o.now, 0, old, first)
	assert.True(t, o.view().Paused, "a success of before the pause")
}

// A pause that is over is given up by a full table, but not while its trial is out: there
// would be a second one.
func TestTrialIsNotGivenUp(t *testing.T) {
	table := NewTable()
	table.limit = 1
	pair := Pair{Peer: "P", Local: "D1", Port: 1, Remote: "n1"}
	p := table.Join(pair)
	pol := policy
	pol.Threshold = 1
	p.Update(pair, start, func(b *Breaker) bool { return b.Fail(pol, start, 1) })
	due := table.Look(pair).Resume
	p.Update(pair, due, func(b *Breaker) bool { b.StartTrial(due); return false })
	other := Pair{Peer: "Q", Local: "D1", Port: 1, Remote: "n1"}
	q := table.Join(other)
	q.Update(other, due, func(b *Breaker) bool { return b.Fail(pol, due, 1) })
	assert.True(t, table.Look(pair).Paused, "its trial is out")
	q.Update(other, due, func(b *Breaker) bool { b.TrialSucceeded(policy, 0, due, 0); return false })
	late := due + time.Minute
	third := Pair{Peer: "R", Local: "D1", Port: 1, Remote: "n1"}
	table.Join(third).Update(third, late, func(b *Breaker) bool { return b.Fail(pol, late, 1) })
	assert.False(t, table.Look(pair).Paused, "the lease has expired")
}

// There may be room again by the time that the room is looked for.
func TestTableWithRoomGivesUpNothing(t *testing.T) {
	table := NewTable()
	table.limit = 16
	for i := range 16 {
		record(table, strconv.Itoa(i), start, counts)
		p := table.peers[peerKey{strconv.Itoa(i), ""}]
		table.giveUp(start, p, keyOf(Pair{Local: "D1", Port: 1, Remote: "n1"}))
		require.Equal(t, Stats{Peers: i + 1, Entries: i + 1}, table.Stats())
	}
	table.drop(candidate{peer: table.peers[peerKey{"0", ""}], key: pathKey{local: "gone"}}, start)
	assert.Equal(t, Stats{Peers: 16, Entries: 16}, table.Stats(), "what is gone by then cannot be given up")
}

// What changes nothing gives nothing up, also in a table that is over its limit.
func TestNoChangeGivesUpNothing(t *testing.T) {
	table := NewTable()
	table.limit = 1
	record(table, "P", start, pauses)
	record(table, "Q", start, pauses)
	require.Equal(t, 2, table.Stats().Entries, "both run")
	over := start + time.Hour
	pair := Pair{Peer: "P", Local: "D1", Port: 1, Remote: "n1"}
	table.Join(pair).Update(pair, over, func(b *Breaker) bool { return false })
	assert.Equal(t, 2, table.Stats().Entries)
}

// Pauses that run for long are looked at again after an hour.
func TestFullTableLooksAgain(t *testing.T) {
	table := NewTable()
	table.limit = 1
	pol := policy
	pol.Threshold, pol.Cooldown, pol.CooldownCap = 1, 2*time.Hour, 2*time.Hour
	for _, peer := range []string{"P", "Q"} {
		pair := Pair{Peer: peer, Local: "D1", Port: 1, Remote: "n1"}
		table.Join(pair).Update(pair, start, func(b *Breaker) bool { return b.Fail(pol, start, 1) })
	}
	assert.Equal(t, start+time.Hour, table.fullUntil)
}

// A record that the table has forgotten cannot make it forget the one that took its
// place.
func TestForgottenPeer(t *testing.T) {
	table := NewTable()
	old := table.Join(pairOfTests)
	old.Leave(pairOfTests)
	successor := table.Join(pairOfTests)
	require.NotSame(t, old, successor)
	table.limit = 1
	record(table, "Q", start, pauses)
	record(table, "R", start, pauses) // now the table knows that all others run
	old.Update(pairOfTests, start, func(b *Breaker) bool { b.Fail(policy, start, 1); return true })
	assert.Same(t, successor, table.Join(pairOfTests))
}

// A table that was full of pauses has room again once those were lifted.
func TestFullTableRecovers(t *testing.T) {
	tab := NewTable()
	tab.limit = 4
	pol := Policy{Threshold: 3, ErrorWindow: 10 * time.Second, Cooldown: 300 * time.Second, CooldownCap: 300 * time.Second, ProbeInterval: time.Second}
	now := time.Hour
	pair := func(i int) Pair { return Pair{Peer: "P", Local: fmt.Sprint("d", i), Port: 1, Remote: "n"} }
	p := tab.Join(pair(0))
	for i := range 4 {
		p.Update(pair(i), now, func(b *Breaker) bool { b.Pause(pol, now, 1); return true })
	}
	fail := func(i int) int {
		p.Update(pair(i), now, func(b *Breaker) bool { b.Fail(pol, now, 1); return true })
		return p.View(pair(i)).Count
	}
	fail(9)
	now += time.Second
	for i := range 4 {
		p.Succeeded(pair(i), policy, now, 0, p.Version(), 0)
	}
	for range 3 {
		now += time.Second
		fail(9)
	}
	if v := p.View(pair(9)); !v.Paused {
		t.Errorf("three failures in a row, count %d, paused %v: the table holds %d entries, of which no one is paused", v.Count, v.Paused, tab.Stats().Entries)
	}
}
