package verbs

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"
)

// QP is a queue pair of the reliable connected (RC) service.
//
// All its methods are safe for concurrent use. Posts on one queue are put in
// some order; Close waits for a post under way, and a post after it is refused.
type QP struct {
	object
	pd             *PD
	sendCQ, recvCQ *CQ
	ptr            unsafe.Pointer
	num            uint32
	capacity       QPCap
	send           *postQueue[cSendWR]
	recv           *postQueue[cRecvWR]
	port           uint8 // of the last ToInit; guarded by object.mu
}

// QPCap is the capacity of a QP, each number 0 to 2^31-1. A device may grant more
// than was asked for.
type QPCap struct {
	MaxSendWR  int // work requests of the send queue; 0 means 128
	MaxRecvWR  int // work requests of the receive queue; 0 means none
	MaxSendSGE int // SGEs of a SendWR; 0 means 1
	MaxRecvSGE int // SGEs of a RecvWR; 0 means 1
	MaxInline  int // bytes of a SendWR with SendInline; 0 means none
}

// QPInit says what a new QP is like.
type QPInit struct {
	SendCQ *CQ // where completions of the send queue go
	RecvCQ *CQ // and those of the receive queue; nil means SendCQ
	Cap    QPCap
	// SignalAll makes a completion for every successful SendWR, without
	// [SendSignaled]. Failed ones always have a completion.
	SignalAll bool
}

// CreateQP creates an RC QP in state RESET. It is a child of the PD and of both
// CQs.
func (p *PD) CreateQP(init QPInit) (*QP, error) {
	const call = "ibv_create_qp"
	if init.RecvCQ == nil {
		init.RecvCQ = init.SendCQ
	}
	if err := checkQPInit(call, p, &init); err != nil {
		return nil, err
	}
	qp := &QP{object: newObject("QP", p.device), pd: p, sendCQ: init.SendCQ, recvCQ: init.RecvCQ}
	parents := []*object{&p.object, &init.SendCQ.object}
	if init.RecvCQ != init.SendCQ {
		parents = append(parents, &init.RecvCQ.object)
	}
	if err := qp.adopt(call, parents...); err != nil {
		return nil, err
	}
	if err := qp.create(call, &init); err != nil {
		qp.release()
		return nil, err
	}
	handles.addQP(qp)
	return qp, nil
}

func (q *QP) create(call string, init *QPInit) error {
	lib := q.pd.ctx.lib
	var errno syscall.Errno
	q.ptr, q.num, q.capacity, errno = lib.sysCreateQP(q.pd.ptr, init, q.id)
	if errno != 0 {
		return &Error{
			Call:   call,
			Object: q.pd.String(),
			Reason: fmt.Sprintf("capacity %+v", init.Cap),
			Errno:  errno,
			Remedy: remedyQP(errno),
		}
	}
	var err error
	if q.send, err = newPostQueue(q.capacity.MaxSendWR, q.capacity.MaxSendSGE, linkSend); err == nil {
		q.recv, err = newPostQueue(q.capacity.MaxRecvWR, q.capacity.MaxRecvSGE, linkRecv)
	}
	if err != nil {
		lib.sysDestroyQP(q.ptr)
		if q.send != nil {
			q.send.free()
		}
	}
	return err
}

func linkSend(c *cSendWR, next, sgList uintptr) { c.next, c.sgList = next, sgList }
func linkRecv(c *cRecvWR, next, sgList uintptr) { c.next, c.sgList = next, sgList }

func checkQPInit(call string, p *PD, init *QPInit) error {
	if init.SendCQ == nil {
		return invalid(call, p.String(), "SendCQ is nil", "create a CQ first")
	}
	if !p.made() {
		return closedBy(call, &p.object, "")
	}
	for _, cq := range []*CQ{init.SendCQ, init.RecvCQ} {
		if !cq.made() {
			return closedBy(call, &cq.object, "")
		}
		if cq.ctx.ptr != p.ctx.ptr {
			return invalid(call, p.String(), fmt.Sprintf("%s is of another context", cq), "take a CQ of the context of the PD")
		}
	}
	c := &init.Cap
	if min(c.MaxSendWR, c.MaxRecvWR, c.MaxSendSGE, c.MaxRecvSGE, c.MaxInline) < 0 {
		return invalid(call, p.String(), fmt.Sprintf("capacity %+v has a number below 0", *c), "use 0 for the default")
	}
	if max(c.MaxSendWR, c.MaxRecvWR, c.MaxSendSGE, c.MaxRecvSGE, c.MaxInline) > math.MaxInt32 {
		return invalid(call, p.String(), fmt.Sprintf("capacity %+v has a number above %d", *c, math.MaxInt32),
			"keep the numbers up to MaxQPWR and MaxSGE of the device, and MaxInline small")
	}
	if c.MaxSendWR == 0 {
		c.MaxSendWR = 128
	}
	c.MaxSendSGE = max(c.MaxSendSGE, 1)
	c.MaxRecvSGE = max(c.MaxRecvSGE, 1)
	return nil
}

func remedyQP(errno syscall.Errno) string {
	if errno == syscall.EINVAL {
		return "keep the numbers up to MaxQPWR and MaxSGE of the device, and MaxInline small"
	}
	return remedyMemory(errno)
}

// PD returns the protection domain of the QP.
func (q *QP) PD() *PD { return q.pd }

// SendCQ returns the CQ of the send queue.
func (q *QP) SendCQ() *CQ { return q.sendCQ }

// RecvCQ returns the CQ of the receive queue.
func (q *QP) RecvCQ() *CQ { return q.recvCQ }

// Num returns the QP number, 24 bits, that the peer needs and that completions
// bear. Hardware gives it to another QP after Close; ID is never given twice.
func (q *QP) Num() uint32 { return q.num }

// Cap returns the capacity that the device granted.
func (q *QP) Cap() QPCap { return q.capacity }

// Close destroys the QP. Work requests that are outstanding get no completion,
// and completions of it that were not yet polled may vanish. It never waits for
// the reader of asynchronous events. Closing twice is nil.
func (q *QP) Close() error {
	const call = "ibv_destroy_qp"
	return q.close(call, func() error {
		q.send.mu.Lock()
		defer q.send.mu.Unlock()
		q.recv.mu.Lock()
		defer q.recv.mu.Unlock()
		if errno := q.pd.ctx.lib.sysDestroyQP(q.ptr); errno != 0 {
			return &Error{Call: call, Object: q.String(), Errno: errno}
		}
		handles.removeQP(q)
		q.send.free()
		q.recv.free()
		return nil
	})
}
