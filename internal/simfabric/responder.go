package simfabric

import (
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// receive is one work request on the receive queue.
type receive struct {
	id   uint64
	sges []verbs.SGE
}

// arrive takes a chunk of a request in at the other side.
func (q *QP) arrive(w *request, offset, n int) {
	partner := q.partner()
	switch {
	case q.net.faults.hole(q.nic, q.peer):
		q.hang()
	case q.net.faults.lost(q.nic, q.peer) || partner == nil:
		q.unanswered()
	case w.applied:
		if offset+n == w.length {
			q.acknowledge(w)
		}
	case w.Op == verbs.OpRead:
		q.serve(w, partner)
	case w.Op == verbs.OpSend || w.Op == verbs.OpSendWithImm:
		q.arriveSend(w, partner, offset, n)
	default:
		q.arriveWrite(w, partner, offset, n)
	}
}

// arriveWrite stores a chunk of a WRITE.
func (q *QP) arriveWrite(w *request, partner *QP, offset, n int) {
	to, ok := q.peer.remote(w.RKey, w.RemoteAddr, w.length)
	if !ok {
		q.refuse(w, partner, classify.StatusRemAccessErr)
		return
	}
	from, ok := q.nic.local(w.sges)
	if !ok {
		q.settle(w, classify.StatusLocProtErr)
		return
	}
	last := offset+n == w.length
	if last && w.Op == verbs.OpWriteWithImm && len(partner.recvs) == 0 {
		q.notReady()
		return
	}
	if n > 0 {
		move([][]byte{to[offset:][:n]}, part(from, offset, n))
	}
	if !last {
		return
	}
	if w.Op == verbs.OpWriteWithImm {
		partner.received(partner.takeRecv(), w, verbs.WCRecvWithImm)
	}
	q.acknowledge(w)
}

// arriveSend stores a chunk of a SEND in the oldest receive.
func (q *QP) arriveSend(w *request, partner *QP, offset, n int) {
	if w.recv == nil {
		if len(partner.recvs) == 0 {
			q.notReady()
			return
		}
		w.recv = partner.takeRecv()
	}
	if length(w.recv.sges) < w.length {
		partner.complainOf(w.recv.id, classify.StatusLocLenErr)
		q.refuse(w, partner, classify.StatusRemInvReqErr)
		return
	}
	to, ok := q.peer.local(w.recv.sges)
	if !ok {
		partner.complainOf(w.recv.id, classify.StatusLocProtErr)
		q.refuse(w, partner, classify.StatusRemOpErr)
		return
	}
	from, ok := q.nic.local(w.sges)
	if !ok {
		q.settle(w, classify.StatusLocProtErr)
		return
	}
	move(part(to, offset, n), part(from, offset, n))
	if offset+n == w.length {
		partner.received(w.recv, w, verbs.WCRecv)
		q.acknowledge(w)
	}
}

// takeRecv takes the oldest posted receive.
func (q *QP) takeRecv() *receive {
	r := q.recvs[0]
	q.recvs = q.recvs[1:]
	return r
}

// received completes a receive.
func (q *QP) received(r *receive, w *request, op verbs.WCOpcode) {
	wc := verbs.WC{WRID: r.id, QPNum: q.qpn, Opcode: op, ByteLen: uint32(w.length)}
	if w.Op == verbs.OpWriteWithImm || w.Op == verbs.OpSendWithImm {
		wc.SetImm(w.Imm)
	}
	q.cq.push(wc)
}

// acknowledge tells the requester that a request was carried out.
func (q *QP) acknowledge(w *request) {
	w.applied = true
	epoch := q.epoch
	q.net.after(oneWay(q.peer, q.nic), func() {
		switch {
		case q.state != verbs.StateRTS || w.done:
		case !q.net.faults.lostOrHole(q.peer, q.nic):
			q.settle(w, classify.StatusSuccess)
		case q.epoch == epoch:
			q.unanswered()
		}
	})
}

// refuse fails the responder and tells the requester why, behind the READs that
// were accepted before.
func (q *QP) refuse(w *request, partner *QP, status classify.Status) {
	switch status {
	case classify.StatusRemAccessErr:
		q.peer.report(classify.EventQPAccessErr, classify.Element{QP: partner.id})
	case classify.StatusRemInvReqErr:
		q.peer.report(classify.EventQPReqErr, classify.Element{QP: partner.id})
	}
	partner.fail()
	q.refused = true
	q.answer(w, 0, func(int, int) { q.settle(w, status) })
}

// serve answers a READ request with its bytes.
func (q *QP) serve(w *request, partner *QP) {
	if _, ok := q.peer.remote(w.RKey, w.RemoteAddr, w.length); !ok {
		q.refuse(w, partner, classify.StatusRemAccessErr)
		return
	}
	q.answer(w, w.length, func(offset, n int) {
		from, ok := q.peer.remote(w.RKey, w.RemoteAddr, w.length)
		if !ok {
			q.settle(w, classify.StatusRemAccessErr)
			return
		}
		to, ok := q.nic.local(w.sges)
		if !ok {
			q.settle(w, classify.StatusLocProtErr)
			return
		}
		if n > 0 {
			move(part(to, offset, n), [][]byte{from[offset:][:n]})
		}
		if offset+n == w.length {
			q.settle(w, classify.StatusSuccess)
		}
	})
}

// answer sends an answer to a request back to the requester, if the path and the
// other QP let it through.
func (q *QP) answer(w *request, length int, arrive func(offset, n int)) {
	epoch := q.epoch
	q.answers.push(length, func(offset, n int) {
		switch {
		case q.epoch != epoch || w.done:
		case q.net.faults.lostOrHole(q.peer, q.nic) || q.peer.qps[q.remote.QPN] == nil:
			q.unanswered()
		default:
			arrive(offset, n)
		}
	})
}
