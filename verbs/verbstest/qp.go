package verbstest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
	"github.com/rdmagate/rdmagate/verbs/internal/serial"
)

// QP is a scripted queue pair. A new one is connected: in state RTS.
//
// Requests that are posted stay outstanding until the script completes or fails
// them; a script that does nothing is the QP that hangs without an error. As on
// real verbs, a successful request without [verbs.SendSignaled] makes no
// completion, and room in the send queue comes back only with polled ones.
type QP struct {
	id             uint64
	num            uint32
	capacity       verbs.QPCap
	sendCQ, recvCQ *CQ
	used           atomic.Int64 // requests that occupy the send queue

	mu       sync.Mutex
	state    verbs.QPState
	sends    []verbs.SendWR // outstanding, oldest first
	recvs    []verbs.RecvWR
	silent   int64 // successful requests whose room waits for a later completion
	refusal  *refusal
	reply    func(verbs.SendWR) Reply
	closed   bool
	accepted int
}

type refusal struct {
	after int
	errno syscall.Errno
}

var _ verbs.Poster = (*QP)(nil)

// lastNum makes QP numbers that are told apart by eye from serial numbers.
var lastNum atomic.Uint32

// NewQP returns a connected QP that completes to the CQs; recvCQ nil means
// sendCQ. MaxSendWR 0 means 128, the SGE limits 0 mean 1, MaxRecvWR 0 means no
// receives.
func NewQP(sendCQ, recvCQ *CQ, capacity verbs.QPCap) *QP {
	if recvCQ == nil {
		recvCQ = sendCQ
	}
	if capacity.MaxSendWR == 0 {
		capacity.MaxSendWR = 128
	}
	capacity.MaxSendSGE = max(capacity.MaxSendSGE, 1)
	capacity.MaxRecvSGE = max(capacity.MaxRecvSGE, 1)
	qp := &QP{
		id:       serial.Next(),
		num:      0x100 + lastNum.Add(1),
		capacity: capacity,
		sendCQ:   sendCQ,
		recvCQ:   recvCQ,
		state:    verbs.StateRTS,
	}
	sendCQ.attach(qp)
	recvCQ.attach(qp)
	return qp
}

// ID returns a number that no other object of package verbs or of this package
// has.
func (q *QP) ID() uint64 { return q.id }

// Num returns the QP number that completions bear.
func (q *QP) Num() uint32 { return q.num }

// Cap returns the capacity.
func (q *QP) Cap() verbs.QPCap { return q.capacity }

// String names the QP in errors.
func (q *QP) String() string { return fmt.Sprintf("scripted QP #%d", q.id) }

// PostSend takes the requests as [verbs.QP.PostSend] does: ENOMEM when the queue
// is full, EINVAL in a state before RTS, flushed at once in state ERR, and
// whatever RefusePost asked for.
func (q *QP) PostSend(list []verbs.SendWR) (int, error) {
	const call = "ibv_post_send"
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0, &verbs.Error{Call: call, Object: q.String(), Err: verbs.ErrClosed}
	}
	for i := range list {
		if op := list[i].Op; op > verbs.OpRead {
			return 0, &verbs.Error{Call: call, Object: q.String(),
				Reason: fmt.Sprintf("request %d of the list has operation %d", i, uint32(op)),
				Remedy: "use one of the Op constants; the list was not posted", Errno: syscall.EINVAL}
		}
		if n := 1 + len(list[i].More); n > q.capacity.MaxSendSGE {
			return 0, q.tooManySGEs(call, i, n, q.capacity.MaxSendSGE)
		}
	}
	for i := range list {
		if errno := q.refuses(); errno != 0 {
			return i, &verbs.Error{Call: call, Object: q.String(),
				Reason: fmt.Sprintf("posted %d of %d requests", i, len(list)), Errno: errno}
		}
		q.take(list[i])
	}
	return len(list), nil
}

// refuses returns the errno that the next request meets, 0 if it is taken.
func (q *QP) refuses() syscall.Errno {
	if r := q.refusal; r != nil {
		if r.after == 0 {
			q.refusal = nil
			return r.errno
		}
		r.after--
	}
	switch {
	case q.state != verbs.StateRTS && q.state != verbs.StateErr:
		return syscall.EINVAL
	case q.used.Load() >= int64(q.capacity.MaxSendWR):
		return syscall.ENOMEM
	}
	return 0
}

func (q *QP) take(wr verbs.SendWR) {
	wr.More = slices.Clone(wr.More)
	q.used.Add(1)
	q.accepted++
	q.sends = append(q.sends, wr)
	switch {
	case q.state == verbs.StateErr:
		q.flush()
	case q.reply != nil:
		q.apply(q.reply(wr))
	}
}

// PostRecv takes the requests as [verbs.QP.PostRecv] does.
func (q *QP) PostRecv(list []verbs.RecvWR) (int, error) {
	const call = "ibv_post_recv"
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0, &verbs.Error{Call: call, Object: q.String(), Err: verbs.ErrClosed}
	}
	for i := range list {
		if n := 1 + len(list[i].More); n > q.capacity.MaxRecvSGE {
			return 0, q.tooManySGEs(call, i, n, q.capacity.MaxRecvSGE)
		}
	}
	for i := range list {
		var errno syscall.Errno
		switch {
		case q.state == verbs.StateReset:
			errno = syscall.EINVAL
		case len(q.recvs) >= q.capacity.MaxRecvWR:
			errno = syscall.ENOMEM
		}
		if errno != 0 {
			return i, &verbs.Error{Call: call, Object: q.String(),
				Reason: fmt.Sprintf("posted %d of %d requests", i, len(list)), Errno: errno}
		}
		wr := list[i]
		wr.More = slices.Clone(wr.More)
		q.recvs = append(q.recvs, wr)
	}
	if q.state == verbs.StateErr {
		q.flush()
	}
	return len(list), nil
}

func (q *QP) tooManySGEs(call string, i, n, most int) error {
	return &verbs.Error{Call: call, Object: q.String(), Errno: syscall.EINVAL,
		Reason: fmt.Sprintf("request %d of the list has %d SGEs, the QP takes %d", i, n, most),
		Remedy: "the list was not posted"}
}

// ToErr moves the QP to ERR: everything outstanding, and everything posted
// later, completes as flushed.
func (q *QP) ToErr() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return &verbs.Error{Call: "ibv_modify_qp", Object: q.String(), Err: verbs.ErrClosed}
	}
	q.state = verbs.StateErr
	q.flush()
	return nil
}

// ToReset moves the QP to RESET: what is outstanding is forgotten, without a
// completion. Completions that were not yet polled stay.
func (q *QP) ToReset() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return &verbs.Error{Call: "ibv_modify_qp", Object: q.String(), Err: verbs.ErrClosed}
	}
	q.state = verbs.StateReset
	q.forget()
	return nil
}

// Close destroys the QP; what is outstanding gets no completion. Closing twice
// is nil.
func (q *QP) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil
	}
	q.closed = true
	q.forget()
	q.sendCQ.detach(q)
	q.recvCQ.detach(q)
	return nil
}

// forget drops what is outstanding and gives its room back.
func (q *QP) forget() {
	q.used.Add(-int64(len(q.sends)) - q.silent)
	q.sends, q.recvs, q.silent = nil, nil, 0
}

// flush completes all that is outstanding as flushed.
func (q *QP) flush() {
	for len(q.sends) > 0 {
		q.completeSend(0, classify.StatusWRFlushErr, 0)
	}
	for _, wr := range q.recvs {
		q.recvCQ.add(completion{wc: verbs.WC{WRID: wr.WRID, Status: classify.StatusWRFlushErr, QPNum: q.num}})
	}
	q.recvs = nil
}
