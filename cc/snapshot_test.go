package cc

import (
	"encoding/json"
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
			"flow": {"drain_time_ns": null, "delivered_bytes": 0, "pressure": "neutral"}
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
	r.settle(&s, teardown)
}
