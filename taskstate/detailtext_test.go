package taskstate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

func TestDetailText(t *testing.T) {
	for _, row := range []struct {
		name  string
		build func(task *taskstate.Task)
		text  string
		json  string
	}{
		{
			name:  "nothing observed",
			build: func(*taskstate.Task) {},
			text: "UNKNOWN (inspect): attempt 1, unresolved 0, reason not observed, resolved not observed, scope not observed, " +
				"pair not observed, at not observed, observed in attempt not observed, generation not observed, " +
				"verdict [not observed], root cause [not observed], window bytes not observed, in-flight bytes not observed, " +
				"cooldown not observed",
			json: `{"state":"UNKNOWN","guidance":"inspect","attempt":1,"unresolved":0,"reason":null,"resolved":null,` +
				`"scope":null,"pair":null,"at_ns":null,"observed_attempt":null,"generation":null,"verdict":null,` +
				`"root_cause":null,"window_bytes":null,"in_flight_bytes":null,"cooldown_ns":null}`,
		},
		{
			name: "everything observed",
			build: func(task *taskstate.Task) {
				var slice taskstate.Slice
				slice.Admitted(task, 3, false)
				slice.Failed(fullEvidence())
			},
			text: "UNKNOWN (inspect): attempt 1, unresolved 1, reason DERIVED_FLUSH, resolved false, scope QP, " +
				"pair mlx5_0:1->host-b#4/mlx5_3, at 1.5s, observed in attempt 1, generation 3, " +
				"verdict [" + classify.Completion(classify.StatusWRFlushErr, 0xf9).String() + "], " +
				"root cause [" + classify.Completion(classify.StatusRetryExcErr, 0x81).String() + "], " +
				"window bytes 262144, in-flight bytes 0, cooldown 30s",
			json: `{"state":"UNKNOWN","guidance":"inspect","attempt":1,"unresolved":1,"reason":"DERIVED_FLUSH","resolved":false,` +
				`"scope":"QP","pair":{"peer":"host-b","incarnation":"4","local":"mlx5_0","port":1,"remote":"mlx5_3"},` +
				`"at_ns":1500000000,"observed_attempt":1,"generation":3,` +
				`"verdict":{"source":"completion","class":"DerivedFlush","scope":"QP","raw":5,"vendor_err":249},` +
				`"root_cause":{"source":"completion","class":"RouteTimeout","scope":"QP","raw":12,"vendor_err":129},` +
				`"window_bytes":262144,"in_flight_bytes":0,"cooldown_ns":30000000000}`,
		},
		{
			name: "resolved",
			build: func(task *taskstate.Task) {
				var slice taskstate.Slice
				slice.Refused(task, because(classify.ReasonByteWindow))
				slice.Admitted(task, generation, false)
				slice.Succeeded()
			},
			text: "NORMAL (handle normally): attempt 1, unresolved 0, reason BYTE_WINDOW, resolved true, scope not observed, " +
				"pair not observed, at 0s, observed in attempt 1, generation 7, " +
				"verdict [not observed], root cause [not observed], window bytes not observed, in-flight bytes not observed, " +
				"cooldown not observed",
			json: `{"state":"NORMAL","guidance":"handle normally","attempt":1,"unresolved":0,"reason":"BYTE_WINDOW","resolved":true,` +
				`"scope":null,"pair":null,"at_ns":0,"observed_attempt":1,"generation":7,"verdict":null,` +
				`"root_cause":null,"window_bytes":null,"in_flight_bytes":null,"cooldown_ns":null}`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var task taskstate.Task
			row.build(&task)
			detail := task.Detail()
			assert.Equal(t, row.text, detail.String())
			text, err := json.Marshal(detail)
			require.NoError(t, err)
			assert.Equal(t, row.json, string(text), "keys, their order and their values are stable")
			var back taskstate.Detail
			require.NoError(t, json.Unmarshal(text, &back))
			assert.Equal(t, detail, back)
		})
	}
}
