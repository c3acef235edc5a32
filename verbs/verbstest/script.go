package verbstest

import (
	"slices"
	"syscall"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// Reply is what becomes of a request as soon as it is posted.
type Reply struct {
	// Silent leaves the request outstanding; the other fields are not read.
	Silent bool
	// Status and VendorErr are of its completion. Other than success moves the QP to
	// ERR and flushes what else is outstanding.
	Status    classify.Status
	VendorErr uint32
}

// Answer calls f for every request that is posted from now on, and does what it
// says. f runs inside PostSend and must not use the QP. nil ends it.
func (q *QP) Answer(f func(wr verbs.SendWR) Reply) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reply = f
}

// Succeed is an [QP.Answer] that completes every request with success at once.
func Succeed(verbs.SendWR) Reply { return Reply{} }

// RefusePost makes the QP take k more requests and refuse the one after with an
// errno, once. The refused post reports how many of its list went.
func (q *QP) RefusePost(k int, errno syscall.Errno) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refusal = &refusal{after: k, errno: errno}
}

// Outstanding returns the requests that have no outcome yet, oldest first.
func (q *QP) Outstanding() []verbs.SendWR {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.sends)
}

// Accepted returns how many requests PostSend has taken in all.
func (q *QP) Accepted() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.accepted
}

// State returns what the script has brought the QP to: RTS at first, ERR after a failure.
func (q *QP) State() verbs.QPState {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state
}

// Complete makes the n oldest requests succeed, all if there are fewer, and
// returns how many that were.
func (q *QP) Complete(n int) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.sends))
	for range n {
		q.completeSend(0, classify.StatusSuccess, 0)
	}
	return n
}

// CompleteWR ends one request out of order, whatever else is outstanding, and
// leaves the state of the QP alone. It reports whether a request with that WRID
// was outstanding.
func (q *QP) CompleteWR(wrid uint64, status classify.Status, vendorErr uint32) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.sends, func(wr verbs.SendWR) bool { return wr.WRID == wrid })
	if i < 0 {
		return false
	}
	q.completeSend(i, status, vendorErr)
	return true
}

// Fail makes the oldest request fail with the status, moves the QP to ERR and
// flushes the requests behind it, as an RC QP does. It reports whether a request
// was outstanding; the QP moves to ERR in any case.
func (q *QP) Fail(status classify.Status, vendorErr uint32) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	had := len(q.sends) > 0
	if had {
		q.completeSend(0, status, vendorErr)
	}
	q.state = verbs.StateErr
	q.flush()
	return had
}

// Receive completes the oldest posted receive with n bytes. It reports whether
// there was one; a sender would else have met receiver-not-ready.
func (q *QP) Receive(n uint32) bool {
	return q.receive(verbs.WC{Opcode: verbs.WCRecv, ByteLen: n})
}

// ReceiveImm is Receive for a WRITE with immediate data.
func (q *QP) ReceiveImm(n, imm uint32) bool {
	wc := verbs.WC{Opcode: verbs.WCRecvWithImm, ByteLen: n}
	wc.SetImm(imm)
	return q.receive(wc)
}

func (q *QP) receive(wc verbs.WC) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.recvs) == 0 {
		return false
	}
	wc.WRID, wc.QPNum = q.recvs[0].WRID, q.num
	q.recvs = q.recvs[1:]
	q.recvCQ.add(completion{wc: wc})
	return true
}

// Reconnect brings a QP in state RESET or ERR back to RTS, empty.
func (q *QP) Reconnect() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget()
	q.state = verbs.StateRTS
}

// apply gives the newest request its outcome.
func (q *QP) apply(r Reply) {
	if r.Silent {
		return
	}
	q.completeSend(len(q.sends)-1, r.Status, r.VendorErr)
	if r.Status != classify.StatusSuccess {
		q.state = verbs.StateErr
		q.flush()
	}
}

// completeSend takes request i off the queue. The caller holds q.mu.
func (q *QP) completeSend(i int, status classify.Status, vendorErr uint32) {
	wr := q.sends[i]
	q.sends = slices.Delete(q.sends, i, i+1)
	if status == classify.StatusSuccess && wr.Flags&verbs.SendSignaled == 0 {
		q.silent++
		return
	}
	wc := verbs.WC{WRID: wr.WRID, Status: status, VendorErr: vendorErr, QPNum: q.num}
	if status == classify.StatusSuccess {
		wc.Opcode = wcOpcode(wr.Op)
		if wr.Op == verbs.OpRead {
			wc.ByteLen = uint32(wr.Len())
		}
	}
	q.sendCQ.add(completion{wc: wc, qp: q, slots: 1 + q.silent})
	q.silent = 0
}

func wcOpcode(op verbs.Opcode) verbs.WCOpcode {
	switch op {
	case verbs.OpRead:
		return verbs.WCRead
	case verbs.OpSend, verbs.OpSendWithImm:
		return verbs.WCSend
	}
	return verbs.WCWrite
}
