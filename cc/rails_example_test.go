package cc_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// Which pair to ask first: a map of both sides' NICs puts them in order, and the routes
// say how each does. When all are out of use the task is told.
func Example_selection() {
	nic := func(name, addr string) rail.NIC {
		return rail.NIC{Name: name, Port: 1, Link: rail.LinkEthernet, Addrs: []netip.Addr{netip.MustParseAddr(addr)}}
	}
	paths, err := rail.NewMap(rail.MapConfig{
		Peer:     "host-b",
		Local:    []rail.NIC{nic("mlx5_0", "10.0.0.1"), nic("mlx5_1", "10.0.1.1")},
		Remote:   []rail.NIC{nic("mlx5_0", "10.0.0.2"), nic("mlx5_1", "10.0.1.2")},
		IPv4Bits: 24, // NICs of other subnets do not reach each other
	})
	if err != nil {
		panic(err)
	}

	var now time.Duration
	ctl, err := cc.New(numbers(), byHand(&now)...)
	if err != nil {
		panic(err)
	}
	defer ctl.Close()
	routes := map[int]*cc.Route{}
	for _, p := range paths.Paths() {
		if p.Excluded == rail.Allowed {
			routes[p.Index], _ = ctl.Route(p.Pair)
		}
	}
	want := rail.Want{
		Standing: func(p *rail.Path) rail.Standing { return routes[p.Index].State().Standing() },
		Load:     func(p *rail.Path) int64 { return routes[p.Index].InFlight() },
	}

	list, outcome := paths.Select(nil, want)
	for _, c := range list {
		fmt.Println(c.Local, "to", c.Remote, c.Standing)
	}
	var task taskstate.Task
	for outcome == rail.Found { // each in turn goes out of use
		route := routes[list[0].Index]
		gen := cc.Generation(0)
		for qp := uint64(21); qp <= 23; qp++ {
			gen = fail(route, gen, qp, &now)
		}
		list, outcome = paths.Select(list, want)
		fmt.Println(outcome, "-", list[0].Local, list[0].Standing)
	}
	task.NoUsablePath(nil)
	fmt.Println(task.State())
	// Output:
	// mlx5_0 to mlx5_0 healthy
	// mlx5_1 to mlx5_1 healthy
	// found - mlx5_1 healthy
	// all paused - mlx5_0 paused
	// LONG_UNAVAILABLE
}
