package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// livePeers is how many peers there are at any time.
const livePeers = 256

// fate is how a peer goes.
type fate int

const (
	closes    fate = iota // its route is closed
	forgotten             // Forget
	restarts              // it comes back in another incarnation, which is then forgotten
	suspects              // it failed once; what is known is left to the sweep
	dies                  // it is quarantined, and what is known is left to the sweep
	recovers              // it is quarantined, comes back, and is closed
	abandons              // it is closed with bytes out, which come back later
	misfits               // its metadata is wrong again and again, then a deadline passes
	fates
)

// peer is one machine that comes and goes.
type peer struct {
	fate
	pair rail.Pair
	*route
	s, out slice
}

// peers has machines come and go: first in a burst of failures that fills the pause
// table, then steadily, so that as much is swept as is learnt. From then on the heap is
// the same, however many came.
func peers(c *check) {
	b := newBed(c, nil)
	n := c.n(1_000_000, 20_000)
	burst := n / 100 * 8
	// A hundredth of all peers takes longer than the sweep needs.
	gap := 4200 * time.Second / time.Duration(n/100)
	var live [livePeers]*peer
	var late []*peer // closed, with bytes out
	var most int
	var heaps, entries []point
	marks := map[int]float64{}
	var took []float64 // of each tenth
	began := time.Now()
	for i := range n {
		of := fate(i % int(fates))
		if i < burst {
			b.advance(time.Millisecond)
			of = []fate{suspects, dies, dies}[i%3]
		} else {
			b.advance(gap)
		}
		b.ctl.Tick(b.now())
		if old := live[i%livePeers]; old != nil {
			if b.goes(old); old.fate == abandons {
				late = append(late, old)
			}
		}
		if len(late) > livePeers/8 {
			equal(c, cc.Ended|cc.Released, b.settle(&late[0].out, flush), "a flush after Close releases the bytes")
			late = late[1:]
		}
		live[i%livePeers] = b.comes(i, of)
		if i%64 == 0 {
			most = max(most, b.table.Stats().Entries)
			b.at(float64(i) / float64(n))
		}
		if done := i + 1; done%(n/50) == 0 {
			h := heap()
			heaps = append(heaps, point{float64(done), h / (1 << 20)})
			entries = append(entries, point{float64(done), float64(b.table.Stats().Entries)})
			marks[done*100/n] = h
		}
		if (i+1)%(n/10) == 0 {
			took = append(took, float64(time.Since(began)))
			began = time.Now()
		}
	}
	c.flat("heap when half of the peers came, by that when a tenth had", marks[10], marks[50])
	c.flat("heap when all came, by that when a tenth had", marks[10], marks[100])
	c.shows("bytes that a peer which has gone leaves behind", max(0, marks[100]-marks[10])/(0.9*float64(n)), weight)
	c.atMost(rail.MaxEntries, "most entries in the pause table", float64(most), count)
	// The shortest of some, since others use the machine too. The first is the burst.
	c.atMost(2.5, "time of the last tenths of the peers, by that of the first", slices.Min(took[7:])/slices.Min(took[1:4]), ratio)
	for _, p := range live {
		b.goes(p)
	}
	for _, p := range append(late, live[:]...) {
		b.settle(&p.out, flush)
	}
	b.atRest()
	equal(c, 0, len(b.ctl.Snapshot().Routes), "no route is left when all peers have gone")
	b.tick(2 * time.Hour)
	equal(c, rail.Stats{GivenUp: b.table.Stats().GivenUp}, b.table.Stats(), "the table is empty when all is swept")
	c.draws(series{"peers", "heap, MiB", "peers that came", "", heaps})
	c.draws(series{"peers", "entries of the table, thousands", "", "", thousands(entries)})
}

func thousands(points []point) (list []point) {
	for _, p := range points {
		list = append(list, point{p.x, p.y / 1000})
	}
	return list
}

// comes has peer number i come, transfer, and meet the beginning of its fate.
func (b *bed) comes(i int, of fate) *peer {
	p := &peer{fate: of, pair: pair(fmt.Sprint("host-", i), i%4, i%8)}
	p.route = b.route(p.pair)
	b.transfers(p.route, &p.s, 3)
	switch of {
	case suspects:
		b.fails(p.route, &p.s, retryExc)
		equal(b.check, cc.Suspect, p.State(), "a route that failed once is SUSPECT")
	case dies, recovers:
		b.quarantined(p.route, &p.s)
	case misfits:
		for range 3 {
			b.fails(p.route, &p.s, classify.Completion(classify.StatusRemAccessErr, 0x88))
		}
		equal(b.check, cc.Healthy, p.State(), "remote metadata says nothing about a path")
		b.fails(p.route, &p.s, deadline)
	}
	return p
}

// goes has a peer meet the end of its fate.
func (b *bed) goes(p *peer) {
	switch p.fate {
	case forgotten:
		equal(b.check, 1, b.ctl.Forget(p.pair.Peer, ""), "Forget closes the peer's route")
		return
	case restarts:
		equal(b.check, 1, b.ctl.Forget(p.pair.Peer, ""), "Forget closes the peer's route")
		next := p.pair
		next.Incarnation = "2"
		b.transfers(b.route(next), &p.s, 3)
		equal(b.check, 1, b.ctl.Forget(p.pair.Peer, "2"), "Forget closes the new incarnation's route")
		return
	case recovers:
		// Its cooldown is over unless the peers come in a burst.
		if d := p.ask(&p.out, 4*kib); d.Admitted() {
			b.works(p.out.permit.Posting(p.qp, b.now()), "Posting of a trial")
			b.settle(&p.out, success)
			equal(b.check, cc.Healthy, p.State(), "a trial that succeeds makes the route HEALTHY")
		} else {
			b.must(d.Reason == classify.ReasonPathQuarantined, "a quarantined route says so", "%s", d)
		}
	case abandons:
		b.post(p.route, &p.out, 64*kib)
	}
	p.Close()
}
