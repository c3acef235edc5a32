// Package chaos lets the example engine run under a schedule of faults, and checks all
// the time, and when everything is quiet again, that nothing was lost.
//
//	s := chaos.Generate(seed, chaos.SimPace())  // what goes wrong, where, when, how long
//	bed, err := chaos.NewSimBed(s.Setup)        // or OpenGuestBed: real verbs
//	site, err := chaos.Start(ctx, bed, s.Setup) // controller, engine, servers, endpoints
//	result, err := site.Round(ctx, s)           // the faults, the load, the checks
//	err = site.Close()
//
// # Topology
//
// Host A posts, to two peers. Each side has some rail NICs and a management NIC, which
// cannot reach the other side's rail NICs: the pairs of a management NIC with a rail
// NIC are dead from the start to the end. A simulated peer has NICs of its own; in the
// guest there is one host B, and both peers are servers on its NICs.
//
// # A round
//
// Streams of transfers run while the faults of a [Schedule] begin and end. When the last
// one is over the load goes on until every route has recovered, or should have. Then the
// load ends, and the quiet moment that follows is compared with the one before.
//
// # What is checked
//
// See [Invariant]. A [Watch] between the engine and its NICs counts what is really on the
// wire, so that the controller's books are compared with something else than themselves.
package chaos
