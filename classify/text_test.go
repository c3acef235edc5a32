package classify

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/enum/enumtest"
)

func TestEnumerationsAreTextInJSON(t *testing.T) {
	enumtest.RoundTrip(t, ClassConnection)
	enumtest.RoundTrip(t, ScopeDevice)
	enumtest.RoundTrip(t, ActionReconnect)
	enumtest.RoundTrip(t, SourceCMEvent)
	enumtest.RoundTrip(t, ReasonFatal)
	enumtest.RoundTrip(t, SignalNoRail)
}

// Whatever was observed comes back from JSON as the same verdict.
func TestVerdictIsJSON(t *testing.T) {
	verdicts := []Verdict{{}, Completion(1<<32-1, 1<<32-1), AsyncEvent(1<<32 - 1), CMEvent(1<<32 - 1), RejectedPost(1<<32 - 1)}
	for n := range uint32(40) {
		verdicts = append(verdicts, Completion(Status(n), 0x81), AsyncEvent(EventType(n)), CMEvent(CMEventType(n)), Of(Signal(n)), RejectedPost(n))
	}
	for _, v := range verdicts {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		back := Completion(StatusGeneralErr, 7)
		require.NoError(t, json.Unmarshal(data, &back), "%s", data)
		assert.Equal(t, v, back, "%s", data)
	}
}

func TestVerdictJSON(t *testing.T) {
	for want, v := range map[string]Verdict{
		`{"source":"none","class":"None","scope":"none","raw":0,"vendor_err":0}`:                                       {},
		`{"source":"completion","class":"RouteTimeout","scope":"QP","raw":12,"vendor_err":129}`:                        Completion(StatusRetryExcErr, 0x81),
		`{"source":"event","class":"Fatal","scope":"port","raw":10,"vendor_err":0}`:                                    AsyncEvent(EventPortErr),
		`{"source":"signal","signal":"cancelled","class":"Cancelled","scope":"operation","raw":12,"vendor_err":0}`:     Of(SignalCancel),
		`{"source":"signal","signal":"post rejected","class":"NotPosted","scope":"operation","raw":12,"vendor_err":0}`: RejectedPost(12),
	} {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(data), "keys, their order and their values are stable")
	}

	v := Completion(StatusSuccess, 0)
	require.NoError(t, json.Unmarshal([]byte(`{"source":"completion","class":"Success","raw":21}`), &v))
	assert.Equal(t, ClassFatal, v.Class(), "the class follows from the number")
	for _, text := range []string{`{"source":"rumour"}`, `{"source":"signal","signal":"smoke"}`, `{"raw":-1}`, `"success"`, `[]`} {
		require.ErrorContains(t, json.Unmarshal([]byte(text), &v), "classify: ", text)
		assert.Equal(t, Completion(StatusGeneralErr, 0), v, "an error changes nothing")
	}
}
