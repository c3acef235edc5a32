package classify_test

import (
	"fmt"

	"github.com/rdmagate/rdmagate/classify"
)

func ExampleCompletion() {
	for _, status := range []classify.Status{
		classify.StatusSuccess, classify.StatusRetryExcErr, classify.StatusRemAccessErr, 99,
	} {
		v := classify.Completion(status, 0x81)
		fmt.Printf("%s: %s, %s; counts: %t\n", v.Class(), v.Scope(), v.Action(), v.Countable())
	}
	// Output:
	// Success: operation, keep using; counts: false
	// RouteTimeout: QP, retire the QP; counts: true
	// RemoteMetadata: operation, refresh the metadata; counts: false
	// Fatal: QP, retire the QP; counts: true
}

// An event reaches the element that it names, and nothing if it names none.
func ExampleEvent_Verdict() {
	port := classify.Element{Device: "mlx5_0", Port: 1}
	v, err := classify.Event{Type: classify.EventPortErr, Element: port}.Verdict()
	fmt.Println(v, err)
	fmt.Println("at once:", v.Immediate())

	v, err = classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "mlx5_0"}}.Verdict()
	fmt.Println(v)
	fmt.Println(err)
	// Output:
	// event 10 (port error): Fatal, scope port, isolate the port <nil>
	// at once: true
	// no verdict
	// event 10 (port error) with element {Device:mlx5_0 Port:0 QP:0 CQ:0 SRQ:0 WQ:0}: event does not name its element: a port event needs Element.Device and Element.Port, from 1
}

// One lost acknowledgement fails one work request and flushes all behind it. The
// flushes count nothing and share the root, whichever arrives first.
func ExampleRootCause() {
	var root classify.RootCause // one for each QP and generation
	for _, status := range []classify.Status{
		classify.StatusWRFlushErr, classify.StatusRetryExcErr, classify.StatusWRFlushErr,
	} {
		root.Note(classify.Completion(status, 0x81))
	}
	flush := classify.Completion(classify.StatusWRFlushErr, 0xf9)
	cause, known := root.Cause()
	fmt.Println(flush.Reason(), "counts:", flush.Countable())
	fmt.Println("root:", cause.Reason(), known)

	var torn classify.RootCause
	torn.Seal() // the application destroys the QP
	_, known = torn.Cause()
	fmt.Println("root after a teardown:", known)
	// Output:
	// DERIVED_FLUSH counts: false
	// root: ROUTE_TIMEOUT true
	// root after a teardown: false
}

// A deadline is the network's fault only if the CQ was being polled. Either way
// the bytes stay in flight until the hardware is done with them.
func ExampleOf() {
	for _, s := range []classify.Signal{
		classify.SignalDeadlineProgressing, classify.SignalDeadlineStalled, classify.SignalTeardown,
	} {
		v := classify.Of(s)
		fmt.Printf("%s: %s; counts %t, ends the attempt %t, releases %t\n",
			s, v.Class(), v.Countable(), v.EndsAttempt(), v.Releases())
	}
	// Output:
	// deadline passed: RouteTimeout; counts true, ends the attempt true, releases false
	// deadline passed with a stalled poller: NonFailure; counts false, ends the attempt false, releases false
	// QP torn down: Cancelled; counts false, ends the attempt false, releases true
}
