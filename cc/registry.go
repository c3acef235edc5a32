package cc

import (
	"github.com/rdmagate/rdmagate/classify"
)

// registry finds the QPs that an asynchronous event speaks of. It holds the QPs
// of current generations only: an element of a retired one is not found, and so
// changes nothing. The controller's lock guards it; the post path never comes
// here.
type registry map[qpKey]*registered

type qpKey struct {
	device string
	id     uint64
}

type registered struct {
	gen *generation
	qp  *qp
}

// swap puts the QPs of next in the place of those of old; either may be nil. A QP
// number that another endpoint of the device holds goes to next: the hardware gives
// a number again only once the QP that had it is gone.
func (reg registry) swap(device string, old, next *generation) {
	if old != nil {
		for i := range old.qps {
			key := qpKey{device, old.qps[i].ID}
			if r := reg[key]; r != nil && r.gen == old {
				delete(reg, key)
			}
		}
	}
	if next != nil {
		for i := range next.qps {
			reg[qpKey{device, next.qps[i].ID}] = &registered{next, &next.qps[i]}
		}
	}
}

// visit calls f for each registered QP within an event's scope.
func (reg registry) visit(scope classify.Scope, e classify.Event, f func(*registered)) {
	if e.Type.Object() == classify.ObjectQP {
		if r := reg[qpKey{e.Element.Device, e.Element.QP}]; r != nil {
			f(r)
		}
		return
	}
	for key, r := range reg {
		if key.device == e.Element.Device && within(scope, e, r) {
			f(r)
		}
	}
}

// within reports whether a QP of the element's device lies in the event's scope.
// An element number of 0 names nothing.
func within(scope classify.Scope, e classify.Event, r *registered) bool {
	same := func(registered, named uint64) bool { return named != 0 && registered == named }
	switch e.Type.Object() {
	case classify.ObjectSRQ:
		return same(r.qp.SRQ, e.Element.SRQ)
	case classify.ObjectWQ:
		return same(r.qp.WQ, e.Element.WQ)
	case classify.ObjectCQ:
		return same(r.qp.CQ, e.Element.CQ)
	case classify.ObjectPort:
		return r.gen.route.pair.Port == e.Element.Port
	}
	return scope == classify.ScopeDevice
}
