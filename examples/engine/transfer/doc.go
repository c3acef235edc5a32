// Package transfer is a small transfer engine: it moves buffers to and from
// objects of a peer with RDMA WRITE and READ, over all NICs of both sides, under
// the admission of a [cc.Controller].
//
//	ctl, err := cc.New(numbers, cc.WithPauses(rail.Shared()))
//	e, err := transfer.New(host, ctl, transfer.DefaultConfig())
//	peer, err := e.Connect(ctx, conn)              // conn: a control connection to a Server
//	b, err := e.NewBuffer(64 << 20)
//	report, err := peer.Put(ctx, "weights", b)     // moved, and compared by checksum
//	report.Task                                    // what the transfer met on its way
//	err = e.Close()                                // every permit is back
//
// # How the library is taken in
//
//  1. There is one controller in a process; where there are several, they share what
//     they learn of a pair through the pause table of cc.WithPauses.
//  2. The two sides describe their NICs to each other, and rail.NewMap tells which pairs
//     may be used. Each of these has a rail: its route, kept with the pair's endpoint.
//     See messages.go, peer.go (greet, layRails) and rail.go.
//  3. The permit is part of the slice, and the task part of the transfer: no
//     allocation, and a retry uses the same permit. See slice.go and transfer.go.
//  4. When an endpoint has been built, its QPs are named to Route.Renew, which hands
//     out the generation. See endpoint.go (build) and rail.go (keepBuilt).
//  5. Once in a round of offers, Map.Select puts the rails in order, given the states of
//     their routes and the bytes in flight. Slices take turns on those that are equally
//     good. See candidates.go.
//  6. Right before the post, Route.TryAcquire asks for the slice's bytes. Admit: the
//     slice joins the list of a QP. Defer and Avoid: it stays in the queue, the rail is
//     passed over for the rest of the round and the next one is asked, which is also what
//     the hint Divert asks for. The hint NeedRenew has a new endpoint built: a pair in
//     quarantine is tried on a fresh one. See post.go (place, admit).
//  7. Permit.Posting stamps each slice of a list, Permit.Unposted gives back those
//     that the verb did not take. See flush.go.
//  8. wr_id is the slice's slot and the permit's use number, so that a late
//     completion is told from one of the slot's next owner. See slots.go.
//  9. Each completion goes to Permit.Settle with its status. A failed slice asks
//     another rail, if its verdict says that another attempt can help. See poll.go and
//     retry.go.
//  10. Deadlines, cancels and teardowns go to Settle too. Only a completion or a
//     teardown brings the bytes back, and only then is the slice tried again or its
//     buffer free. See sweep.go.
//  11. A failed QP takes its endpoint out of use, and the next generation is built
//     while the old one drains. See rail.go (retire) and sweep.go (drained).
//  12. Asynchronous events go to Controller.Event; what they reach is built again.
//     See events.go.
//  13. Each CQ has a Poller, which beats whenever its goroutine polls, so that one that
//     stands still is not taken for a network that does. See lane.go and poll.go.
//  14. One goroutine calls Controller.Tick: windows move, and routes that fall silent
//     are found. See monitor.go.
//  15. The prober reads a few bytes over each route that is Controller.Due, with
//     Route.TryProbe. With Config.Prober the controller leaves the trials to it: a path
//     that was repaired comes back, and no transfer had to try it. See prober.go.
//  16. A peer that is closed, or gone, is one for Controller.Forget: its routes go. Who
//     connects again has new ones, and a peer that was restarted has a new incarnation,
//     of which nothing bad is known. See engine.go (join, part).
//
// The engine decides nothing about paths itself: which rail may be used is the
// controller's answer, in which order they are asked is package rail's, and what an
// error means is the verdict's.
//
// # Lanes
//
// Workers and the prober are goroutines with a lane each: one CQ on every NIC, and QPs
// in every endpoint, that nobody else touches. So a slice belongs to one goroutine from
// its queue to its completion, and the data path takes no lock but that of the rail's
// meter.
package transfer
