package taskstate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/enum/enumtest"
	"github.com/rdmagate/rdmagate/taskstate"
)

func TestStateTextAndGuidance(t *testing.T) {
	for _, row := range []struct {
		state    taskstate.State
		text     string
		guidance taskstate.Guidance
		name     string
		advice   string
	}{
		{taskstate.Unknown, "UNKNOWN", taskstate.Inspect, "inspect",
			"look at the detail and use the error handling you have; this is neither congestion nor a dead peer"},
		{taskstate.Normal, "NORMAL", taskstate.HandleNormally, "handle normally",
			"nothing is amiss; carry on"},
		{taskstate.Congested, "CONGESTED", taskstate.BackOff, "back off",
			"keep the task, or retry it after a pause of your own; the peer is not down"},
		{taskstate.LongUnavailable, "LONG_UNAVAILABLE", taskstate.TryElsewhere, "try elsewhere",
			"use another rail or transport; only when every path has failed may the control plane judge the node"},
	} {
		t.Run(row.text, func(t *testing.T) {
			assert.Equal(t, row.text, row.state.String())
			assert.Equal(t, row.guidance, row.state.Guidance(), "guidance column of the evidence table")
			assert.Equal(t, row.guidance, taskstate.Detail{State: row.state}.Guidance(), "the detail gives the same guidance")
			assert.Equal(t, row.name, row.guidance.String())
			assert.Equal(t, row.advice, row.guidance.Advice())

			text, err := json.Marshal(map[taskstate.State]taskstate.Guidance{row.state: row.guidance})
			require.NoError(t, err)
			assert.JSONEq(t, `{"`+row.text+`":"`+row.name+`"}`, string(text), "both are names in JSON, not numbers")
		})
	}
}

func TestEnumerationsAreTextInJSON(t *testing.T) {
	enumtest.RoundTrip(t, taskstate.LongUnavailable)
	enumtest.RoundTrip(t, taskstate.TryElsewhere)
}

func TestValuesThatAreNoState(t *testing.T) {
	assert.Equal(t, taskstate.Inspect, taskstate.State(200).Guidance(), "fail to the careful side")
	assert.Equal(t, taskstate.Inspect.Advice(), taskstate.Guidance(200).Advice())
	assert.Equal(t, "State(200)", taskstate.State(200).String())
}
