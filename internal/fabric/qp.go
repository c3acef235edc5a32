package fabric

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// Op is the operation of a work request.
type Op uint8

// The operations.
const (
	Write Op = iota
	Read
	Send // takes a receive of the peer, see [QP.PostRecv]
)

// WR is a work request for the send queue.
type WR struct {
	ID         uint64 // comes back in the completion
	Op         Op
	Bytes      int64 // 0 to 1<<31
	Unsignaled bool  // no completion on success
}

// Errors of [QP.Post], [QP.PostRecv] and [Sim.Connect].
var (
	ErrQueueFull  = errors.New("fabric: work queue is full")
	ErrBadRequest = errors.New("fabric: bad work request, or QP without a peer")
	ErrDestroyed  = errors.New("fabric: QP is destroyed")
)

// QPConfig is what both ends of a connection are set to. Start from [DefaultQP]: a
// zero means zero here.
type QPConfig struct {
	SendDepth int           // work requests, 1 to 65536
	RecvDepth int           // receives, 0 to 65536
	MaxReads  int           // outstanding READs, 1 to 255
	AckEvery  int           // packets to an ACK, 1 to 1024; a message's last packet always has one
	Timeout   int           // 4.096 us x 2^Timeout, 0 to 31; 0 is none
	Retry     int           // 0 to 7
	RNRRetry  int           // 0 to 7; 7 is for ever
	RNRDelay  time.Duration // positive
}

// DefaultQP returns what RC engines commonly choose: 128 work requests, 16 READs,
// timeout 14 (67 ms), 7 retries, RNR retry for ever after 0.64 ms.
func DefaultQP() QPConfig {
	return QPConfig{
		SendDepth: 128, RecvDepth: 128, MaxReads: 16, AckEvery: 16,
		Timeout: 14, Retry: 7, RNRRetry: 7, RNRDelay: 640 * time.Microsecond,
	}
}

// ACKTimeout returns the ACK timeout, 0 if there is none.
func (c QPConfig) ACKTimeout() Time {
	if c.Timeout == 0 {
		return 0
	}
	return 4096 * Nanosecond << c.Timeout
}

func (c QPConfig) validate() error {
	in := func(name string, v, low, high int) error {
		if v < low || v > high {
			return fmt.Errorf("fabric: QP: %s %d is not %d to %d", name, v, low, high)
		}
		return nil
	}
	err := errors.Join(
		in("SendDepth", c.SendDepth, 1, 65536), in("RecvDepth", c.RecvDepth, 0, 65536),
		in("MaxReads", c.MaxReads, 1, 255), in("AckEvery", c.AckEvery, 1, 1024),
		in("Timeout", c.Timeout, 0, 31), in("Retry", c.Retry, 0, 7), in("RNRRetry", c.RNRRetry, 0, 7))
	if c.RNRDelay <= 0 || c.RNRDelay > time.Hour {
		err = errors.Join(err, fmt.Errorf("fabric: QP: RNRDelay %v is not positive, up to 1h", c.RNRDelay))
	}
	return err
}

// Endpoint is one end of a connection. Completions for which there is no CQ are lost.
type Endpoint struct {
	NIC        *NIC
	Send, Recv *CQ
}

// QP is one end of a reliable connection.
type QP struct {
	Num uint32 // never given twice in one Sim

	sim    *Sim
	id     int32
	nic    *NIC
	peer   *QP // nil until it is joined
	cfg    QPConfig
	path   uint32 // hash of what it sends
	cargo  Cargo  // of what it sends, or nil
	sendCQ *CQ
	recvCQ *CQ

	alive     bool // neither failed nor destroyed
	destroyed bool
	ready     bool // in the NIC's turns
	sendAt    Time // not before

	requester
	responder
	limiter

	stats QPStats
}

// Connect builds a QP on each of two NICs and connects them.
func (s *Sim) Connect(a, b Endpoint, cfg QPConfig) (*QP, *QP, error) {
	if err := s.check(a, b, cfg); err != nil {
		return nil, nil, err
	}
	p, q := s.newQP(a, cfg), s.newQP(b, cfg)
	p.join(q)
	q.join(p)
	return p, q, nil
}

func (s *Sim) check(a, b Endpoint, cfg QPConfig) error {
	if a.NIC == nil || b.NIC == nil || a.NIC.sim != s || b.NIC.sim != s {
		return errors.New("fabric: an endpoint has no NIC of this fabric")
	}
	if a.NIC == b.NIC {
		return errors.New("fabric: both endpoints are one NIC")
	}
	return cfg.validate()
}

// NewQP builds a QP without a peer, for software that connects its two ends one after the
// other: see [QP.Join].
func (s *Sim) NewQP(e Endpoint, cfg QPConfig) (*QP, error) {
	if e.NIC == nil || e.NIC.sim != s {
		return nil, errors.New("fabric: the endpoint has no NIC of this fabric")
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return s.newQP(e, cfg), nil
}

// Join makes peer, on another NIC, the other end of a QP that has none. Only this end is
// connected then: what it sends gets lost until peer is joined to it.
func (q *QP) Join(peer *QP) error {
	switch {
	case peer == nil || peer.sim != q.sim:
		return errors.New("fabric: the peer is no QP of this fabric")
	case peer.nic == q.nic:
		return errors.New("fabric: both endpoints are one NIC")
	case q.peer != nil:
		return errors.New("fabric: the QP has a peer already")
	}
	q.join(peer)
	return nil
}

func (q *QP) join(peer *QP) {
	q.peer = peer
	q.path = uint32(hash(q.sim.cfg.Seed, uint64(q.nic.id), uint64(peer.nic.id), uint64(q.Num)))
}

func (s *Sim) newQP(e Endpoint, cfg QPConfig) *QP {
	size := 1 << bits.Len(uint(cfg.SendDepth-1))
	q := &QP{
		Num: uint32(len(s.qps) + 1), sim: s, id: int32(len(s.qps)),
		nic: e.NIC, cfg: cfg, sendCQ: e.Send, recvCQ: e.Recv, alive: true,
		requester: requester{queue: make([]request, size), deadline: never},
	}
	q.limiter.start(s.cfg.DCQCN, e.NIC.port.rate)
	s.qps = append(s.qps, q)
	return q
}

// NIC returns the QP's NIC.
func (q *QP) NIC() *NIC { return q.nic }

// Peer returns the other end of the connection, nil before Join.
func (q *QP) Peer() *QP { return q.peer }

// Failed says whether the QP is in the error state.
func (q *QP) Failed() bool { return !q.alive }

// Outstanding returns how many work requests are in the send queue.
func (q *QP) Outstanding() int { return q.tail - q.head }

// Post adds a work request to the send queue. A QP that has failed flushes it at once.
// Errors are ErrQueueFull, ErrBadRequest and ErrDestroyed.
func (q *QP) Post(wr WR) error {
	if wr.Op > Send || wr.Bytes < 0 || wr.Bytes > 1<<31 || q.peer == nil {
		return ErrBadRequest
	}
	if q.destroyed {
		return ErrDestroyed
	}
	if !q.alive {
		q.sendCQ.add(wr.ID, classify.StatusWRFlushErr, q.Num)
		return nil
	}
	if q.tail-q.head == q.cfg.SendDepth {
		return ErrQueueFull
	}
	q.append(wr)
	return nil
}

// PostRecv adds a receive for one SEND of the peer. Errors are ErrQueueFull and
// ErrDestroyed.
func (q *QP) PostRecv(id uint64) error {
	if q.destroyed {
		return ErrDestroyed
	}
	if !q.alive {
		q.recvCQ.add(id, classify.StatusWRFlushErr, q.Num)
		return nil
	}
	if len(q.receives) == q.cfg.RecvDepth {
		return ErrQueueFull
	}
	q.receives = append(q.receives, id)
	return nil
}

// Fail puts the QP into the error state: its oldest work request completes with
// status, all others are flushed. With [classify.StatusWRFlushErr] all are flushed, as
// by a modify to ERR. A QP that has failed stays as it is.
func (q *QP) Fail(status classify.Status) {
	if !q.alive {
		return
	}
	q.stop()
	for ; q.head != q.tail; q.head++ {
		q.sendCQ.add(q.at(q.head).wr.ID, status, q.Num)
		status = classify.StatusWRFlushErr
	}
	for _, id := range q.receives {
		q.recvCQ.add(id, classify.StatusWRFlushErr, q.Num)
	}
	q.receives = nil
}

// Destroy ends the QP. Its work requests complete no more; the peer is not told.
func (q *QP) Destroy() {
	q.destroyed = true
	if q.alive {
		q.stop()
		q.head, q.receives = q.tail, nil
	}
	q.queue = nil
}

// stop ends all that the QP does. Events that are still scheduled find it dead.
func (q *QP) stop() {
	q.alive = false
	q.deadline = never
	q.jobs = nil
}

// emit makes the QP's next packet, or returns nil if there is none to send now:
// responses first, then requests.
func (q *QP) emit() *packet {
	if !q.alive {
		return nil
	}
	k := q.nextResponse()
	if k == nil {
		k = q.nextRequest()
	}
	if k != nil {
		q.pace(k)
	}
	return k
}

// packet returns a packet for the peer.
func (q *QP) packet(kind packetKind, wire int32) *packet {
	k := q.sim.take()
	k.kind = kind
	k.wire = wire
	k.to = q.peer
	k.dst = q.peer.nic.id
	k.path = q.path
	return k
}

// fill makes k the next data packet of what remains of a message.
func (q *QP) fill(k *packet, remaining int64) {
	k.payload = int32(min(remaining, int64(q.sim.cfg.MTU)))
	k.wire += k.payload
}

// packets returns how many packets a message has.
func (q *QP) packets(bytes int64) uint64 {
	mtu := int64(q.sim.cfg.MTU)
	return max(1, uint64((bytes+mtu-1)/mtu))
}
