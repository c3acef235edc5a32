// # Engines with loops of their own
//
// An engine keeps its threads and queues. These are the places where the controller is
// asked or told, with the thread that does it:
//
//	at the start             New, one for the process          whoever starts the engine
//	a peer is met            Route for each pair; keep it      the thread that connects
//	a CQ is made             NewPoller                         its poller, before endpoints use it
//	an endpoint is up        Renew with its QPs                the thread that built it
//	before the post          TryAcquire, then Posting          the poster, right before ibv_post_send
//	the verb has returned    Unposted for what it left         the poster
//	a poll batch             Now, Beat, then Settle for each   the poller
//	a slice takes too long   Settle with a deadline            the sweeper, any thread
//	a QP is destroyed        Settle with a teardown for each   the thread that destroyed it, after that
//	an asynchronous event    Event                             the thread that reads them
//	every 10 to 20 ms        Tick                              one thread, or a turn of a loop
//	every probe interval     Due, then TryProbe                the prober, if there is one
//	at the end               Close, then settle what is open   whoever ends the engine
//
// A single thread that does all of it:
//
//	for {
//		now := ctl.Now() // once a turn; all calls take it
//		n := cq.Poll(batch)
//		poller.Beat(now)
//		for _, wc := range batch[:n] { // first: completions make room
//			s := slots[wc.WRID>>32]
//			s.permit.Settle(cc.Use(wc.WRID), classify.Completion(wc.Status, wc.VendorErr), now)
//		}
//		for s := queue.Front(); s != nil; s = queue.Next(s) {
//			d := route.TryAcquire(&s.permit, gen, s.bytes, &s.task)
//			if !d.Admitted() {
//				break // it keeps its place; the next turn asks again
//			}
//			post(s, d.Use, now) // Posting, ibv_post_send, Unposted
//		}
//		if now >= tick {
//			ctl.Tick(now)
//			tick = now + 10*time.Millisecond
//		}
//	}
//
// Threads may share a route: what is admitted, posted and settled on different ones needs
// no lock of the engine's. A permit has one owner up to Posting, which hands it to
// whoever settles; the call that returns [Released] hands it back.
//
// # When to ask again
//
// A slice that was deferred stays in the engine's queue. Room comes with a completion, so
// ask after the next poll batch that returned a Released of the route or its device, or
// in the next turn. An Avoid says how long it is known to last, in RetryAfter: take
// another rail meanwhile. [Decision.WantsEndpoint] means that waiting does not help, but
// a Renew does. A Decision with Err set is a mistake of the caller's, or a Close: asking
// again gives the same.
//
// # Selective signaling
//
// The completion of a signaled work request stands for those before it on its QP. A [List]
// settles them in one call. With single permits, settle each of them with the same success
// and time, oldest first. Signal the last request before a slice is deferred: a window that
// is full of unsignaled ones never empties. And signal often, since delays count up to the
// completion. One that failed speaks of its own request; those before it succeeded.
//
// # What goes wrong
//
//   - Waiting for a window on the thread that polls: nobody is left to make room. [Route.Acquire]
//     is for other threads; a poller uses TryAcquire and goes on polling.
//   - Posting when a slice is queued, and not right before the post: the wait in the
//     engine's own queue is taken for the network's, and windows go down to the least.
//   - Holding an admitted permit over a lock, a look-up or a sleep: its bytes keep others
//     out. Acquire last; if something has to be awaited, Unposted and acquire again.
//   - Giving back what byte_len says: it means nothing in an error completion. The permit
//     knows its bytes.
//   - Taking a slot or buffer into use again after a deadline or cancel: the NIC may still
//     read or write there. Only Released says that it does not.
//   - Leaving the use number out of wr_id: a late completion then settles the slot's next
//     owner.
//   - Going on with a QP that failed: it counts once, so the route is never quarantined.
//     Build another, and Renew.
//   - Destroying a QP and forgetting what was posted there: completions may never come, and
//     the bytes stay out. Settle each with [classify.SignalTeardown]; what had its
//     completion takes no harm.
//   - A poller that sleeps without beating, for longer than StallGap: what it then finds is
//     void, and dead paths are found late.
//   - No Tick: windows do not follow the network, and routes that fall silent are not found.
//   - Relying on what Settle returns in mode off: it returns nothing there. Keep books of
//     your own of which slices are finished.
//   - Copying a permit, list or task: each is where it is. Embed it, and keep pointers.
//
// A whole engine that does all this is in examples/engine/transfer of this module.
package cc
