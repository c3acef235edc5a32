package main

import (
	"fmt"
	"runtime"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/rail"
)

// memoryRoutes is how many idle routes are weighed.
const memoryRoutes = 20_000

// pairs returns that many pairs of a large process: 8 NICs on this machine, 8 on
// each peer, every one with every other.
func pairs(n int) []rail.Pair {
	const nics = 8
	list := make([]rail.Pair, n)
	var local, remote [nics]string
	for i := range nics {
		local[i], remote[i] = fmt.Sprintf("mlx5_%d", i), fmt.Sprintf("mlx5_%d", i)
	}
	var peer string
	for i := range list {
		if i%(nics*nics) == 0 {
			peer = fmt.Sprintf("host-%d", i/(nics*nics))
		}
		list[i] = rail.Pair{Peer: peer, Local: local[i/nics%nics], Port: 1, Remote: remote[i%nics]}
	}
	return list
}

// routeBytes returns the bytes of heap that an idle route takes, without the names
// and handles, which are the caller's: bare, and with an endpoint of one QP.
func routeBytes() (bare, withEndpoint float64, err error) {
	names := pairs(memoryRoutes)
	routes := make([]*cc.Route, memoryRoutes)
	ctl, err := newController(cc.Enforce)
	if err != nil {
		return 0, 0, err
	}
	before := heap()
	for i, pair := range names {
		if routes[i], err = ctl.Route(pair); err != nil {
			return 0, 0, err
		}
	}
	bare = float64(heap()-before) / memoryRoutes
	for _, r := range routes {
		if _, err = r.Renew(0, []cc.QP{{ID: nextQP(), CQ: 1}}); err != nil {
			return 0, 0, err
		}
	}
	withEndpoint = float64(heap()-before) / memoryRoutes
	runtime.KeepAlive(names)
	runtime.KeepAlive(routes)
	runtime.KeepAlive(ctl)
	return bare, withEndpoint, nil
}

// heap returns the bytes that live objects take.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
