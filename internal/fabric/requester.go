package fabric

import "github.com/rdmagate/rdmagate/classify"

// request is a work request in the send queue, with the sequence numbers of its
// packets; a READ's are those of its responses.
type request struct {
	wr          WR
	first, last uint64
}

// requester is the half of a QP that sends requests. Positions in the queue and
// sequence numbers only grow.
type requester struct {
	queue            []request // ring, a power of two long
	head, next, tail int       // oldest request, the one to send from, the next place

	una     uint64 // first sequence number not yet acknowledged, or not received by a READ
	nxt     uint64 // next to send; in the request at next
	sent    uint64 // first that was never sent
	end     uint64 // first that no request has
	claimed uint64 // all below were carried out, as far as the peer has said

	reads    int             // READs sent in whole and not complete
	retries  int             // without progress
	rnrs     int             // the same
	waiting  bool            // after an RNR NAK
	gap      bool            // responses were missing and have been asked for again
	refusal  classify.Status // of the request that begins at unwanted
	unwanted uint64
	deadline Time // of the ACK timeout, or never
	timing   bool // a timeout event is scheduled
}

func (q *QP) at(place int) *request { return &q.queue[place&(len(q.queue)-1)] }

// append puts a work request at the end of the queue.
func (q *QP) append(wr WR) {
	first := q.end
	q.end += q.packets(wr.Bytes)
	*q.at(q.tail) = request{wr: wr, first: first, last: q.end - 1}
	q.tail++
	q.nic.activate(q)
}

// nextRequest makes the next packet of the send queue, or returns nil.
func (q *QP) nextRequest() *packet {
	if q.next == q.tail || q.waiting {
		return nil
	}
	r := q.at(q.next)
	if r.wr.Op == Read && q.reads == q.cfg.MaxReads {
		return nil
	}
	remaining := r.wr.Bytes - int64(q.nxt-r.first)*int64(q.sim.cfg.MTU)
	var k *packet
	if r.wr.Op == Read {
		k = q.packet(packetRead, readWire)
		k.psn, k.bytes = q.nxt, remaining
		q.nxt = r.last + 1
		q.reads++
	} else {
		kind := packetWrite
		if r.wr.Op == Send {
			kind = packetSend
		}
		k = q.packet(kind, dataOverhead)
		k.psn, k.first, k.last = q.nxt, q.nxt == r.first, q.nxt == r.last
		q.fill(k, remaining)
		q.nxt++
	}
	if q.nxt > r.last {
		q.next++
	}
	q.sent = max(q.sent, q.nxt)
	if q.deadline == never {
		q.restartTimer()
	}
	return k
}

// receiveACK is told that all below psn has been carried out.
func (q *QP) receiveACK(psn uint64) {
	q.claimed = max(q.claimed, psn)
	q.advance(q.una)
}

// receiveNAK is told the same, and that psn is missing.
func (q *QP) receiveNAK(psn uint64) {
	q.receiveACK(psn)
	if q.alive && q.una <= psn && psn < q.nxt {
		q.retry(psn)
	}
}

// receiveRNR is told the same, and that there is no receive for psn.
func (q *QP) receiveRNR(psn uint64) {
	q.receiveACK(psn)
	if !q.alive || psn < q.una || psn >= q.nxt {
		return
	}
	q.rnrs++
	if q.cfg.RNRRetry < 7 && q.rnrs > q.cfg.RNRRetry {
		q.Fail(classify.StatusRNRRetryExcErr)
		return
	}
	q.waiting = true
	q.deadline = never
	q.goBack(psn)
	q.sim.agenda.push(q.sim.now+picoseconds(q.cfg.RNRDelay), eventRNR, q.id)
}

func (q *QP) rnrOver() {
	q.waiting = false
	q.nic.activate(q)
}

// receiveResponse takes data of a READ. It also says that all requests before were
// carried out.
func (q *QP) receiveResponse(k *packet) {
	if k.psn < q.una {
		return
	}
	q.receiveACK(k.psn)
	if !q.alive {
		return
	}
	if k.psn != q.una { // responses before it are missing
		if !q.gap {
			q.gap = true
			q.retry(q.una)
		}
		return
	}
	q.gap = false
	q.stats.Received += int64(k.payload)
	before := q.una
	q.una++
	q.advance(before)
}

// advance completes the requests that are done. A READ is done when its data has
// come, whatever the peer claims: an ACK may overtake the data. Before is what una was
// when there was last progress.
func (q *QP) advance(before uint64) {
	freed := false
	for q.head != q.tail {
		r := q.at(q.head)
		if r.wr.Op != Read {
			q.una = max(q.una, min(q.claimed, r.last+1))
		}
		if q.una <= r.last {
			break
		}
		if status := q.fetched(r); status != classify.StatusSuccess {
			q.Fail(status)
			return
		}
		freed = q.complete(r) || freed
	}
	if q.refusal != classify.StatusSuccess && q.head != q.tail && q.at(q.head).first == q.unwanted {
		q.Fail(q.refusal)
		return
	}
	if q.una == before {
		return
	}
	q.nxt = max(q.nxt, q.una)
	q.retries, q.rnrs = 0, 0
	if !q.waiting {
		q.deadline = never
		if q.una < q.sent {
			q.restartTimer()
		}
	}
	if freed && q.next != q.tail {
		q.nic.activate(q)
	}
}

// complete ends the request at the head of the queue. It says whether another READ
// may be sent now.
func (q *QP) complete(r *request) (freed bool) {
	q.head++
	if q.next < q.head { // it was to be sent again
		q.next = q.head
	} else if r.wr.Op == Read {
		q.reads--
		freed = true
	}
	q.stats.Completed += r.wr.Bytes
	if !r.wr.Unsignaled {
		q.sendCQ.add(r.wr.ID, classify.StatusSuccess, q.Num)
	}
	return freed
}

// retry sends again from psn on, if the retries are not used up.
func (q *QP) retry(psn uint64) {
	q.retries++
	if q.retries > q.cfg.Retry {
		q.Fail(classify.StatusRetryExcErr)
		return
	}
	q.restartTimer()
	q.goBack(psn)
}

// goBack makes psn the next to send.
func (q *QP) goBack(psn uint64) {
	if psn >= q.nxt {
		return
	}
	q.stats.Resent += int64(q.nxt - psn)
	q.nxt = psn
	q.reads = 0
	for q.next = q.head; q.at(q.next).last < psn; q.next++ {
		if q.at(q.next).wr.Op == Read {
			q.reads++
		}
	}
	q.nic.activate(q)
}

// restartTimer lets the ACK timeout run from now.
func (q *QP) restartTimer() {
	timeout := q.cfg.ACKTimeout()
	if timeout == 0 {
		return
	}
	q.deadline = q.sim.now + timeout
	if !q.timing {
		q.timing = true
		q.sim.agenda.push(q.deadline, eventTimeout, q.id)
	}
}

// timer is the timeout event: if the deadline has moved on, so does the event.
func (q *QP) timer() {
	q.timing = false
	switch {
	case q.deadline == never:
	case q.deadline > q.sim.now:
		q.timing = true
		q.sim.agenda.push(q.deadline, eventTimeout, q.id)
	default:
		q.stats.Timeouts++
		q.retry(q.una)
	}
}
