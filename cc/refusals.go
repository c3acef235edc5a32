package cc

import (
	"sync/atomic"

	"github.com/rdmagate/rdmagate/classify"
)

// refusals counts a route's refused admissions by reason and domain. Most routes
// refuse nothing: the counters are made at the first refusal.
type refusals struct {
	made atomic.Pointer[refusalCounters]
}

// refusalCounters are plain adds: refused slices are asked for again and again. They
// lie apart from the route, whose words posters of admitted slices need.
type refusalCounters struct {
	routeWindow, deviceWindow, stale, retired, congested, suspect, probing, quarantined atomic.Uint64
}

// counters returns the counters, and makes them if there are none. It is small
// enough to be inlined: a refusal costs one more load for it.
func (r *refusals) counters() *refusalCounters {
	if c := r.made.Load(); c != nil {
		return c
	}
	return r.first()
}

// first makes the counters. It stays out of line, or counters would be too large.
//
//go:noinline
func (r *refusals) first() *refusalCounters {
	r.made.CompareAndSwap(nil, &refusalCounters{})
	return r.made.Load()
}

func (r *refusals) count(reason classify.Reason, d Domain) { r.counters().of(reason, d).Add(1) }

// of returns the counter for a reason.
func (r *refusalCounters) of(reason classify.Reason, d Domain) *atomic.Uint64 {
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

// refusalKinds are the refusals that are told apart.
var refusalKinds = [...]RefusalCount{
	{Reason: classify.ReasonByteWindow, Domain: RouteDomain},
	{Reason: classify.ReasonByteWindow, Domain: DeviceDomain},
	{Reason: classify.ReasonStaleGeneration},
	{Reason: classify.ReasonNeedsRenew},
	{Reason: classify.ReasonCongestionFeedback},
	{Reason: classify.ReasonRouteSuspect},
	{Reason: classify.ReasonProbing},
	{Reason: classify.ReasonPathQuarantined},
}

func (r *refusals) list() []RefusalCount {
	made := r.made.Load()
	if made == nil {
		return nil
	}
	var l []RefusalCount
	for _, k := range refusalKinds {
		if k.Count = made.of(k.Reason, k.Domain).Load(); k.Count > 0 {
			l = append(l, k)
		}
	}
	return l
}

// add counts what others counts too.
func (r *refusals) add(others *refusals) {
	made := others.made.Load()
	if made == nil {
		return
	}
	for _, k := range refusalKinds {
		if n := made.of(k.Reason, k.Domain).Load(); n > 0 {
			r.counters().of(k.Reason, k.Domain).Add(n)
		}
	}
}
