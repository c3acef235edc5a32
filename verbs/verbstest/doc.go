// Package verbstest stands in for package verbs in tests: queue pairs,
// completion queues and event sources that do what a script says, without a
// device, a kernel module or C.
//
// It is a fake, made for what real verbs cannot be brought to do on demand: a
// status that only one vendor reports, a device-fatal event, completions in a
// chosen order or never, a post that is refused half-way. It moves no bytes and
// knows no network, no timing and no protection; what real verbs can show should
// be tested on them, Soft-RoCE for instance.
//
// The life of a scripted QP, with an engine that knows [verbs.Poster] and
// [verbs.Poller] only:
//
//	cq := verbstest.NewCQ(64)
//	qp := verbstest.NewQP(cq, nil, verbs.QPCap{MaxSendWR: 16})
//	engine := New(qp, cq)                                     // the code under test
//	qp.RefusePost(2, syscall.ENOMEM)                          // takes two requests, then refuses once
//	engine.Send(slices)                                       // posts; nothing completes by itself
//	qp.Complete(1)                                            // the oldest succeeds
//	qp.Fail(classify.StatusRetryExcErr, 0x81)                 // the next fails, those behind it flush
//	engine.PollOnce()
//	qp.Close(); cq.Close()
//
// Everything is safe for concurrent use.
package verbstest
