package replay

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

const exactRecording = `scenario 1
@5s recording complete=yes serial=yes
route r D1 P n1
renew r qps=7 old=0 -> 1
acquire p r 4KiB gen=1 -> admit
@6s post p qp=7
@7s told r HEALTHY SUSPECT ROUTE_TIMEOUT source=completion raw=12 vendor=0x81 gen=1
@7s complete p RETRY_EXC_ERR vendor=0x81 -> ended+released
`

// A complete recording of calls that ran one at a time is told to the letter.
func TestToldToTheLetter(t *testing.T) {
	result := runText(t, exactRecording, Options{})
	require.Empty(t, result.Mismatches)
	for _, change := range [][2]string{
		{"source=completion", "source=event"}, {"@7s told", "@9s told"}, {"raw=12", "raw=5"}, {"vendor=0x81 gen", "vendor=0x99 gen"}, {" vendor=0x81 gen", " gen"},
		{"81 gen=1", "81 gen=7"}, {"81 gen=1", "81 gen=1 last_route=yes"}, {"81 gen=1", "81 gen=1 shared=yes"}, {"old=0 -> 1", "old=0 -> 5"},
	} {
		wrong := strings.Replace(exactRecording, change[0], change[1], 1)
		require.NotEqual(t, exactRecording, wrong)
		assert.NotEmpty(t, runText(t, wrong, Options{}).Mismatches, change[1])
		wrong = strings.Replace(wrong, "serial=yes", "serial=no", 1)
		assert.Empty(t, runText(t, wrong, Options{}).Mismatches, "%s, of calls that ran at the same time", change[1])
	}
	short := strings.Replace(exactRecording, " source=completion raw=12 vendor=0x81 gen=1", "", 1)
	assert.Empty(t, runText(t, short, Options{}).Mismatches, "without gen it says the states alone")
}

// What is told has a call after it, and what is to come true is looked at in the end.
func TestLeftOverAtTheEnd(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{exactRecording + "@8s told r SUSPECT QUARANTINED FATAL gen=1\n", "transition: expected r SUSPECT QUARANTINED FATAL source=none raw=0 vendor=0x0 gen=1 last_route=false shared=false at 8s, got no call after it"},
		{begin + "told r HEALTHY QUARANTINED\nadvance 1s\n", "at the end, at 1s: transition: expected r HEALTHY QUARANTINED NONE, got no call after it"},
		{exactRecording + "expect route r QUARANTINED within=1s\n", "r: expected state=QUARANTINED, got state=SUSPECT"},
	} {
		result := runText(t, tt.text, Options{})
		require.Len(t, result.Mismatches, 1, tt.text)
		assert.Contains(t, result.Mismatches[0].String(), tt.want)
	}

	// A file that is cut off may lack the call.
	list, err := scenario.Parse(exactRecording)
	require.NoError(t, err)
	var file bytes.Buffer
	w := scenario.NewWriter(&file, scenario.Binary)
	for i := range list {
		require.NoError(t, w.Write(&list[i]))
		if list[i].Kind == scenario.Told {
			require.NoError(t, w.Flush())
			break
		}
	}
	r, err := scenario.NewReader(&file)
	require.NoError(t, err)
	result, err := Run(r, Options{})
	assert.ErrorIs(t, err, scenario.ErrCutOff)
	assert.NotErrorIs(t, err, io.EOF)
	assert.Empty(t, result.Mismatches)
}
