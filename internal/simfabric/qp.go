package simfabric

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

var _ fabric.QP = (*QP)(nil)

// Limits of a QP.
const (
	maxDepth = 1 << 15 // work requests per queue
	maxSGE   = 16      // SGEs per work request
)

// QP is one end of a reliable connection.
type QP struct {
	nic    *NIC
	net    *Net
	cq     *CQ
	id     uint64
	qpn    uint32
	cfg    fabric.QPConfig
	state  verbs.QPState // INIT, RTS, ERR, and RESET once it is closed
	remote fabric.Address
	peer   *NIC

	requester
	recvs []*receive // posted and not yet used
}

// NewQP makes a QP in state INIT, whose completions go to cq, a CQ of the same NIC.
// SendDepth is 1 to 32768, RecvDepth 0 to 32768; the rest is as fabric.QPConfig says.
func (p *NIC) NewQP(cq fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	const call = "new QP"
	if err := checkQPConfig(call, p.String(), cfg); err != nil {
		return nil, err
	}
	p.net.lock()
	defer p.net.unlock()
	if err := p.host.open(call, p.String()); err != nil {
		return nil, err
	}
	c, err := p.checkCQ(call, cq)
	if err != nil {
		return nil, err
	}
	p.net.qpns++
	q := &QP{nic: p, net: p.net, cq: c, id: nextID(), qpn: p.net.qpns, cfg: cfg, state: verbs.StateInit}
	p.qps[q.qpn] = q
	c.qps[q] = true
	return q, nil
}

func checkQPConfig(call, object string, cfg fabric.QPConfig) error {
	switch {
	case cfg.SendDepth < 1 || cfg.SendDepth > maxDepth:
		return invalid(call, object, fmt.Sprintf("SendDepth is %d", cfg.SendDepth), fmt.Sprintf("set it to 1 to %d", maxDepth))
	case cfg.RecvDepth < 0 || cfg.RecvDepth > maxDepth:
		return invalid(call, object, fmt.Sprintf("RecvDepth is %d", cfg.RecvDepth), fmt.Sprintf("set it to 0 to %d", maxDepth))
	case cfg.Timeout < 1 || cfg.Timeout > 31:
		return invalid(call, object, fmt.Sprintf("Timeout is %d", cfg.Timeout), "set it to 1 to 31, for 4.096 us x 2^Timeout")
	case cfg.Retry > 7:
		return invalid(call, object, fmt.Sprintf("Retry is %d", cfg.Retry), "set it to 0 to 7")
	case cfg.RNRRetry > 7:
		return invalid(call, object, fmt.Sprintf("RNRRetry is %d", cfg.RNRRetry), "set it to 0 to 7")
	}
	return nil
}

// ID returns a number that no other CQ or QP of the process ever has. It is 2^63 or
// above, where package verbs has none.
func (q *QP) ID() uint64 { return q.id }

// String names the QP as errors do.
func (q *QP) String() string { return fmt.Sprintf("QP %#x of %v", q.qpn, q.nic) }

// Address returns what the peer's Connect needs.
func (q *QP) Address() fabric.Address {
	return fabric.Address{QPN: q.qpn, PSN: q.qpn << 8 & 0xffffff, GID: q.nic.gid, MTU: q.nic.mtu}
}

// Connect brings the QP from INIT to RTS towards a remote QP. That one answers once
// it is connected to this one. The MTU in use is the smaller of the two.
func (q *QP) Connect(remote fabric.Address) error {
	const call = "connect"
	q.net.lock()
	defer q.net.unlock()
	if err := q.open(call); err != nil {
		return err
	}
	peer := q.net.nics[remote.GID]
	switch {
	case q.state != verbs.StateInit:
		return invalid(call, q.String(), fmt.Sprintf("the state is %v", q.state), "connect a new QP, once")
	case peer == nil:
		return invalid(call, q.String(), fmt.Sprintf("no NIC of this fabric has the GID %q", remote.GID), "pass the Address of the remote QP as it is")
	case remote.QPN == 0 || remote.QPN > 0xffffff:
		return invalid(call, q.String(), fmt.Sprintf("the QP number is %#x", remote.QPN), "pass the Address of the remote QP as it is")
	case remote.MTU < 256:
		return invalid(call, q.String(), fmt.Sprintf("the MTU is %d bytes", remote.MTU), "pass the Address of the remote QP as it is")
	}
	q.remote, q.peer, q.state = remote, peer, verbs.StateRTS
	q.requests = stream{from: q.nic, to: peer}
	q.answers = stream{from: peer, to: q.nic}
	return nil
}

// Fail moves the QP to ERR: outstanding work requests flush, and so does what is
// posted afterwards.
func (q *QP) Fail() error {
	q.net.lock()
	defer q.net.unlock()
	if err := q.open("fail"); err != nil {
		return err
	}
	q.fail()
	return nil
}

// Close destroys the QP. Outstanding work requests never complete, and completions
// that nobody has polled are gone. Closing twice is nil.
func (q *QP) Close() error {
	q.net.lock()
	defer q.net.unlock()
	q.destroy()
	return nil
}

func (q *QP) destroy() {
	if q.state == verbs.StateReset {
		return
	}
	q.state = verbs.StateReset
	q.rewind()
	q.outstanding, q.recvs = nil, nil
	delete(q.nic.qps, q.qpn)
	delete(q.cq.qps, q)
	q.cq.purge(q.qpn)
}

// fail moves the QP to ERR and flushes both queues.
func (q *QP) fail() {
	if q.state == verbs.StateReset || q.state == verbs.StateErr {
		return
	}
	q.state = verbs.StateErr
	q.rewind()
	sends, recvs := q.outstanding, q.recvs
	q.outstanding, q.recvs = nil, nil
	for _, w := range sends {
		q.complainOf(w.WRID, classify.StatusWRFlushErr)
	}
	for _, r := range recvs {
		q.complainOf(r.id, classify.StatusWRFlushErr)
	}
}

// open reports an error if the QP is closed.
func (q *QP) open(call string) error {
	if err := q.nic.host.open(call, q.String()); err != nil {
		return err
	}
	if q.state == verbs.StateReset {
		return &problem{call: call, object: q.String(), remedy: "make a new QP", cause: verbs.ErrClosed}
	}
	return nil
}

// garbage is what fields of a failed completion hold that mean nothing.
const garbage = 0xbad0bad0

// vendorBase is the high part of vendor_err, invented like all of it.
const vendorBase = 0x5300

// complainOf completes a work request of either queue with an error.
func (q *QP) complainOf(id uint64, status classify.Status) {
	q.cq.push(verbs.WC{
		WRID:      id,
		Status:    status,
		VendorErr: vendorBase + uint32(status),
		QPNum:     q.qpn,
		Opcode:    verbs.WCOpcode(garbage),
		ByteLen:   garbage,
	})
}

// timeout returns how long the QP waits for an answer before it tries again.
func (q *QP) timeout() time.Duration { return 4096 * time.Nanosecond << q.cfg.Timeout }

// partner returns the QP at the other end, nil unless it answers: it exists, and is
// connected to this one.
func (q *QP) partner() *QP {
	peer := q.peer.qps[q.remote.QPN]
	if peer == nil || peer.state != verbs.StateRTS || peer.peer != q.nic || peer.remote.QPN != q.qpn {
		return nil
	}
	return peer
}
