package fabric

import (
	"fmt"
	"slices"
)

// Host is a machine with one or more NICs.
type Host struct {
	Name string // "h0"
	NICs []*NIC
}

func newHost(i int) *Host { return &Host{Name: fmt.Sprint("h", i)} }

// NIC is an RDMA device with one port, number 1.
type NIC struct {
	Name string // unique in the fabric: "h0n1" is NIC 1 of host 0
	Host *Host

	sim   *Sim
	id    int32
	port  *Port // what it sends
	ready []*QP // those that may have something to send
	turn  int   // in ready

	receiver ReceiveConfig
	buffer   fifo // received and not yet taken by the host
	draining bool

	blocked map[int32]bool // numbers of NICs that nothing of this one reaches

	events []Event
	notify func()
}

func (s *Sim) newNIC(h *Host) *NIC {
	n := &NIC{
		Name: fmt.Sprint(h.Name, "n", len(h.NICs)), Host: h,
		sim: s, id: int32(len(s.nics)), receiver: s.cfg.Receiver,
	}
	h.NICs = append(h.NICs, n)
	return n
}

// Link returns the link of the NIC. Its A is what the NIC sends.
func (n *NIC) Link() *Link { return n.port.link }

// Drain sets the rate in bit/s at which the host takes what the NIC receives; 0 is
// at once. It holds from the next packet on.
func (n *NIC) Drain(rate int64) { n.receiver.Drain = rate }

// activate lets a QP take part in the turns. Whoever gives a QP something to send
// calls it.
func (n *NIC) activate(q *QP) {
	if q.ready || !q.alive {
		return
	}
	q.ready = true
	n.ready = append(n.ready, q)
	n.port.kick()
}

// next takes a packet from the next QP that has one and whose rate allows it now.
func (n *NIC) next() *packet {
	now, soonest := n.sim.now, never
	for waiting := 0; waiting < len(n.ready); {
		if n.turn >= len(n.ready) {
			n.turn = 0
		}
		q := n.ready[n.turn]
		if q.sendAt > now {
			soonest = min(soonest, q.sendAt)
			waiting++
			n.turn++
			continue
		}
		if k := q.emit(); k != nil {
			n.turn++
			return k
		}
		q.ready = false
		n.ready = slices.Delete(n.ready, n.turn, n.turn+1)
	}
	n.port.wakeAt(soonest)
	return nil
}

// reply sends a packet of the control class.
func (n *NIC) reply(k *packet) {
	n.port.control.push(k)
	n.port.kick()
}

// receive takes a packet from the wire: into the receive buffer if the host is
// slower than the wire.
func (n *NIC) receive(k *packet) {
	if k.kind.control() || n.receiver.Drain == 0 && n.buffer.head == nil {
		n.process(k)
		return
	}
	bytes := n.buffer.bytes + int64(k.wire)
	if bytes > n.receiver.Buffer+n.port.headroom {
		n.port.peer.stats.Dropped += int64(k.wire)
		n.sim.discard(k)
		return
	}
	n.buffer.push(k)
	if !n.sim.cfg.Switch.Lossy && bytes > n.receiver.Buffer {
		n.port.want(true)
	}
	if !n.draining {
		n.draining = true
		n.drainNext()
	}
}

func (n *NIC) drainNext() {
	at := n.sim.now
	if rate := n.receiver.Drain; rate > 0 {
		at += transmission(int64(n.buffer.head.wire), rate)
	}
	n.sim.agenda.push(at, eventDrain, n.id)
}

// drain gives the first packet of the receive buffer to its QP.
func (n *NIC) drain() {
	k := n.buffer.pop()
	if n.buffer.head != nil {
		n.drainNext()
	} else {
		n.draining = false
	}
	if n.port.wanted && n.buffer.bytes <= n.receiver.Buffer-2*int64(n.sim.cfg.MTU+dataOverhead) {
		n.port.want(false)
	}
	n.process(k)
}

// process gives a packet to its QP, if that still is there.
func (n *NIC) process(k *packet) {
	n.sim.totals.Delivered += int64(k.wire)
	if q := k.to; q.alive && q.peer != nil {
		if k.marked {
			q.congestionSeen()
		}
		switch k.kind {
		case packetWrite, packetSend:
			q.receiveData(k)
		case packetRead:
			q.receiveRead(k)
		case packetResponse:
			q.receiveResponse(k)
		case packetRefusal:
			q.receiveRefusal(k.psn, k.status)
		case packetACK:
			q.receiveACK(k.psn)
		case packetNAK:
			q.receiveNAK(k.psn)
		case packetRNR:
			q.receiveRNR(k.psn)
		case packetCNP:
			q.receiveCNP()
		}
	}
	n.sim.give(k)
}
