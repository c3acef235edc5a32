// Package cc decides, right before a work request is posted, whether its bytes
// may go out now on this local NIC to that remote NIC.
//
// A [Controller] holds one byte window for each local device and one for each
// [Route] (a pair of NICs). A transfer engine acquires a [Permit] for each slice,
// posts it, and settles it with whatever became of it:
//
//	ctl, err := cc.New(cfg)                          // one per process
//	route, err := ctl.Route(pair)                    // shared by all workers
//	gen, err := route.Renew(0, []cc.QP{{ID: qp.ID()}}) // an endpoint was built
//
//	d := route.TryAcquire(&s.permit, gen, s.bytes, &s.task)
//	if d.Err != nil {
//		return d.Err // a wrong call, or closed: asking again does not help
//	}
//	if !d.Admitted() {
//		return later(s, d) // Defer: ask again later; Avoid: another rail
//	}
//	if err := s.permit.Posting(qp.ID(), now); err != nil {
//		return again(s) // the endpoint was renewed meanwhile; nothing is held
//	}
//	if !post(s, d.Use) { // d.Use travels in wr_id
//		s.permit.Unposted()
//	}
//
//	// For each completion, with the use number from wr_id:
//	s.permit.Settle(use, classify.Completion(wc.Status, wc.VendorErr), now)
//	if failed { // the QP is dead: build the next endpoint
//		gen, err = route.Renew(gen, qps)
//	}
//
// A failure counts once for each QP of an endpoint, so an engine that goes on with a
// failed one never sees its route quarantined.
//
// # Rules of the house
//
// Every admission ends in exactly one release of its bytes: by its completion
// (also a flush), by [Permit.Unposted], or by a teardown where no completion will
// come (QP reset or destroyed). Deadlines and cancels do not release posted work
// requests, since the hardware may still touch their memory.
//
// Bytes are those of the admission. The byte_len of a completion is never read.
//
// Asynchronous events come from the caller's own reader and go to
// [Controller.Event]. The package starts no goroutine and opens no device, and the
// one thing it calls back is the function of [WithTransitions], with no lock held.
//
// # Monitor
//
// Windows move, and routes that fall silent are found, in [Controller.Tick], which
// the caller makes every 10 to 20 ms:
//
//	for range time.Tick(10 * time.Millisecond) {
//		ctl.Tick(ctl.Now())
//	}
//
// Threads that poll for completions register as a [Poller], so that one that did
// not run is not taken for a network that did not deliver.
//
// # Life of a route
//
// [Controller.Route] makes it, and [Route.Renew] gives it an endpoint, as often as one is
// built. Failures make it SUSPECT, then QUARANTINED; a trial brings it back: see [State]
// and [Route.TryProbe]. [Route.State] and [Route.Snapshot] tell where it is, and
// [WithTransitions] each change. [Route.Close] ends it, and [Controller.Forget] all that
// lead to one peer.
//
// # Several controllers
//
// One controller for all workers is the simplest, and has one window for each device.
// Engines in one process that know nothing of each other have one each, and share with
// [WithPauses] what they learn of pairs, so that the process pays for a dead pair once. Give
// them the same thresholds, since each applies its own, and one prober. A healthy post pays
// one atomic load for it. A success counts only if it was posted after the failure, so a
// late or inferred completion hides no verdict.
//
// # Off, observe, enforce
//
// [Mode] is fixed at construction. Begin with observe: all is admitted, and
// [RouteSnapshot.Refusals] counts what enforce would have refused. Going back is a new
// controller in mode off, or the build tag rdmagate_off, with which the same calls do
// nothing.
//
// # Waiting and probing
//
// TryAcquire never blocks. [Route.Acquire] does, for those who would spin. A slice larger
// than a window is not starved by small ones: it leaves a claim that takes precedence
// after two drain times. [Controller.Due] and [Route.TryProbe] serve a prober, and
// [Route.Handoff] moves a reservation to another rail. A [List] is the permit of a whole
// post list.
//
// # Time
//
// Times are readings of the controller's monotonic clock ([Controller.Now]). Read
// it once for a batch of posts or completions.
//
// # Cost
//
// TryAcquire, Posting and Settle take no lock, allocate nothing, read no clock and
// look nothing up while slices are admitted and succeed. In mode off they return
// at once.
package cc
