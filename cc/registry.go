package cc

import (
	"cmp"
	"slices"

	"github.com/rdmagate/rdmagate/classify"
)

// registry finds the QPs of a device that an asynchronous event speaks of. It holds
// the QPs of current generations only: an element of a retired one is not found, and
// so changes nothing. The controller's lock guards it; the post path never comes
// here.
//
// It leads from a QP's number to the generation alone, which finds the QP itself:
// nothing is allocated for a QP that is registered.
type registry map[uint64]*generation

// registered is a QP that was found.
type registered struct {
	gen *generation
	qp  *qp
}

// fewQPs is how many QPs of an endpoint are looked through for each of them.
const fewQPs = 16

// swap puts the QPs of next in the place of those of old, which may have none. A QP
// number that another endpoint of the device holds goes to next: the hardware gives
// a number again only once the QP that had it is gone.
func (reg registry) swap(old, next *generation) {
	for i := range old.qps {
		if id := old.qps[i].ID; reg[id] == old {
			delete(reg, id)
		}
	}
	for i := range next.qps {
		reg[next.qps[i].ID] = next
	}
}

// within returns the registered QPs that an event of the device reaches, in the order of
// their numbers: what happens to their routes is then the same in every run.
func (reg registry) within(scope classify.Scope, e classify.Event) (found []registered) {
	if e.Type.Object() == classify.ObjectQP {
		if gen := reg[e.Element.QP]; gen != nil {
			found = append(found, registered{gen, gen.qp(e.Element.QP)})
		}
		return found
	}
	take := func(gen *generation, q *qp) {
		if r := (registered{gen, q}); r.within(scope, e) {
			found = append(found, r)
		}
	}
	wide := map[*generation]bool{} // those with many QPs that were seen: each is looked through once
	for id, gen := range reg {
		switch {
		case len(gen.qps) <= fewQPs:
			take(gen, gen.qp(id))
		case !wide[gen]:
			wide[gen] = true
			for i := range gen.qps {
				if q := &gen.qps[i]; reg[q.ID] == gen {
					take(gen, q)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b registered) int { return cmp.Compare(a.qp.ID, b.qp.ID) })
	return found
}

// within reports whether a QP of the element's device lies in the event's scope.
// An element number of 0 names nothing.
func (r registered) within(scope classify.Scope, e classify.Event) bool {
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
