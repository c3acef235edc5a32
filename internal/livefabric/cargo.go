package livefabric

import (
	"github.com/rdmagate/rdmagate/classify"
	sim "github.com/rdmagate/rdmagate/internal/fabric"
)

var _ sim.Cargo = (*QP)(nil)

// partner returns the QP at the other end, nil if that is closed.
func (q *QP) partner() *QP { return q.peer.qps[q.sim.Peer().Num] }

// Arrive moves the bytes of a WRITE or SEND, and checks whether a READ may be. It is for
// the simulator.
func (q *QP) Arrive(wr sim.WR, recv uint64) classify.Status {
	w := q.sends.at(wr.ID)
	local, ok := q.nic.local(w)
	if !ok {
		return classify.StatusLocProtErr
	}
	if wr.Op == sim.Send {
		return q.arriveSend(w, local, recv&^receiving)
	}
	remote, ok := q.peer.remote(w.rkey, w.raddr, w.length)
	if !ok {
		return q.refuse(classify.StatusRemAccessErr, classify.EventQPAccessErr)
	}
	if wr.Op == sim.Write {
		move([][]byte{remote}, local)
	}
	return classify.StatusSuccess
}

// arriveSend moves the bytes of a SEND to a receive.
func (q *QP) arriveSend(w *work, local [][]byte, recv uint64) classify.Status {
	r := q.partner().recvs.at(recv)
	if length(r.sge, r.more) < w.length {
		return q.refuse(classify.StatusRemInvReqErr, classify.EventQPReqErr)
	}
	remote, ok := q.peer.local(r)
	if !ok {
		return classify.StatusRemOpErr
	}
	r.length = w.length
	move(remote, local)
	return classify.StatusSuccess
}

// refuse has the peer's device report why it refuses a request.
func (q *QP) refuse(status classify.Status, event classify.EventType) classify.Status {
	q.peer.sim.Raise(sim.Event{Type: event, QPNum: q.sim.Peer().Num})
	return status
}

// Fetch moves the bytes of a READ, as the peer has them now. It is for the simulator.
func (q *QP) Fetch(wr sim.WR) classify.Status {
	w := q.sends.at(wr.ID)
	local, ok := q.nic.local(w)
	if !ok {
		return classify.StatusLocProtErr
	}
	remote, ok := q.peer.remote(w.rkey, w.raddr, w.length)
	if !ok {
		return classify.StatusRemAccessErr
	}
	move(local, [][]byte{remote})
	return classify.StatusSuccess
}
