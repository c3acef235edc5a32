package cc

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only what succeeded was delivered, however it ended otherwise.
func TestDeliveredBytes(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	for _, n := range []int64{4 * kib, 300 * kib} { // on a lease, and directly
		before := route.Snapshot().Flow.DeliveredBytes
		for _, v := range []classify.Verdict{success, flush, retryExc, teardown} {
			var s slice
			r.post(&s, route, gen, n, 1)
			r.settle(&s, v)
		}
		var s slice
		require.True(t, route.TryAcquire(&s.permit, gen, n, nil).Admitted())
		s.permit.Unposted()
		assert.Equal(t, n, route.Snapshot().Flow.DeliveredBytes-before, "one success of %d bytes", n)
	}
}

// Devices and routes come in the order of their names.
func TestSnapshotIsSorted(t *testing.T) {
	r := newRig(t, Enforce)
	for _, name := range []string{"D3", "D1", "D2"} {
		r.route(name, "Q", "n1")
		r.route(name, "P", "n1")
	}
	s := r.ctl.Snapshot()
	var devices, routes []string
	for _, d := range s.Devices {
		devices = append(devices, d.Device)
	}
	for _, r := range s.Routes {
		routes = append(routes, r.Pair.String())
	}
	assert.Equal(t, []string{"D1", "D2", "D3"}, devices)
	assert.Equal(t, []string{"D1:1->P/n1", "D2:1->P/n1", "D3:1->P/n1", "D1:1->Q/n1", "D2:1->Q/n1", "D3:1->Q/n1"}, routes)
}

func TestSnapshotJSON(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	r.post(&s, route, gen, mib, 1)
	var refused Permit
	route.TryAcquire(&refused, gen, 1, nil)
	text, err := json.Marshal(r.ctl.Snapshot())
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"mode": "enforce",
		"devices": [{
			"device": "D1", "window_bytes": 4194304, "in_flight_bytes": 1048576,
			"flow": {"drain_time_ns": null, "delivered_bytes": 0, "pressure": "neutral"},
			"refusals": [{"reason": "BYTE_WINDOW", "domain": "route", "count": 1}]
		}],
		"routes": [{
			"pair": {"peer": "P", "incarnation": "", "local": "D1", "port": 1, "remote": "n1"},
			"generation": 1, "needs_renew": false, "window_bytes": 1048576, "in_flight_bytes": 1048576,
			"flow": {"drain_time_ns": null, "delivered_bytes": 0, "pressure": "neutral"},
			"health": {
				"state": "HEALTHY", "since_ns": 0, "reason": "NONE", "failures": 0,
				"cooldown_ns": 30000000000, "cooldown_left_ns": 0, "trial_out": false
			},
			"refusals": [{"reason": "BYTE_WINDOW", "domain": "route", "count": 1}]
		}]
	}`, string(text))
	var asVar fmt.Stringer = r.ctl // all that expvar.Var asks for
	assert.Equal(t, string(text), asVar.String())
	r.settle(&s, teardown)
}

// Ports are numbers in JSON, and are read back.
func TestPortsJSON(t *testing.T) {
	want := DeviceSnapshot{ExhaustedPorts: Ports{1, 255}}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"exhausted_ports":[1,255]`)
	var got DeviceSnapshot
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, want, got)
}

// What a device shows of its routes' counts does not fall when routes are closed.
func TestDeviceCountsOutliveRoutes(t *testing.T) {
	r := newRig(t, Enforce)
	for range 2 { // the second time it is another route of the same pair
		route, other := r.route("D1", "P", "n1"), r.route("D1", "P", "n2")
		for i, route := range []*Route{route, other} {
			gen := r.renew(route, uint64(i+1))
			var s slice
			r.post(&s, route, gen, mib, uint64(i+1))
			require.False(t, route.TryAcquire(&Permit{}, gen, 1, nil).Admitted())
			r.settle(&s, success)
		}
		other.Close()
	}
	check := func() {
		t.Helper()
		d := r.ctl.Snapshot().Devices[0]
		assert.Equal(t, 4*mib, d.Flow.DeliveredBytes)
		assert.Equal(t, []RefusalCount{{Reason: classify.ReasonByteWindow, Domain: RouteDomain, Count: 4}}, d.Refusals)
	}
	check()
	r.ctl.Forget("P", "")
	check()
}

// Delivered bytes never fall, also while a poster gives back what it took: the two
// words that it changes are not changed at once.
func TestDeliveredNeverFalls(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	shown := func() [2]int64 {
		s := r.ctl.Snapshot()
		return [2]int64{s.Routes[0].Flow.DeliveredBytes, s.Devices[0].Flow.DeliveredBytes}
	}
	var s slice
	r.post(&s, route, gen, 4*kib, 1)
	route.flight.undelivered.Add(kib) // a rollback has begun
	assert.Equal(t, int64(-kib), route.flight.delivered(), "less than none, not as good as all")
	assert.Equal(t, [2]int64{}, shown())
	route.flight.undelivered.Add(-kib)
	r.settle(&s, success)
	assert.Equal(t, [2]int64{4 * kib, 4 * kib}, shown())
	route.flight.undelivered.Add(kib)
	assert.Equal(t, [2]int64{4 * kib, 4 * kib}, shown())
	route.Close()
	assert.Equal(t, 4*kib, r.ctl.Snapshot().Devices[0].Flow.DeliveredBytes)
}
