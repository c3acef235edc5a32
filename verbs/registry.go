package verbs

import (
	"sync"

	"github.com/rdmagate/rdmagate/verbs/internal/serial"
)

// registry finds the handle of the object that an event speaks of. Objects of
// ours carry their ID in libibverbs' user context, so a reused address or QP
// number cannot be taken for its former owner. Wrapped CQs carry whatever their
// owner stored, and are found by address.
type registry struct {
	mu      sync.RWMutex
	own     map[uint64]entry
	foreign map[uintptr]*CQ
}

type entry struct {
	address uintptr
	qp      *QP
	cq      *CQ
}

var handles = registry{
	own:     make(map[uint64]entry),
	foreign: make(map[uintptr]*CQ),
}

func (r *registry) addQP(qp *QP) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own[qp.id] = entry{address: uintptr(qp.ptr), qp: qp}
}

func (r *registry) addCQ(cq *CQ) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cq.foreign {
		r.foreign[uintptr(cq.ptr)] = cq
		return
	}
	r.own[cq.id] = entry{address: uintptr(cq.ptr), cq: cq}
}

func (r *registry) removeQP(qp *QP) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.own, qp.id)
}

func (r *registry) removeCQ(cq *CQ) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !cq.foreign {
		delete(r.own, cq.id)
		return
	}
	if r.foreign[uintptr(cq.ptr)] == cq {
		delete(r.foreign, uintptr(cq.ptr))
	}
}

// qp returns the open QP that carries the cookie and lies at the address. The
// second result is its ID, also if it has been closed since; 0 if the QP is not
// ours.
func (r *registry) qp(cookie uint64, address uintptr) (*QP, uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, ok := r.own[cookie]
	switch {
	case !ok && serial.Given(cookie):
		return nil, cookie
	case e.qp == nil || e.address != address:
		return nil, 0
	}
	return e.qp, cookie
}

// cq is qp for CQs.
func (r *registry) cq(cookie uint64, address uintptr) (*CQ, uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, ok := r.own[cookie]
	switch {
	case ok && e.cq != nil && e.address == address:
		return e.cq, cookie
	case !ok && serial.Given(cookie):
		return nil, cookie
	}
	if cq := r.foreign[address]; cq != nil {
		return cq, cq.id
	}
	return nil, 0
}
