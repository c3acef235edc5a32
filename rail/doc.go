// Package rail names the paths that transfers take, says which to take first, and keeps
// what a process knows of their failures.
//
// A [Pair] is the key of one path: a local NIC and port to a remote NIC of a peer
// machine. Everything that is learnt about a path - its window, its health, a
// process-wide pause - is kept under this key.
//
// # Which path first
//
// A [Map] holds the paths between the NICs of two machines. It never changes; asking it
// changes nothing.
//
//	local := discover.Local(found)            // the ports of this machine; to the peer, as JSON
//	remote, notes := rail.Devices(theirs)     // the peer's: one port of each device
//	paths, err := rail.NewMap(rail.MapConfig{Peer: "host-b", Local: local, Remote: remote, IPv4Bits: 24})
//	for _, p := range paths.Paths() {
//		if p.Excluded == rail.Allowed {
//			routes[p.Index], err = ctl.Route(p.Pair)
//		}
//	}
//
//	list, outcome = paths.Select(list, rail.Want{ // before each transfer, or round of slices
//		Local: node, Turn: worker,
//		Standing: func(p *rail.Path) rail.Standing { return routes[p.Index].State().Standing() },
//		Load:     func(p *rail.Path) int64 { return routes[p.Index].InFlight() },
//	})
//	switch outcome {
//	case rail.AllPaused: // wait, or take another transport
//		task.NoUsablePath(nil)
//	case rail.NoPath: // none is allowed: waiting does not help; paths.Explain tells why
//		return errNoPath
//	}
//
// Same rail first, then near the buffers, then what is done first; suspect and paused
// paths last. A choice says what may be used, not that there is room: while all that are
// left are suspect, each admission may be deferred. A [File] pins the pairs.
//
// # What is known of failures
//
// A [Table] holds the verdicts. Each pair has a [Breaker]: failures in a row lead to a
// pause, one trial at a time ends it. What one worker reports, all the others take in when
// they see a new [Peer.Version]; while nothing is wrong, that costs them one load.
// Controllers share a table by cc.WithPauses, usually [Shared], and make all the calls.
// An engine without a controller makes them itself:
//
//	peer := table.Join(pair)                        // a route begins
//	if peer.Version() != seen { ... peer.View(pair) } // before a post: something changed
//	peer.Report(pair, now, posted, qps, fail)       // a failure, with Breaker.Fail
//	peer.Update(pair, now, lease)                   // a trial, with Breaker.StartTrial
//	peer.Succeeded(pair, policy, now, 0, posted, trial) // a success ends what it came after
//	peer.Leave(pair)                                // the route ends
//	table.Sweep(now)                                // now and then
//
// An entry lives while its pause runs and up to an hour longer. A peer that was restarted
// has another Incarnation, and a clean record.
//
// The package is pure Go, imports no network code and builds on every platform.
package rail
