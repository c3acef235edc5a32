package cc

import (
	"hash/maphash"
	"iter"

	"github.com/rdmagate/rdmagate/rail"
)

// routeIndex finds the route of a pair and the routes to a peer, and holds all routes. The
// controller's lock guards it.
//
// It is a hash table of pointers alone: routes whose pairs fall into one bucket are
// chained through Route.next, and a pair is compared where the route has it. A map
// would keep a second copy of each pair.
type routeIndex struct {
	seed    maphash.Seed
	buckets []*Route // a power of two of them, and at least one for each route
	routes  int
	// peers holds the latest route to each peer, and the others are chained to it. A key is
	// a hash of the name, which two peers may share: a map of names would take twice as much.
	peers map[uint64]*Route
}

// peerName is a peer machine in one incarnation.
type peerName struct{ peer, incarnation string }

func peerOf(p rail.Pair) peerName { return peerName{p.Peer, p.Incarnation} }

// chain returns the key of the chain that routes to a peer are in.
func (x *routeIndex) chain(peer peerName) uint64 { return maphash.Comparable(x.seed, peer) }

// fewestBuckets is the size of an index that has any route; a power of two.
const fewestBuckets = 8

// bucket returns where the chain begins that the pair is in. There are buckets.
func (x *routeIndex) bucket(pair rail.Pair) **Route {
	return &x.buckets[maphash.Comparable(x.seed, pair)&uint64(len(x.buckets)-1)]
}

// find returns the route of a pair, or nil.
func (x *routeIndex) find(pair rail.Pair) *Route {
	if x.routes == 0 {
		return nil
	}
	r := *x.bucket(pair)
	for r != nil && r.pair != pair {
		r = r.next
	}
	return r
}

// add takes in the route of a pair that has none yet.
func (x *routeIndex) add(r *Route) {
	if x.routes == len(x.buckets) {
		x.grow()
	}
	x.routes++
	x.link(r)
	if x.peers == nil {
		x.peers = map[uint64]*Route{}
	}
	key := x.chain(peerOf(r.pair))
	r.nextOfPeer, x.peers[key] = x.peers[key], r
}

// link puts a route at the head of its chain.
func (x *routeIndex) link(r *Route) {
	b := x.bucket(r.pair)
	r.next, *b = *b, r
}

// remove takes a route out that was added.
func (x *routeIndex) remove(r *Route) {
	at := x.bucket(r.pair)
	for *at != r {
		at = &(*at).next
	}
	*at, r.next = r.next, nil
	x.routes--
	key := x.chain(peerOf(r.pair))
	latest := x.peers[key]
	for at = &latest; *at != r; {
		at = &(*at).nextOfPeer
	}
	*at, r.nextOfPeer = r.nextOfPeer, nil
	if x.peers[key] = latest; latest == nil {
		delete(x.peers, key)
	}
}

// grow doubles the buckets.
func (x *routeIndex) grow() {
	old := x.buckets
	if len(old) == 0 {
		x.seed = maphash.MakeSeed()
	}
	x.buckets = make([]*Route, max(fewestBuckets, 2*len(old)))
	for _, r := range old {
		for r != nil {
			next := r.next
			x.link(r)
			r = next
		}
	}
}

// all yields every route, in no order. No route may be added or removed meanwhile.
func (x *routeIndex) all() iter.Seq[*Route] {
	return func(yield func(*Route) bool) {
		for _, r := range x.buckets {
			for ; r != nil; r = r.next {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// to yields the routes to a peer, the latest first. No route may be added or removed
// meanwhile.
func (x *routeIndex) to(peer peerName) iter.Seq[*Route] {
	return func(yield func(*Route) bool) {
		if x.routes == 0 {
			return
		}
		for r := x.peers[x.chain(peer)]; r != nil; r = r.nextOfPeer {
			if peerOf(r.pair) == peer && !yield(r) {
				return
			}
		}
	}
}
