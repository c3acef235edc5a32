package cc

import (
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func indexPair(i int) rail.Pair {
	return rail.Pair{Peer: fmt.Sprint("P", i/64), Local: fmt.Sprint("D", i/8%8), Port: 1, Remote: fmt.Sprint("n", i%8)}
}

// Whatever was added is found, before and after each growth, and nothing else is.
func TestRouteIndex(t *testing.T) {
	var x routeIndex
	assert.Nil(t, x.find(indexPair(0)), "in an empty index")
	var added []*Route
	for n := range 5 * fewestBuckets {
		assert.Nil(t, x.find(indexPair(n)), "pair %d before it was added", n)
		r := &Route{pair: indexPair(n)}
		x.add(r)
		added = append(added, r)
		for i, r := range added {
			require.Same(t, r, x.find(indexPair(i)), "pair %d of %d", i, n+1)
		}
	}
	var all []*Route
	for r := range x.all() {
		all = append(all, r)
	}
	assert.ElementsMatch(t, added, all, "every route once")
	assert.Len(t, x.buckets, 8*fewestBuckets, "buckets for %d routes", len(added))
}

// Pairs that differ in one field only are different, wherever their chains begin.
func TestRouteIndexComparesWholePairs(t *testing.T) {
	pair := rail.Pair{Peer: "P", Incarnation: "1", Local: "D1", Port: 1, Remote: "n1"}
	others := []rail.Pair{pair, pair, pair, pair, pair}
	others[0].Peer = "Q"
	others[1].Incarnation = "2"
	others[2].Local = "D2"
	others[3].Port = 2
	others[4].Remote = "n2"
	x := routeIndex{seed: maphash.MakeSeed(), buckets: make([]*Route, 1), routes: 1} // one chain
	r := &Route{pair: pair}
	x.link(r)
	for _, other := range others {
		assert.Nil(t, x.find(other), "%+v", other)
	}
	for _, other := range others {
		x.link(&Route{pair: other})
	}
	assert.Same(t, r, x.find(pair), "at the end of the chain")
}

// Whatever is removed is gone, wherever it is in its chains, and the others stay.
func TestRouteIndexRemoves(t *testing.T) {
	for gone := range fewestBuckets {
		var x routeIndex
		var routes []*Route
		for i := range fewestBuckets { // some of them share a bucket, and all their peer
			routes = append(routes, &Route{pair: indexPair(i)})
			x.add(routes[i])
		}
		x.remove(routes[gone])
		assert.Equal(t, fewestBuckets-1, x.routes)
		assert.Nil(t, routes[gone].next)
		assert.Nil(t, routes[gone].nextOfPeer)
		for i, r := range routes {
			if i == gone {
				r = nil
			}
			assert.Same(t, r, x.find(indexPair(i)), "route %d when %d is gone", i, gone)
		}
		assert.Len(t, slices.Collect(x.to(peerOf(indexPair(0)))), fewestBuckets-1)
	}
}

func TestRouteIndexAllStopsWhenAsked(t *testing.T) {
	var x routeIndex
	for i := range 3 {
		x.add(&Route{pair: indexPair(i)})
	}
	seen := 0
	for range x.all() {
		if seen++; seen == 2 {
			break
		}
	}
	assert.Equal(t, 2, seen)
}

// Routes to a peer are found also when another peer's name has the same hash.
func TestRouteIndexByPeer(t *testing.T) {
	var x routeIndex
	assert.Empty(t, slices.Collect(x.to(peerName{"P", ""})), "in an empty index")
	pair := rail.Pair{Peer: "P", Local: "D1", Port: 1, Remote: "n1"}
	first := &Route{pair: pair}
	x.add(first)
	pair.Remote = "n2"
	second := &Route{pair: pair}
	x.add(second)
	pair.Incarnation = "2"
	other := &Route{pair: pair}
	x.add(other)
	x.peers[x.chain(peerOf(first.pair))], other.nextOfPeer = other, second // as if it had
	assert.Equal(t, []*Route{second, first}, slices.Collect(x.to(peerName{"P", ""})))
	x.remove(first)
	assert.Equal(t, []*Route{second}, slices.Collect(x.to(peerName{"P", ""})))
	x.remove(second)
	assert.Empty(t, slices.Collect(x.to(peerName{"P", ""})))
	assert.Equal(t, []*Route{other}, slices.Collect(x.to(peerName{"P", "2"})))
}
