package cc

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Generation numbers the endpoints (sets of QPs) that a route has had. It only
// grows. 0 is no endpoint.
type Generation uint64

// closedGeneration is current on every route of a closed controller.
const closedGeneration = ^Generation(0)

// QP names one QP of an endpoint for [Route.Renew], and the objects that it
// depends on. All are numbers of the caller's choosing, unique among the live
// objects of their kind on the local device; one that is never reused (the verbs
// package gives every object one) also tells a late event of an old QP from one of
// its successor. They are those of [classify.Element].
type QP struct {
	ID  uint64 // not 0
	CQ  uint64 // the CQ that its send completions go to; 0 if unknown
	SRQ uint64 // 0 if it has none
	WQ  uint64 // 0 if it has none
	// Incarnation tells the QP from others that had its ID, for controllers that share
	// QPs and a pause table: a failure that both report then counts once. 0 says that
	// no other controller names this QP.
	Incarnation uint64
}

// generation is one endpoint of a route. Its QPs are fixed.
type generation struct {
	number Generation
	route  *Route
	qps    []qp
	// gate is 0 while slices are admitted on it without a closer look.
	gate atomic.Uint32
	// used: something was posted on it.
	used atomic.Bool
}

// Bits of a generation's gate.
const (
	// gateRetired is set by a counted deadline: nothing more is admitted until the next
	// Renew.
	gateRetired = 1 << iota
	// gateRecorded: there is a recorder.
	gateRecorded
)

func (g *generation) retired() bool { return g.gate.Load()&gateRetired != 0 }

func (g *generation) retire() { g.gate.Or(gateRetired) }

// qp is one QP of a generation with what first went wrong on it.
type qp struct {
	QP
	cause   classify.RootCause
	counted bool    // its failure was counted; the device's lock guards it
	own     uint64  // its incarnation, if the caller gave none; the device's lock guards it
	poller  *Poller // who polled for its CQ when it was named; nil if nobody did
}

// ownIncarnations numbers the QPs that nobody else names, apart from those numbered
// by callers.
var ownIncarnations atomic.Uint64

// named returns the names under which the table knows QPs.
func named(qps []*qp) (names []rail.QP) {
	for _, q := range qps {
		if q == nil {
			continue
		}
		if q.own == 0 && q.Incarnation == 0 {
			q.own = 1<<63 + ownIncarnations.Add(1)
		}
		names = append(names, rail.QP{Number: q.ID, Incarnation: max(q.Incarnation, q.own)})
	}
	return names
}

// qp returns the QP of that number, or nil. Endpoints have few QPs: a scan is
// cheaper than a map.
func (g *generation) qp(id uint64) *qp {
	for i := range g.qps {
		if g.qps[i].ID == id {
			return &g.qps[i]
		}
	}
	return nil
}

// newGeneration checks the QPs of a new endpoint.
func newGeneration(r *Route, number Generation, list []QP) (*generation, error) {
	if len(list) == 0 {
		return nil, errors.New("cc: Renew with no QPs: an endpoint has at least one; name those that will be posted to")
	}
	g := &generation{number: number, route: r, qps: make([]qp, len(list))}
	numbers := make([]uint64, 0, 8)
	for i, q := range list {
		if q.ID == 0 {
			return nil, fmt.Errorf("cc: Renew: QP %d of %d has ID 0; give each QP a number of its own, from 1", i+1, len(list))
		}
		g.qps[i].QP = q
		numbers = append(numbers, q.ID)
	}
	slices.Sort(numbers)
	for i, id := range numbers[1:] {
		if id == numbers[i] {
			return nil, fmt.Errorf("cc: Renew: QP %d is named twice; name each QP once", id)
		}
	}
	return g, nil
}

// unusable says why a slice may not be posted on a QP of the generation any more.
// In observe mode it always may.
func (g *generation) unusable(q *qp, id uint64) error {
	r := g.route
	switch cur := r.current.Load(); {
	case r.mode == Observe:
		return nil
	case cur.number == closedGeneration:
		return fmt.Errorf("cc: Posting on %s: %w", r.pair, ErrClosed)
	case cur != g:
		return fmt.Errorf("cc: Posting on generation %d of %s: %w: %d is current; acquire again on that one", g.number, r.pair, ErrStaleGeneration, cur.number)
	case g.retired():
		return fmt.Errorf("cc: Posting on generation %d of %s: %w: a deadline retired it; renew the route", g.number, r.pair, ErrStaleGeneration)
	case q == nil:
		return fmt.Errorf("cc: Posting on QP %d, generation %d of %s: %w; name it in Renew", id, g.number, r.pair, ErrUnknownQP)
	}
	return nil
}

// note keeps the verdict if it is the first that names a root cause. q may be nil.
func (q *qp) note(v classify.Verdict) {
	if q != nil {
		q.cause.Note(v)
	}
}

// countable reports whether what first went wrong on the QP counts against the
// path. q may be nil.
func (q *qp) countable() bool {
	if q == nil {
		return false
	}
	root, known := q.cause.Cause()
	return known && root.Countable()
}
