package cc

import (
	"sync/atomic"

	"github.com/rdmagate/rdmagate/classify"
)

// refusals counts a route's refused admissions by reason and domain. Refused
// slices are asked for again and again, so the counters are plain adds.
type refusals struct {
	routeWindow, deviceWindow, stale, retired, congested, suspect, probing, quarantined atomic.Uint64
}

func (r *refusals) count(reason classify.Reason, d Domain) { r.counter(reason, d).Add(1) }

func (r *refusals) counter(reason classify.Reason, d Domain) *atomic.Uint64 {
	switch {
	case reason == classify.ReasonStaleGeneration:
		return &r.stale
	case reason == classify.ReasonNeedsRenew:
		return &r.retired
	case reason == classify.ReasonRouteSuspect:
		return &r.suspect
	case reason == classify.ReasonProbing:
		return &r.probing
	case reason == classify.ReasonPathQuarantined:
		return &r.quarantined
	case reason == classify.ReasonCongestionFeedback:
		return &r.congested
	case d == DeviceDomain:
		return &r.deviceWindow
	}
	return &r.routeWindow
}

func (r *refusals) list() []RefusalCount {
	var l []RefusalCount
	for _, k := range []RefusalCount{
		{Reason: classify.ReasonByteWindow, Domain: RouteDomain},
		{Reason: classify.ReasonByteWindow, Domain: DeviceDomain},
		{Reason: classify.ReasonStaleGeneration},
		{Reason: classify.ReasonNeedsRenew},
		{Reason: classify.ReasonCongestionFeedback},
		{Reason: classify.ReasonRouteSuspect},
		{Reason: classify.ReasonProbing},
		{Reason: classify.ReasonPathQuarantined},
	} {
		if k.Count = r.counter(k.Reason, k.Domain).Load(); k.Count > 0 {
			l = append(l, k)
		}
	}
	return l
}
