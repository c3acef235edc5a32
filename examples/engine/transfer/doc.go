// Package transfer is a small transfer engine: it moves buffers to and from
// objects of a peer with RDMA WRITE and READ, over all NICs of both sides, under
// the admission of a [cc.Controller].
//
//	ctl, err := cc.New(numbers)                    // one per process
//	e, err := transfer.New(host, ctl, transfer.DefaultConfig())
//	peer, err := e.Connect(ctx, conn)              // conn: a control connection to a Server
//	b, err := e.NewBuffer(64 << 20)
//	report, err := peer.Put(ctx, "weights", b)     // moved, and compared by checksum
//	report.Task                                    // what the transfer met on its way
//	err = e.Close()                                // every permit is back
//
// # How the library is taken in
//
//  1. The permit is part of the slice, and the task part of the transfer: no
//     allocation, and a retry uses the same permit. See slice.go and transfer.go.
//  2. A route for each pair of NICs, kept with the pair's endpoint. See peer.go and
//     rail.go.
//  3. When an endpoint has been built, its QPs are named to Route.Renew, which hands
//     out the generation. See endpoint.go (build) and rail.go (keepBuilt).
//  4. Right before the post, Route.TryAcquire asks for the slice's bytes. Admit: the
//     slice joins the list of a QP. Defer and Avoid: it stays in the queue, and the
//     next rail is asked, which is also what the hint Divert asks for. The hint
//     NeedRenew has a new endpoint built: a pair in quarantine is tried on a fresh
//     one. See post.go (place, admit).
//  5. Permit.Posting stamps each slice of a list, Permit.Unposted gives back those
//     that the verb did not take. See post.go (flush).
//  6. wr_id is the slice's slot and the permit's use number, so that a late
//     completion is told from one of the slot's next owner. See slots.go.
//  7. Each completion goes to Permit.Settle with its status. A failed slice asks the
//     next rail, if its verdict says that another attempt can help. See poll.go.
//  8. Deadlines, cancels and teardowns go to Settle too. Only a completion or a
//     teardown brings the bytes back, and only then is the slice tried again or its
//     buffer free. See sweep.go.
//  9. A failed QP takes its endpoint out of use, and the next generation is built
//     while the old one drains. See rail.go (retire) and sweep.go (drained).
//  10. Asynchronous events go to Controller.Event; what they reach is built again.
//     See events.go.
//  11. Each CQ of a worker has a Poller, which beats whenever the worker polls, so that
//     a worker that stands still is not taken for a network that does. See worker.go
//     and poll.go.
//  12. One goroutine calls Controller.Tick: windows move, and routes that fall silent
//     are found. See monitor.go.
//
// The engine decides nothing about paths itself: which rail may be used is the
// controller's answer, and what an error means is the verdict's.
//
// # Workers
//
// A worker is a goroutine with one CQ on every NIC for itself, and QPs of its own in
// every endpoint. So a slice belongs to one goroutine from its queue to its
// completion, and the data path takes no lock but that of the rail's meter.
package transfer
