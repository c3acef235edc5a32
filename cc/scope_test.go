package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Scope: what each event isolates, at once. Routes: port 1 to P on CQ 10 and to Q
// on CQ 11, port 2 to P, another device.
func TestEventScope(t *testing.T) {
	tests := []struct {
		name  string
		event classify.EventType
		el    classify.Element
		want  [4]State
	}{
		{"QP", classify.EventQPFatal, classify.Element{QP: 1}, [4]State{Suspect}},
		{"CQ", classify.EventCQErr, classify.Element{CQ: 10}, [4]State{Quarantined}},
		{"CQ of nobody", classify.EventCQErr, classify.Element{CQ: 99}, [4]State{}},
		{"CQ of old generations only", classify.EventCQErr, classify.Element{CQ: 20}, [4]State{}},
		{"port", classify.EventPortErr, classify.Element{Port: 1}, [4]State{Quarantined, Quarantined}},
		{"other port", classify.EventPortErr, classify.Element{Port: 2}, [4]State{Healthy, Healthy, Quarantined}},
		{"device", classify.EventDeviceFatal, classify.Element{}, [4]State{Quarantined, Quarantined, Quarantined}},
		{"port active", classify.EventPortActive, classify.Element{Port: 1}, [4]State{}},
		{"client reregister", classify.EventClientReregister, classify.Element{Port: 1}, [4]State{}},
		{"GID change", classify.EventGIDChange, classify.Element{Port: 1}, [4]State{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			var routes []*Route
			for i, p := range []rail.Pair{
				{Peer: "P", Local: "D1", Port: 1, Remote: "n1"}, {Peer: "Q", Local: "D1", Port: 1, Remote: "n1"},
				{Peer: "P", Local: "D1", Port: 2, Remote: "n1"}, {Peer: "P", Local: "D2", Port: 1, Remote: "n1"},
			} {
				route, err := h.ctl.Route(p)
				require.NoError(t, err)
				_, err = route.Renew(0, []QP{{ID: uint64(i + 11), CQ: 20}})
				require.NoError(t, err)
				_, err = route.Renew(1, []QP{{ID: uint64(i + 1), CQ: uint64(i + 10)}})
				require.NoError(t, err)
				routes = append(routes, route)
			}
			h.event(tt.event, tt.el)
			for i, route := range routes {
				assert.Equal(t, tt.want[i], route.State(), "%s", route.pair)
				if tt.want[i] == Quarantined {
					h.ruling(route, avoided)
					assert.Zero(t, route.Snapshot().Health.Failures, "a verdict that stays in this controller")
					assert.False(t, route.path().Paused, "a verdict that stays in this controller")
				}
			}
		})
	}
}

// PORT_ERR and DEVICE_FATAL mark the port or device: routes that are made later are
// quarantined too, until the first trial there succeeds.
func TestMarks(t *testing.T) {
	for name, device := range map[string]bool{"port": false, "device": true} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			a, b := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
			if device {
				h.event(classify.EventDeviceFatal, classify.Element{})
			} else {
				h.portErr()
			}
			later := h.route("D1", "R", "n1")
			h.state(later, Quarantined)
			assert.Equal(t, later.pair, h.seen[len(h.seen)-1].Pair, "the transition of a new route is told")
			port2, err := h.ctl.Route(rail.Pair{Peer: "R", Local: "D1", Port: 2, Remote: "n1"})
			require.NoError(t, err)
			if device {
				h.state(port2, Quarantined)
			} else {
				h.state(port2, Healthy)
			}
			elsewhere := h.route("D2", "R", "n1")
			h.state(elsewhere, Healthy)

			h.advance(30 * time.Second)
			h.renewed(a)
			h.settle(h.trial(a), success)
			h.state(a, Healthy)
			h.state(b, Quarantined)
			h.state(later, Quarantined)
			h.state(h.route("D1", "S", "n1"), Healthy)
			h.renewed(b)
			h.settle(h.trial(b), success)
			h.state(b, Healthy)
			h.done(a, b)
		})
	}
}

// A trial on one port lifts the device's mark and its port's, not another port's.
func TestMarkOfOtherPort(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.portErr()
	h.event(classify.EventPortErr, classify.Element{Port: 2})
	h.advance(30 * time.Second)
	h.renewed(route)
	h.settle(h.trial(route), success)
	port2, err := h.ctl.Route(rail.Pair{Peer: "P", Local: "D1", Port: 2, Remote: "n1"})
	require.NoError(t, err)
	h.state(port2, Quarantined)
	h.done(route)
}
