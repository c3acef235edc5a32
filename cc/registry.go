package cc

import (
	"fmt"

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

// swap puts the QPs of next in the place of those of old; either may be nil. It
// refuses a QP that another endpoint of the device holds, and then changes
// nothing.
func (reg registry) swap(device string, old, next *generation) error {
	if next != nil {
		for i := range next.qps {
			id := next.qps[i].ID
			if held := reg[qpKey{device, id}]; held != nil && held.gen != old {
				return fmt.Errorf("cc: Renew: QP %d of %s is registered by generation %d of %s; a live QP belongs to one endpoint",
					id, device, held.gen.number, held.gen.route.pair)
			}
		}
	}
	if old != nil {
		for i := range old.qps {
			delete(reg, qpKey{device, old.qps[i].ID})
		}
	}
	if next != nil {
		for i := range next.qps {
			reg[qpKey{device, next.qps[i].ID}] = &registered{next, &next.qps[i]}
		}
	}
	return nil
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
