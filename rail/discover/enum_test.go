package discover

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/enum/enumtest"
	"github.com/rdmagate/rdmagate/rail"
)

func TestEnumerationsAreTextInJSON(t *testing.T) {
	enumtest.RoundTrip(t, NodeUnspecified)
	enumtest.RoundTrip(t, PortActiveDefer)
	enumtest.RoundTrip(t, PhysTest)
	enumtest.RoundTrip(t, LinkEthernet)
	enumtest.RoundTrip(t, GIDOther)
}

func TestParseNode(t *testing.T) {
	for text, want := range map[string]rail.Node{"-1": {}, "0": rail.NodeOf(0), " 7\n": rail.NodeOf(7), "1023": rail.NodeOf(1023)} {
		n, err := parseNode(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "-2", "1024", "1.5", "1e2", "null"} {
		n, err := parseNode(text)
		require.ErrorContains(t, err, "neither -1 nor a number from 0 to 1023", text)
		assert.Equal(t, rail.Node{}, n, "unknown, not a plausible number")
	}
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
