package discover

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEnumText(t *testing.T) {
	type all struct {
		N NodeType
		S PortState
		P PhysState
		L LinkLayer
		G GIDType
	}
	in := all{NodeRNIC, PortActiveDefer, PhysLinkErrorRecovery, LinkInfiniBand, GIDOther}
	data, err := json.Marshal(in)
	require.NoError(t, err)
	assert.JSONEq(t, `{"N":"RNIC","S":"active, deferred","P":"link error recovery","L":"InfiniBand","G":"other"}`, string(data))
	var out all
	require.NoError(t, json.Unmarshal(data, &out))
	assert.Equal(t, in, out)

	err = json.Unmarshal([]byte(`{"S":"asleep"}`), &out)
	require.ErrorContains(t, err, `"asleep" is no PortState; use one of: unknown; down;`)
	assert.Equal(t, PortActiveDefer, out.S, "an error changes nothing")
}

func TestNodeJSON(t *testing.T) {
	for text, want := range map[string]Node{"null": {}, "-1": {}, "0": known(0), "1023": known(1023)} {
		n := known(7)
		require.NoError(t, json.Unmarshal([]byte(text), &n), text)
		assert.Equal(t, want, n, text)
	}
	for _, text := range []string{"-2", "1024", "1.5", `"1"`, "{}", "1e2"} {
		n := known(7)
		require.ErrorContains(t, json.Unmarshal([]byte(text), &n), "NUMA node", text)
		assert.Equal(t, known(7), n, "an error changes nothing")
	}
	assert.Equal(t, "unknown", Node{ID: 3}.String())
	assert.Equal(t, "3", known(3).String())
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"2.5 Gb/sec (1X SDR)": 2.5, "100 Gb/sec (4X EDR)": 100, "10 Gb/sec (1X FDR10)": 10, "0 Gb/sec": 0} {
		rate, err := parseRate(text)
		require.NoError(t, err, text)
		assert.InDelta(t, want, rate, 0, text)
	}
	for _, text := range []string{"", "100", "-1 Gb/sec", "1e7 Gb/sec", "NaN Gb/sec", " Gb/sec", "100 Mb/sec"} {
		_, err := parseRate(text)
		assert.Error(t, err, "%q is no rate", text)
	}
}
