package replay

import "github.com/rdmagate/rdmagate/cc"

// A recording that begins in the middle may not know the QPs of an endpoint that was built
// long before. The replay makes up some, and takes any QP that is posted on there for one
// of them: so failures on several QPs still count apart.

// standIns are the QPs of such an endpoint.
type standIns struct {
	gen cc.Generation
	as  map[uint64]uint64 // the QPs that were met, with those in their place
}

const (
	mostStandIns = 64      // QPs that are told apart
	firstStandIn = 1 << 62 // no QP of a recording has such a number
)

// madeUpQPs returns the QPs of an endpoint that is made up.
func madeUpQPs() (qps []cc.QP) {
	for i := range uint64(mostStandIns) {
		qps = append(qps, cc.QP{ID: firstStandIn + i, CQ: 1})
	}
	return qps
}

// standIn returns the QP that a post on a generation names, or the one in its place.
func (r *route) standIn(gen cc.Generation, qp uint64) uint64 {
	s := r.standIns
	if s == nil || s.gen != gen || qp >= firstStandIn {
		return qp
	}
	id, met := s.as[qp]
	if !met {
		if len(s.as) == mostStandIns {
			return firstStandIn + qp%mostStandIns
		}
		id = firstStandIn + uint64(len(s.as))
		s.as[qp] = id
	}
	return id
}

// standInOf returns the QP that an event of a device names, or the one in its place.
func (w *world) standInOf(k *worker, device string, qp uint64) uint64 {
	for _, r := range w.ordered {
		if r.worker == k && r.standIns != nil && r.route.Pair().Local == device {
			if id, met := r.standIns.as[qp]; met {
				return id
			}
		}
	}
	return qp
}
