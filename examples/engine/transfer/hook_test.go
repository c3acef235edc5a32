package transfer

import (
	"slices"
	"sync"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

// hooks come between an engine and its fabric. A nil one does nothing.
type hooks struct {
	post func(qp fabric.QP, wrs []verbs.SendWR) (int, error)
	fail func(qp fabric.QP) error

	mu    sync.Mutex // the others may be set while the engine runs
	poll  func(cq fabric.CQ, wcs []verbs.WC) (int, error)
	newQP func() error
}

func (h *hooks) setPoll(f func(fabric.CQ, []verbs.WC) (int, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.poll = f
}

func (h *hooks) setNewQP(f func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newQP = f
}

func (h *hooks) get() (func(fabric.CQ, []verbs.WC) (int, error), func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.poll, h.newQP
}

// wrap puts the hooks in front of a host.
func (h *hooks) wrap(host fabric.Host) fabric.Host { return &hookedHost{host, h} }

type hookedHost struct {
	fabric.Host
	hooks *hooks
}

type hookedNIC struct {
	fabric.NIC
	hooks *hooks
}

type hookedCQ struct {
	fabric.CQ
	hooks *hooks
}

type hookedQP struct {
	fabric.QP
	hooks *hooks
}

func (h *hookedHost) NICs() []fabric.NIC {
	var nics []fabric.NIC
	for _, nic := range h.Host.NICs() {
		nics = append(nics, &hookedNIC{nic, h.hooks})
	}
	return nics
}

func (n *hookedNIC) NewCQ(depth int) (fabric.CQ, error) {
	cq, err := n.NIC.NewCQ(depth)
	return &hookedCQ{cq, n.hooks}, err
}

func (n *hookedNIC) NewQP(cq fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	if _, newQP := n.hooks.get(); newQP != nil {
		if err := newQP(); err != nil {
			return nil, err
		}
	}
	qp, err := n.NIC.NewQP(cq.(*hookedCQ).CQ, cfg)
	return &hookedQP{qp, n.hooks}, err
}

func (c *hookedCQ) Poll(wcs []verbs.WC) (int, error) {
	if poll, _ := c.hooks.get(); poll != nil {
		return poll(c.CQ, wcs)
	}
	return c.CQ.Poll(wcs)
}

func (q *hookedQP) PostSend(wrs []verbs.SendWR) (int, error) {
	if q.hooks.post != nil {
		return q.hooks.post(q.QP, wrs)
	}
	return q.QP.PostSend(wrs)
}

func (q *hookedQP) Fail() error {
	if q.hooks.fail != nil {
		return q.hooks.fail(q.QP)
	}
	return q.QP.Fail()
}

// worksOn reports whether a CQ is one of the first worker's.
func (r *rig) worksOn(cq fabric.CQ) bool {
	return slices.ContainsFunc(r.engine.workers[0].cqs, func(mine *completionQueue) bool { return mine.ID() == cq.ID() })
}
