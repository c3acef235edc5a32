package live_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/top/internal/looks"
	"github.com/rdmagate/rdmagate/examples/top/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Routes that need attention come first, and none is lost in the counts.
func TestState(t *testing.T) {
	_, h := looks.Mixed()
	s := h.State(5, 2)
	var states []cc.State
	for _, r := range s.Routes {
		states = append(states, r.Health.State)
	}
	assert.Equal(t, []cc.State{cc.Quarantined, cc.Quarantined, cc.Probing, cc.Suspect, cc.Congested}, states)
	assert.Equal(t, 8, s.RouteCount())
	assert.Equal(t, map[cc.State]int{cc.Healthy: 3, cc.Congested: 1, cc.Suspect: 1, cc.Quarantined: 2, cc.Probing: 1}, s.RoutesByState)
	require.Len(t, s.Transitions, 2)
	assert.Greater(t, s.Transitions[0].At, s.Transitions[1].At)
	assert.Equal(t, uint64(5), s.Told)
	assert.Equal(t, uint64(4_100), *s.Admissions)

	h.Recent, h.Admissions = nil, nil
	s = h.State(0, 10)
	assert.Empty(t, s.Routes)
	assert.Equal(t, 8, s.RouteCount())
	assert.Empty(t, s.Transitions)
	assert.Nil(t, s.Admissions)
}

// The order is one: under pressure, in use, idle, each by pair.
func TestCompare(t *testing.T) {
	flow := func(p cc.Pressure, delivered int64) cc.FlowSnapshot {
		return cc.FlowSnapshot{Pressure: p, DeliveredBytes: delivered}
	}
	want := []cc.RouteSnapshot{
		{Health: cc.HealthSnapshot{State: cc.Suspect}},
		{Flow: flow(cc.PressureHigh, 0)},
		{Flow: flow(cc.PressureLow, 1)},
		{Flow: flow(cc.PressureNeutral, 0), InFlightBytes: 1},
		{Flow: flow(cc.PressureIdle, 1), InFlightBytes: 1},
		{Flow: flow(cc.PressureIdle, 1)},
		{Flow: flow(cc.PressureNeutral, 0)},
	}
	for i, peer := range []string{"z", "y", "p", "q", "r", "a", "b"} { // what counts for less says the opposite
		want[i].Pair.Peer = peer
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, live.Compare)
	assert.Equal(t, want, got)
}

// What is written as JSON is read back whole.
func TestStateJSON(t *testing.T) {
	_, h := looks.Mixed()
	want := h.State(100, 100)
	text, err := json.Marshal(want)
	require.NoError(t, err)
	var got live.State
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, want, got)
}
