package taskstate_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// A slice is deferred, admitted at the next try, and arrives.
func Example() {
	var task taskstate.Task
	var slice taskstate.Slice

	slice.Refused(&task, &taskstate.Evidence{
		Reason:   classify.ReasonByteWindow,
		Window:   taskstate.Seen(int64(65536)),
		InFlight: taskstate.Seen(int64(65536)),
	})
	fmt.Println(task.State())

	slice.Admitted(&task, 1, false)
	fmt.Println(task.State())

	slice.Succeeded()
	fmt.Println(task.State())

	detail := task.Detail()
	fmt.Println(detail.Reason, "resolved:", detail.Resolved)
	// Output:
	// CONGESTED
	// UNKNOWN
	// NORMAL
	// BYTE_WINDOW resolved: true
}

func ExampleState_Guidance() {
	guidance := taskstate.Congested.Guidance()
	fmt.Println(guidance)
	fmt.Println(guidance.Advice())
	// Output:
	// back off
	// keep the task, or retry it after a pause of your own; the peer is not down
}

// The cause of a flush may surface after the flush itself.
func ExampleTask_Detail() {
	var task taskstate.Task
	var slice taskstate.Slice
	var root classify.RootCause // of the QP, in this generation

	slice.Admitted(&task, 1, false)
	flush := classify.Completion(classify.StatusWRFlushErr, 0)
	slice.Failed(&taskstate.Evidence{
		Reason: flush.Reason(), Scope: flush.Scope(), Verdict: flush, Root: &root, Generation: 1,
	})
	fmt.Println(task.Detail().RootCause)

	root.Note(classify.Completion(classify.StatusRetryExcErr, 0x81))
	cause, seen := task.Detail().RootCause.Get()
	fmt.Println(cause.Class(), seen)
	// Output:
	// not observed
	// RouteTimeout true
}

func ExampleDetail_MarshalJSON() {
	var task taskstate.Task
	var slice taskstate.Slice
	slice.Refused(&task, &taskstate.Evidence{
		Reason:     classify.ReasonPathQuarantined,
		Scope:      classify.ScopeRoute,
		Pair:       &rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"},
		Generation: 2,
		At:         90 * time.Second,
		Cooldown:   taskstate.Seen(12 * time.Second),
	})
	text, err := json.MarshalIndent(task.Detail(), "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	// Output:
	// {
	//   "state": "LONG_UNAVAILABLE",
	//   "guidance": "try elsewhere",
	//   "attempt": 1,
	//   "unresolved": 1,
	//   "reason": "PATH_QUARANTINED",
	//   "resolved": false,
	//   "scope": "route",
	//   "pair": {
	//     "peer": "host-b",
	//     "incarnation": "",
	//     "local": "mlx5_0",
	//     "port": 1,
	//     "remote": "mlx5_3"
	//   },
	//   "at_ns": 90000000000,
	//   "observed_attempt": 1,
	//   "generation": 2,
	//   "verdict": null,
	//   "root_cause": null,
	//   "window_bytes": null,
	//   "in_flight_bytes": null,
	//   "cooldown_ns": 12000000000
	// }
}

func ExampleTask_NextAttempt() {
	var task taskstate.Task
	var slice taskstate.Slice
	slice.Admitted(&task, 1, false)

	fmt.Println("attempt", task.NextAttempt())
	fmt.Println(slice.Succeeded())
	fmt.Println(task.State())
	// Output:
	// attempt 2
	// ignored: older attempt of the task
	// UNKNOWN
}
