package verbs

import (
	"fmt"
	"syscall"
)

// PostSend puts the requests on the send queue in order, with one call into C for
// the whole list (more only if the list is longer than the queue), and returns
// how many the NIC took. Requests from that number on were not taken and will
// have no completion; the error wraps the errno of the first of them:
//
//   - ENOMEM: the queue is full. Poll, and post the rest again. Room comes back
//     with polled completions, so some requests must be signaled.
//   - EINVAL: the QP's state does not allow it, or the request is malformed.
//
// In state ERR posts succeed, and the requests complete as flushed.
//
// A list with a request that has more SGEs than the QP, or an operation that is
// not one of the constants, is refused as a whole: the number is 0. An empty list
// is 0 and nil. Nothing is allocated unless there is an error.
func (q *QP) PostSend(list []SendWR) (int, error) {
	const call = "ibv_post_send"
	s := q.send
	if s == nil {
		return 0, closedBy(call, &q.object, "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, closedBy(call, &q.object, "settle the request and create a new QP")
	}
	for i := range list {
		if w := &list[i]; w.Op > OpRead || sges(&w.SGE, w.More) > s.maxSGE {
			return 0, q.badSend(call, i, w)
		}
	}
	posted := 0
	for posted < len(list) {
		n := min(len(list)-posted, len(s.wrs))
		for i := range n {
			w, c := &list[posted+i], &s.wrs[i]
			c.fill(w)
			c.numSGE = s.put(i, &w.SGE, w.More)
		}
		took, errno := sysPostSend(q.ptr, &s.wrs[0], n)
		posted += took
		if errno != 0 {
			return posted, q.postError(call, posted, len(list), errno, q.capacity.MaxSendWR)
		}
	}
	return posted, nil
}

// PostRecv puts the requests on the receive queue in order. Results are as for
// [QP.PostSend].
func (q *QP) PostRecv(list []RecvWR) (int, error) {
	const call = "ibv_post_recv"
	r := q.recv
	if r == nil {
		return 0, closedBy(call, &q.object, "")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, closedBy(call, &q.object, "create a new QP")
	}
	for i := range list {
		if n := sges(&list[i].SGE, list[i].More); n > r.maxSGE {
			return 0, q.tooManySGEs(call, i, n, r.maxSGE, "MaxRecvSGE")
		}
	}
	posted := 0
	for posted < len(list) {
		n := min(len(list)-posted, len(r.wrs))
		for i := range n {
			w, c := &list[posted+i], &r.wrs[i]
			c.wrID = w.WRID
			c.numSGE = r.put(i, &w.SGE, w.More)
		}
		took, errno := sysPostRecv(q.ptr, &r.wrs[0], n)
		posted += took
		if errno != 0 {
			return posted, q.postError(call, posted, len(list), errno, q.capacity.MaxRecvWR)
		}
	}
	return posted, nil
}

func (q *QP) badSend(call string, i int, w *SendWR) error {
	if w.Op > OpRead {
		return invalid(call, q.String(), fmt.Sprintf("request %d of the list has operation %d", i, uint32(w.Op)),
			"use one of the Op constants; the list was not posted")
	}
	return q.tooManySGEs(call, i, sges(&w.SGE, w.More), q.send.maxSGE, "MaxSendSGE")
}

func (q *QP) tooManySGEs(call string, i, n, most int, field string) error {
	return invalid(call, q.String(), fmt.Sprintf("request %d of the list has %d SGEs, the QP takes %d", i, n, most),
		"split the request, or create the QP with a larger "+field+"; the list was not posted")
}

func (q *QP) postError(call string, posted, n int, errno syscall.Errno, room int) error {
	e := &Error{
		Call:   call,
		Object: q.String(),
		Reason: fmt.Sprintf("posted %d of %d requests", posted, n),
		Errno:  errno,
	}
	switch errno {
	case syscall.ENOMEM:
		e.Remedy = fmt.Sprintf("the queue holds %d: poll completions, then post the rest", room)
	case syscall.EINVAL:
		e.Remedy = "sends need state RTS, receives INIT or later; check the flags and sizes of the request"
	}
	return e
}
