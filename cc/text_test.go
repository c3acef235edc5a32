package cc

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/enum/enumtest"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEnumerationsAreTextInJSON(t *testing.T) {
	enumtest.RoundTrip(t, Enforce)
	enumtest.RoundTrip(t, LawRound)
	enumtest.RoundTrip(t, PressureVoid)
	enumtest.RoundTrip(t, Probing)
	enumtest.RoundTrip(t, DeviceExhausted)
	enumtest.RoundTrip(t, Avoid)
	enumtest.RoundTrip(t, DeviceDomain)
	enumtest.RoundTrip(t, NeedRenew)
}

// overJSON returns what a value is after it was written as JSON and read back.
func overJSON[T any](t *testing.T, v T) (back T, text string) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &back), "%s", data)
	return back, string(data)
}

func TestConfigIsJSON(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Mode, cfg.Law = Observe, LawRound
	back, text := overJSON(t, cfg)
	assert.Equal(t, cfg, back)
	assert.Contains(t, text, `"Mode":"observe"`)
	assert.Contains(t, text, `"Law":"round"`)
}

func TestTransitionIsJSON(t *testing.T) {
	pair := rail.Pair{Peer: "P", Incarnation: "4", Local: "D1", Port: 1, Remote: "n1"}
	for want, tr := range map[string]Transition{
		`{"pair":{"peer":"P","incarnation":"4","local":"D1","port":1,"remote":"n1"},
			"from":"SUSPECT","to":"QUARANTINED","notice":"none","reason":"ROUTE_TIMEOUT",
			"verdict":{"source":"completion","class":"RouteTimeout","scope":"QP","raw":12,"vendor_err":129},
			"generation":3,"at_ns":3600000000000,"last_route":true,"shared":false}`: {
			Pair: pair, From: Suspect, To: Quarantined, Reason: classify.ReasonRouteTimeout, Verdict: classify.Completion(classify.StatusRetryExcErr, 0x81),
			Generation: 3, At: time.Hour, LastRoute: true,
		},
		`{"pair":{"peer":"P","incarnation":"4","local":"D1","port":1,"remote":"n1"},
			"from":"HEALTHY","to":"HEALTHY","notice":"no usable route on the port","reason":"NONE",
			"generation":0,"at_ns":0,"last_route":false,"shared":true}`: {Pair: pair, Notice: PortExhausted, Shared: true},
	} {
		back, text := overJSON(t, tr)
		assert.JSONEq(t, want, text)
		assert.Equal(t, tr, back)
	}
}

func TestSnapshotIsJSON(t *testing.T) {
	h := newHealthRig(t, Enforce)
	empty, text := overJSON(t, h.ctl.Snapshot())
	assert.Equal(t, h.ctl.Snapshot(), empty)
	assert.JSONEq(t, `{"mode":"enforce","devices":[],"routes":[]}`, text, "lists are lists, even when empty")

	h.fail(h.route("D1", "P", "n1"), 3, retryExc)
	h.fail(h.route("D2", "Q", "n1"), 1, fatal())
	h.route("D2", "R", "n1")
	want := h.ctl.Snapshot()
	got, _ := overJSON(t, want)
	assert.Equal(t, want, got)
	assert.NotZero(t, got.Routes[0].Health.Verdict, "verdicts are part of it")
}
