package transfer

import (
	"context"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// readEvents hands the asynchronous events of a NIC to the controller and renews
// the endpoints that one of them reaches.
func (e *Engine) readEvents(ctx context.Context, nic fabric.NIC) {
	for {
		ev, err := nic.NextEvent(ctx)
		if err != nil {
			if ctx.Err() == nil {
				e.log.Warn("no more events", "nic", nic.Name(), "error", err)
			}
			return
		}
		v, err := e.event(ev)
		if err != nil {
			e.log.Warn("event", "nic", nic.Name(), "type", ev.Type.String(), "error", err)
			continue
		}
		e.log.Info("event", "nic", nic.Name(), "type", ev.Type.String(), "verdict", v.String())
	}
}

// event takes one event in.
func (e *Engine) event(ev classify.Event) (classify.Verdict, error) {
	v, _, err := e.ctl.Event(ev, e.ctl.Now())
	if err != nil {
		return v, err
	}
	if renews(v.Action()) {
		for _, ep := range e.live(nil) {
			if within(v.Scope(), ev.Element, ep) {
				ep.rail.retire(ep)
			}
		}
	}
	return v, nil
}

// renews reports whether the action means that endpoints in reach should be built
// again: because they are broken, or because what they stand on has changed.
func renews(a classify.Action) bool {
	switch a {
	case classify.ActionRetireQP, classify.ActionStopDependents, classify.ActionStopCQ,
		classify.ActionLeavePath, classify.ActionIsolatePort, classify.ActionIsolateDevice,
		classify.ActionRefreshObjects:
		return true
	}
	return false
}

// within reports whether an endpoint lies in an event's scope.
func within(scope classify.Scope, e classify.Element, ep *endpoint) bool {
	pair := ep.rail.pair
	if pair.Local != e.Device {
		return false
	}
	switch scope {
	case classify.ScopeQP, classify.ScopeRoute:
		return ep.has(e.QP, 0)
	case classify.ScopeCQ:
		return ep.has(0, e.CQ)
	case classify.ScopePort:
		return pair.Port == e.Port
	case classify.ScopeDevice:
		return true
	}
	return false
}
