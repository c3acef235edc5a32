package fabric

import "github.com/rdmagate/rdmagate/classify"

// Cargo is what the packets of a QP stand for. The simulator knows how many bytes a
// request has; where real ones are to move, a Cargo moves them, at the moments at which
// they would be there. It is called while time stands still, and touches no QP itself.
//
// What a QP with a Cargo still had on its way when it failed or was destroyed is lost:
// its memory may have been given to others meanwhile.
type Cargo interface {
	// Arrive is told that the peer has got all of a WRITE or SEND, or the request of a
	// READ; recv is the receive that a SEND takes. Requests arrive in the order in which
	// they were posted, and once each, except that one which was refused may come again.
	//
	// What it returns other than success becomes the status of the request, after all
	// before it have completed. With [classify.StatusLocProtErr] it is the sender's own
	// mistake; anything else is the peer's refusal, which then fails as well.
	Arrive(wr WR, recv uint64) classify.Status
	// Fetch is told that all data of a READ have come. What it returns is the status of
	// the READ.
	Fetch(wr WR) classify.Status
}

// Carry gives the requests of the QP something to carry. Call it before the first one is
// posted.
func (q *QP) Carry(c Cargo) { q.cargo = c }

// carry has the request carried out that has arrived in whole, and says whether the
// responder may go on.
func (q *QP) carry() bool {
	from := q.peer
	if from.cargo == nil {
		return true
	}
	if !from.alive {
		return false
	}
	r := from.at(q.arrived)
	var recv uint64
	if r.wr.Op == Send {
		recv = q.receives[0]
	}
	status := from.cargo.Arrive(r.wr, recv)
	switch status {
	case classify.StatusSuccess:
		q.arrived++
		return true
	case classify.StatusLocProtErr:
		from.receiveRefusal(r.first, status)
	default:
		q.jobs = append(q.jobs, job{psn: r.first, end: r.first + 1, status: status})
		q.nic.activate(q)
	}
	q.deaf = true
	return false
}

// refuse makes the packet that refuses a request, which is the end of the QP.
func (q *QP) refuse(j job) *packet {
	k := q.packet(packetRefusal, ackWire)
	k.psn, k.status = j.psn, j.status
	q.Fail(classify.StatusWRFlushErr)
	return k
}

// receiveRefusal is told that all below psn has been carried out, and that the request
// which begins there never will.
func (q *QP) receiveRefusal(psn uint64, status classify.Status) {
	q.refusal, q.unwanted = status, psn
	q.receiveACK(psn)
}

// fetched completes the cargo of a READ.
func (q *QP) fetched(r *request) classify.Status {
	if q.cargo == nil || r.wr.Op != Read {
		return classify.StatusSuccess
	}
	return q.cargo.Fetch(r.wr)
}
