package fabric

import "github.com/rdmagate/rdmagate/classify"

// job is a READ, or the rest of one, that is being answered, or a refusal.
type job struct {
	psn, end uint64          // next response, and the one behind the last
	bytes    int64           // still to send
	status   classify.Status // of a refusal
}

// responder is the half of a QP that carries out requests.
type responder struct {
	expected uint64
	arrived  int  // requests of the peer, from the first on
	deaf     bool // one was refused: no further one is taken
	refused  bool // expected was asked for by a NAK
	unacked  int  // packets since the last ACK
	message  int64
	receives []uint64 // posted, oldest first
	jobs     []job    // oldest first

	delivered func(op Op, bytes int64) // each message in turn, if set
}

// inOrder says whether a request is the expected one or a duplicate. Of those
// behind a gap the first one makes a NAK.
func (q *QP) inOrder(psn uint64) bool {
	if psn <= q.expected {
		return psn < q.expected || !q.deaf
	}
	if !q.refused && !q.deaf {
		q.refused = true
		q.answer(packetNAK)
	}
	return false
}

// answer sends an ACK or NAK.
func (q *QP) answer(kind packetKind) {
	k := q.packet(kind, ackWire)
	k.psn = q.expected
	q.unacked = 0
	q.nic.reply(k)
}

// receiveData takes a packet of a WRITE or SEND.
func (q *QP) receiveData(k *packet) {
	if !q.inOrder(k.psn) {
		return
	}
	if k.psn == q.expected {
		if k.kind == packetSend && len(q.receives) == 0 {
			q.refused = true
			q.answer(packetRNR)
			return
		}
		if k.last && !q.carry() {
			return
		}
		q.refused = false
		q.expected++
		q.execute(k)
	}
	q.unacked++
	if k.last || q.unacked >= q.cfg.AckEvery {
		q.answer(packetACK)
	}
}

// execute delivers a packet that is delivered for the first time.
func (q *QP) execute(k *packet) {
	if k.first {
		q.message = 0
	}
	q.message += int64(k.payload)
	q.stats.Received += int64(k.payload)
	if !k.last {
		return
	}
	if k.kind == packetSend {
		q.recvCQ.add(q.receives[0], classify.StatusSuccess, q.Num)
		q.receives = q.receives[1:]
		q.tellDelivery(Send, q.message)
		return
	}
	q.tellDelivery(Write, q.message)
}

func (q *QP) tellDelivery(op Op, bytes int64) {
	if q.delivered != nil {
		q.delivered(op, bytes)
	}
}

// receiveRead takes a READ request. One that comes again stands for all that was
// still to be answered from its number on: the requester has gone back.
func (q *QP) receiveRead(k *packet) {
	if !q.inOrder(k.psn) {
		return
	}
	end := k.psn + q.packets(k.bytes)
	if k.psn == q.expected {
		if !q.carry() {
			return
		}
		q.refused = false
		q.expected = end
		q.tellDelivery(Read, k.bytes)
	} else {
		for n := len(q.jobs); n > 0 && q.jobs[n-1].end > k.psn; n-- {
			q.deaf = q.deaf && q.jobs[n-1].status == classify.StatusSuccess
			q.jobs = q.jobs[:n-1]
		}
	}
	q.jobs = append(q.jobs, job{psn: k.psn, end: end, bytes: k.bytes})
	q.nic.activate(q)
}

// nextResponse makes the next data packet of the oldest READ, or the refusal behind all
// of them, or returns nil.
func (q *QP) nextResponse() *packet {
	if len(q.jobs) == 0 {
		return nil
	}
	j := &q.jobs[0]
	if j.status != classify.StatusSuccess {
		return q.refuse(*j)
	}
	k := q.packet(packetResponse, dataOverhead)
	k.psn = j.psn
	q.fill(k, j.bytes)
	j.psn++
	j.bytes -= int64(k.payload)
	if j.psn == j.end {
		q.jobs = q.jobs[:copy(q.jobs, q.jobs[1:])]
	}
	return k
}
