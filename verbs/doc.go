// Package verbs is a binding of libibverbs for engines that move data over
// reliable connected (RC) queue pairs: what such an engine needs, and no more.
//
// # Life of a transfer
//
// Objects are opened from parent to child and closed the other way round:
//
//	ctx, err := verbs.Open("mlx5_0")                        // a device
//	pd, err := ctx.AllocPD()
//	mem, err := verbs.AllocMemory(1 << 20)                  // not Go memory
//	mr, err := pd.RegisterMR(mem.Bytes(), verbs.AccessLocalWrite|verbs.AccessRemoteWrite)
//	cq, err := ctx.CreateCQ(verbs.CQInit{Depth: 256})
//	qp, err := pd.CreateQP(verbs.QPInit{SendCQ: cq})
//	err = qp.ToInit(verbs.InitAttr{Access: verbs.AccessRemoteWrite})
//	err = qp.ToRTR(verbs.RTRAttr{DestQPNum: peer.QPNum, RecvPSN: peer.PSN, DestGID: peer.GID, GIDIndex: 3})
//	err = qp.ToRTS(verbs.RTSAttr{SendPSN: psn, Timeout: 14, RetryCount: 7})
//	n, err := qp.PostSend(list)                             // n of the list were taken
//	n, err = cq.Poll(wcs)                                   // a batch of completions
//
// Peers exchange QP number, PSN, GID, address and rkey by means of their own.
//
// Closing a parent that has open children is refused, with an error that names
// them. Closing twice is nil. A closed object answers every call with
// [ErrClosed]; nothing is ever used after it was freed, also when Close meets
// posts, polls and events of other goroutines.
//
// # Data path
//
// [QP.PostSend], [QP.PostRecv] and [CQ.Poll] are one call into C for a whole list
// or batch and allocate nothing, neither per call nor per request or completion.
// A call into C costs tens of nanoseconds, so lists and batches of 32 or 64 pay.
// C keeps no pointer to Go memory: requests are built in memory of the QP outside
// the Go heap, and registered memory must come from [AllocMemory], mmap or C.
//
// # Numbers
//
// Hardware gives the number of a closed QP to the next one. Each object here has
// an ID that is never given twice in the process, and events bear it:
// [AsyncEvent.Event] is what the controller takes, for QPs that were registered
// there by their IDs. Every object from [Context] to [AsyncReader] has the methods
// ID() uint64, String() string, which names it as errors do, Closed() bool, and
// Close() error.
//
// # Events
//
// [Context.AsyncEvents] gives the one reader of a device's asynchronous events.
// Each event is read, copied and acknowledged in a single call into C, so no
// Close ever waits for the consumer. A reader that waits holds no thread, and
// returns at once when it is closed. The same goes for [CompChannel].
//
// # Foreign objects
//
// An engine that has its own binding can hand in its context and CQs by
// [WrapContext] and [Context.WrapCQ]; they are used and never destroyed. It can
// also do without this package, and give the controller raw statuses and numbers.
//
// # Where it works
//
// The package needs 64-bit Linux, cgo, and at build time the headers of rdma-core
// (libibverbs-dev). libibverbs itself is loaded at run time: a program starts
// without it, and [Devices] then says what to install. Everywhere else the
// package compiles, and [Devices], [Open] and [WrapContext] return an error that
// wraps [errors.ErrUnsupported], as they do on a machine without RDMA.
//
// For tests, package verbstest has scripted QPs, CQs and events that satisfy
// [Poster], [Poller] and [EventSource].
package verbs
