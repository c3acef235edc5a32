package chaos

import (
	"errors"
	"fmt"
	"sync"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// ends knows the peers' halves of the endpoints, so that a QP of the engine can be told
// which route it belongs to, and a route's far end can be destroyed. It is safe for
// concurrent use.
type ends struct {
	mu   sync.Mutex
	near map[string]int // NIC of host A, by GID
	far  map[end]*farQP
}

// end names a QP.
type end struct {
	gid string
	qpn uint32
}

func newEnds() *ends { return &ends{near: map[string]int{}, far: map[end]*farQP{}} }

func (e *ends) nearGID(gid string, local int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.near[gid] = local
}

// find returns the peer and the NIC of a remote QP.
func (e *ends) find(a fabric.Address) (route, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.far[end{a.GID, a.QPN}]
	if q == nil {
		return route{}, fmt.Errorf("chaos: no peer has a QP %#x at %s", a.QPN, a.GID)
	}
	return route{peer: q.nic.peer, remote: q.nic.remote}, nil
}

// destroy destroys the peer's QPs of a route.
func (e *ends) destroy(r route) error {
	var list []*farQP
	e.mu.Lock()
	for _, q := range e.far {
		if q.nic.peer == r.peer && q.nic.remote == r.remote && q.local == r.local {
			list = append(list, q)
		}
	}
	e.mu.Unlock()
	var faults []error
	for _, q := range list {
		faults = append(faults, q.Close())
	}
	return errors.Join(faults...)
}

// wrap returns a peer's host as its server sees it.
func (e *ends) wrap(h fabric.Host, peer int, o *objects) fabric.Host {
	list := &host{Host: h, objects: o}
	for i, nic := range h.NICs() {
		list.nics = append(list.nics, &farNIC{counting{nic, o}, e, peer, i})
	}
	return list
}

type farNIC struct {
	counting
	ends         *ends
	peer, remote int
}

type farCQ struct {
	fabric.CQ
	objects *objects
}

func (n *farNIC) NewCQ(depth int) (fabric.CQ, error) {
	c, err := n.NIC.NewCQ(depth)
	if err != nil {
		return nil, err
	}
	n.objects.cqs.Add(1)
	return &farCQ{c, n.objects}, nil
}

func (c *farCQ) Close() error {
	err := c.CQ.Close()
	if err == nil {
		c.objects.cqs.Add(-1)
	}
	return err
}

func (n *farNIC) NewQP(c fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	inner, err := n.NIC.NewQP(c.(*farCQ).CQ, cfg)
	if err != nil {
		return nil, err
	}
	a := inner.Address()
	q := &farQP{QP: inner, nic: n, id: end{a.GID, a.QPN}, local: -1}
	n.objects.qps.Add(1)
	n.ends.mu.Lock()
	defer n.ends.mu.Unlock()
	n.ends.far[q.id] = q
	return q, nil
}

// farQP is a peer's half of a QP of the engine.
type farQP struct {
	fabric.QP
	nic *farNIC
	id  end

	// Those of ends guard what follows.
	local  int
	closed bool
}

func (q *farQP) Connect(remote fabric.Address) error {
	e := q.nic.ends
	e.mu.Lock()
	q.local = e.near[remote.GID]
	e.mu.Unlock()
	return q.QP.Connect(remote)
}

// Close destroys the QP. Its server does so once more after a fault did.
func (q *farQP) Close() error {
	if err := q.QP.Close(); err != nil {
		return err
	}
	e := q.nic.ends
	e.mu.Lock()
	defer e.mu.Unlock()
	if !q.closed {
		q.closed = true
		if e.far[q.id] == q { // numbers are given again
			delete(e.far, q.id)
		}
		q.nic.objects.qps.Add(-1)
	}
	return nil
}
