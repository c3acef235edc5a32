package livefabric

import (
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	sim "github.com/rdmagate/rdmagate/internal/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

var _ fabric.QP = (*QP)(nil)

const (
	mtu      = 4096             // bytes; the simulator's default
	maxReads = 16               // outstanding READs of a QP
	ackEvery = 16               // packets
	rnrDelay = time.Millisecond // after a receiver was not ready
)

// QP is one end of a reliable connection.
type QP struct {
	nic    *NIC
	cq     *CQ
	sim    *sim.QP
	id     uint64
	cfg    fabric.QPConfig
	peer   *NIC // nil before Connect
	closed bool

	sends, recvs queue
}

// NewQP makes a QP in state INIT, whose completions go to cq, a CQ of the same NIC.
// SendDepth is 1 to 65536, RecvDepth 0 to 65536; the rest is as fabric.QPConfig says.
func (p *NIC) NewQP(cq fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	const call = "new QP"
	n := p.host.net
	n.lock()
	defer n.unlock()
	if err := p.host.open(call, p); err != nil {
		return nil, err
	}
	c, ok := cq.(*CQ)
	if !ok || c == nil || c.nic != p {
		return nil, invalid(call, p, "the CQ is %v of type %T, which is none of this NIC", cq, cq)
	}
	if p.cqs[c.id] == nil {
		return nil, closed(call, c)
	}
	if cfg.Timeout == 0 {
		return nil, invalid(call, p, "Timeout is 0; set it to 1 to 31")
	}
	s, err := n.sim.NewQP(sim.Endpoint{NIC: p.sim, Send: c.sim, Recv: c.sim}, simConfig(cfg))
	if err != nil {
		return nil, errors.Join(invalid(call, p, "%+v", cfg), err)
	}
	q := &QP{nic: p, cq: c, sim: s, id: nextID(), cfg: cfg}
	s.Carry(q)
	p.qps[s.Num] = q
	c.users++
	return q, nil
}

func simConfig(cfg fabric.QPConfig) sim.QPConfig {
	return sim.QPConfig{
		SendDepth: cfg.SendDepth, RecvDepth: cfg.RecvDepth, MaxReads: maxReads, AckEvery: ackEvery,
		Timeout: int(cfg.Timeout), Retry: int(cfg.Retry), RNRRetry: int(cfg.RNRRetry), RNRDelay: rnrDelay,
	}
}

// ID returns a number that no other CQ or QP of the process ever has.
func (q *QP) ID() uint64 { return q.id }

// String names the QP as errors do.
func (q *QP) String() string { return fmt.Sprintf("QP %#x of %v", q.sim.Num, q.nic) }

// Address returns what the peer's Connect needs.
func (q *QP) Address() fabric.Address {
	return fabric.Address{QPN: q.sim.Num, PSN: q.sim.Num << 8 & 0xffffff, GID: q.nic.gid, MTU: mtu}
}

// Connect brings the QP from INIT to RTS towards a remote QP. That one answers once it
// is connected to this one, and never if it is closed or connected elsewhere.
func (q *QP) Connect(remote fabric.Address) error {
	const call = "connect"
	n := q.nic.host.net
	n.lock()
	defer n.unlock()
	if err := q.open(call); err != nil {
		return err
	}
	peer := n.nics[remote.GID]
	switch {
	case q.peer != nil:
		return invalid(call, q, "it is connected already")
	case peer == nil || peer == q.nic:
		return invalid(call, q, "no other NIC of this fabric has the GID %q", remote.GID)
	case remote.QPN == 0 || remote.QPN > 0xffffff || remote.MTU < 256:
		return invalid(call, q, "the address is %+v; pass that of the remote QP as it is", remote)
	}
	other := peer.qps[remote.QPN]
	if other == nil || other.peer != nil && other.sim.Peer() != q.sim {
		return q.connectToNobody(peer)
	}
	q.peer = peer
	return q.sim.Join(other.sim)
}

// connectToNobody connects the QP to one that never answers.
func (q *QP) connectToNobody(peer *NIC) error {
	nobody, err := q.nic.host.net.sim.NewQP(sim.Endpoint{NIC: peer.sim}, simConfig(q.cfg))
	if err != nil {
		return err
	}
	nobody.Destroy()
	q.peer = peer
	return q.sim.Join(nobody)
}

// Fail moves the QP to ERR: outstanding work requests flush, and so does what is posted
// afterwards.
func (q *QP) Fail() error {
	n := q.nic.host.net
	n.lock()
	defer n.unlock()
	if err := q.open("fail"); err != nil {
		return err
	}
	q.sim.Fail(classify.StatusWRFlushErr)
	return nil
}

// Close destroys the QP. Outstanding work requests never complete, and completions
// that nobody has polled are gone. Closing twice is nil.
func (q *QP) Close() error {
	n := q.nic.host.net
	n.lock()
	defer n.unlock()
	q.destroy()
	return nil
}

func (q *QP) destroy() {
	if q.closed {
		return
	}
	q.closed = true
	q.sim.Destroy()
	delete(q.nic.qps, q.sim.Num)
	q.cq.users--
	q.cq.purge(q.sim.Num)
	q.sends, q.recvs = queue{}, queue{}
}

// open reports an error if the QP is closed.
func (q *QP) open(call string) error {
	if err := q.nic.host.open(call, q); err != nil {
		return err
	}
	if q.closed {
		return closed(call, q)
	}
	return nil
}

// garbage is what fields of a failed completion hold that mean nothing.
const garbage = 0xbad0bad0

// complete makes a work completion of what the simulator says.
func (q *QP) complete(done sim.Completion) verbs.WC {
	list := &q.sends
	if done.WRID&receiving != 0 {
		list = &q.recvs
	}
	w := list.take(done.WRID &^ receiving)
	wc := verbs.WC{WRID: w.id, Status: done.Status, VendorErr: done.VendorErr, QPNum: done.QPNum, Opcode: verbs.WCOpcode(garbage), ByteLen: garbage}
	if done.Status == classify.StatusSuccess {
		wc.Opcode, wc.ByteLen = w.opcode, uint32(w.length)
	}
	return wc
}
