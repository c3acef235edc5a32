package fabric

import "github.com/rdmagate/rdmagate/classify"

// Bytes on the wire beside the payload, preamble and gap included.
const (
	dataOverhead = 82 // Ethernet 18, IPv4 20, UDP 8, BTH 12, ICRC 4, preamble and gap 20
	ackWire      = 86 // the same, and AETH 4
	readWire     = 98 // the same as data, and RETH 16
	cnpWire      = 98 // the same as data, and 16 reserved
	pauseWire    = 84 // the shortest frame, preamble and gap
)

type packetKind uint8

const (
	packetWrite packetKind = iota
	packetSend
	packetRead     // request for count packets from psn on
	packetResponse // data of a READ
	packetRefusal  // as ACK, and psn was refused; in the data class, not to overtake responses
	packetACK      // everything below psn has come
	packetNAK      // as ACK, and psn is missing
	packetRNR      // as ACK, and psn has no receive
	packetCNP
	packetPause
	packetResume
)

// control says whether packets of this kind travel in the control class.
func (k packetKind) control() bool { return k >= packetACK }

// packet is one packet on its way. It is in one queue at a time and is linked there
// by next. Packets are pooled: nobody keeps one that was given away.
type packet struct {
	next    *packet
	at      Time   // arrival at the other end of the wire that it is on
	in      *Port  // port of the switch that its room is charged to
	to      *QP    // receiver
	psn     uint64 // sequence number, as its kind reads it
	bytes   int64  // of a READ request: bytes asked for
	path    uint32 // hash of its flow
	dst     int32  // number of the receiving NIC
	wire    int32  // bytes on the wire
	payload int32
	kind    packetKind
	status  classify.Status // of a refusal
	first   bool            // of its message
	last    bool            // of its message
	marked  bool            // ECN: congestion experienced
}

// take returns an empty packet.
func (s *Sim) take() *packet {
	p := s.pool
	if p == nil {
		block := make([]packet, 256)
		for i := range block[1:] {
			block[i].next = &block[i+1]
		}
		p = &block[0]
	}
	s.pool = p.next
	*p = packet{}
	return p
}

// give returns a packet to the pool.
func (s *Sim) give(p *packet) {
	p.next = s.pool
	s.pool = p
}

// fifo is a queue of packets and the bytes that they are on the wire.
type fifo struct {
	head, tail *packet
	bytes      int64
}

func (q *fifo) push(p *packet) {
	p.next = nil
	if q.tail == nil {
		q.head = p
	} else {
		q.tail.next = p
	}
	q.tail = p
	q.bytes += int64(p.wire)
}

// pop takes the first packet; there must be one.
func (q *fifo) pop() *packet {
	p := q.head
	q.head = p.next
	if q.head == nil {
		q.tail = nil
	}
	q.bytes -= int64(p.wire)
	return p
}
