package cc

import (
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An event reaches the QPs of current generations within its element's scope, and
// no others.
func TestEventReach(t *testing.T) {
	r := newRig(t, Enforce)
	route := func(local string, port uint8, qps ...QP) *Route {
		rt, err := r.ctl.Route(rail.Pair{Peer: "P", Local: local, Port: port, Remote: "n1"})
		require.NoError(t, err)
		_, err = rt.Renew(0, qps)
		require.NoError(t, err)
		return rt
	}
	d1 := route("D1", 1, QP{ID: 1, CQ: 10, SRQ: 20}, QP{ID: 2, CQ: 11, WQ: 30})
	route("D1", 2, QP{ID: 3, CQ: 10})
	route("D2", 1, QP{ID: 1, CQ: 10, SRQ: 20, WQ: 30})
	_, err := d1.Renew(1, []QP{{ID: 4, CQ: 10, SRQ: 20}, {ID: 5, CQ: 11, WQ: 30}})
	require.NoError(t, err) // 1 and 2 are retired now

	tests := []struct {
		name  string
		event classify.Event
		reach int
	}{
		{"QP", classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "D1", QP: 4}}, 1},
		{"QP of another device", classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "D2", QP: 4}}, 0},
		{"retired QP", classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "D1", QP: 1}}, 0},
		{"unknown QP", classify.Event{Type: classify.EventQPAccessErr, Element: classify.Element{Device: "D1", QP: 99}}, 0},
		{"SRQ", classify.Event{Type: classify.EventSRQErr, Element: classify.Element{Device: "D1", SRQ: 20}}, 1},
		{"WQ", classify.Event{Type: classify.EventWQFatal, Element: classify.Element{Device: "D1", WQ: 30}}, 1},
		{"CQ with QPs of two routes", classify.Event{Type: classify.EventCQErr, Element: classify.Element{Device: "D1", CQ: 10}}, 2},
		{"CQ with one", classify.Event{Type: classify.EventCQErr, Element: classify.Element{Device: "D1", CQ: 11}}, 1},
		{"port", classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}, 2},
		{"other port", classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 2}}, 1},
		{"port that nobody registered", classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 3}}, 0},
		{"device", classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: "D1"}}, 3},
		{"other device", classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: "D2"}}, 1},
		{"unknown device", classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: "D9"}}, 0},
		{"no failure", classify.Event{Type: classify.EventCommEst, Element: classify.Element{Device: "D1", QP: 4}}, 0},
		{"unknown event", classify.Event{Type: 77, Element: classify.Element{Device: "D1", QP: 4}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, reached, err := r.ctl.Event(tt.event, r.now)
			require.NoError(t, err)
			assert.Equal(t, tt.reach, reached, "QPs reached")
			assert.Equal(t, tt.event.Type, classify.EventType(v.Raw()))
		})
	}
	for _, e := range []classify.Event{
		{Type: classify.EventQPFatal, Element: classify.Element{Device: "D1"}},
		{Type: classify.EventQPFatal, Element: classify.Element{QP: 4}},
		{Type: classify.EventPortErr, Element: classify.Element{Device: "D1"}},
		{Type: classify.EventDeviceFatal},
	} {
		_, reached, err := r.ctl.Event(e, r.now)
		assert.ErrorIs(t, err, classify.ErrNoElement, "%v", e)
		assert.Zero(t, reached, "an event without its element is never taken for a wider one")
	}
}

// A device's name is bounded, and only what takes a device out of service is kept for
// one that no route is on.
func TestEventOfUnknownDevice(t *testing.T) {
	h := newHealthRig(t, Enforce)
	longest := strings.Repeat("d", rail.MaxName)
	_, _, err := h.ctl.Event(classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: longest}}, h.now)
	require.NoError(t, err)
	assert.Contains(t, h.ctl.devices, longest)
	v, reached, err := h.ctl.Event(classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: longest + "d"}}, h.now)
	require.ErrorContains(t, err, `device name "dddddddddddddddd"... has 256 bytes, at most 255 are allowed`)
	assert.Zero(t, v)
	assert.Zero(t, reached)
	for _, e := range []classify.Event{
		{Type: classify.EventQPFatal, Element: classify.Element{Device: "D9", QP: 1}},
		{Type: classify.EventPortActive, Element: classify.Element{Device: "D9", Port: 1}},
	} {
		_, reached, err := h.ctl.Event(e, h.now)
		require.NoError(t, err)
		assert.Zero(t, reached)
	}
	assert.Len(t, h.ctl.devices, 1, "nothing is known of D9")
	h.state(h.route("D9", "P", "n1"), Healthy)
}

// The time of an event may be older than what was settled meanwhile: a cooldown is not
// shorter for it, nor an early trial earlier.
func TestEventWithAnOlderTime(t *testing.T) {
	h := newHealthRig(t, Enforce)
	failed, route := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
	h.fail(failed, 3, retryExc)
	later := h.now
	h.now -= 5 * time.Second
	h.portErr()
	assert.Equal(t, later+30*time.Second, route.health.record.local.Resume)
	h.portActive()
	assert.Equal(t, later+time.Second, route.health.record.local.Early)
}

// Flushes find the root cause of their QP, in whatever order and from whichever
// side it comes; those of another QP do not.
func TestFlushAttribution(t *testing.T) {
	fatal := classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "D1", QP: 1}}
	tests := []struct {
		name string
		do   func(r *rig, root *slice)
		root classify.Status // with want
		want bool
	}{
		{"completion", func(r *rig, s *slice) { r.settle(s, retryExc) }, classify.StatusRetryExcErr, true},
		{"deadline", func(r *rig, s *slice) { r.settle(s, deadline) }, classify.Status(classify.SignalDeadlineProgressing), true},
		{"event", func(r *rig, s *slice) { r.ctl.Event(fatal, r.now) }, classify.Status(classify.EventQPFatal), true},
		{"teardown", func(r *rig, s *slice) { r.settle(s, teardown) }, 0, false},
		{"teardown, then an event", func(r *rig, s *slice) { r.settle(s, teardown); r.ctl.Event(fatal, r.now) }, 0, false},
		{"nothing known", func(r *rig, s *slice) {}, 0, false},
	}
	for _, tt := range tests {
		for _, flushFirst := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				r := newRig(t, Enforce)
				route := r.route("D1", "P", "n1")
				gen := r.renew(route, 1, 2)
				var root, flushed, other slice
				r.post(&root, route, gen, kib, 1)
				r.post(&flushed, route, gen, kib, 1)
				r.post(&other, route, gen, kib, 2)
				if flushFirst {
					r.settle(&flushed, flush)
				}
				tt.do(r, &root)
				if !flushFirst {
					r.settle(&flushed, flush)
				}
				r.settle(&other, flush)

				d := flushed.task.Detail()
				assert.Equal(t, "UNKNOWN", d.State.String())
				assert.Equal(t, taskstate.Seen(classify.ReasonDerivedFlush), d.Reason)
				cause, known := d.RootCause.Get()
				assert.Equal(t, tt.want, known, "a root cause is known")
				if tt.want {
					assert.Equal(t, uint32(tt.root), cause.Raw())
				}
				_, known = other.task.Detail().RootCause.Get()
				assert.False(t, known, "another QP has another cause")
				r.settle(&root, teardown)
				r.inFlight(route, 0, 0)
			})
		}
	}
}

// A request that fails after its cancel is still what its QP died of.
func TestRootCauseAfterCancel(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s, flushed slice
	r.post(&s, route, gen, 4*kib, 1)
	r.post(&flushed, route, gen, 4*kib, 1)
	r.settle(&s, cancel)
	r.settle(&s, retryExc)
	r.settle(&flushed, flush)
	root, _ := flushed.task.Detail().RootCause.Get()
	assert.Equal(t, retryExc, root)
}
