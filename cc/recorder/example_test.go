package recorder_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

func Example() {
	rec := recorder.New(recorder.Slots(1024))
	defer rec.Close()

	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	now := time.Duration(0) // a clock by hand, so that the output is always the same
	ctl, err := cc.New(cfg, cc.WithRecorder(rec),
		cc.WithClock(func() time.Duration { return now }), cc.WithJitter(func() float64 { return 1 }))
	if err != nil {
		fmt.Println(err)
		return
	}
	route, _ := ctl.Route(rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"})
	gen, _ := route.Renew(0, []cc.QP{{ID: 7, CQ: 1}})
	var permit cc.Permit
	var task taskstate.Task
	d := route.TryAcquire(&permit, gen, 64<<10, &task)
	if err := permit.Posting(7, now); err != nil {
		fmt.Println(err)
		return
	}
	now += 4 * time.Second
	permit.Settle(d.Use, classify.Completion(classify.StatusRetryExcErr, 0x81), now)

	var dump strings.Builder
	if err := rec.Dump(&dump, recorder.Text); err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(dump.String()) {
		if !strings.Contains(line, "use=") { // numbers of admissions begin anywhere
			fmt.Print(line)
		}
	}
	c := rec.Counters()
	fmt.Println(c.Records, "records,", c.Dropped, "dropped, in", c.Bytes, "bytes")
	// Output:
	// scenario 1
	// @0s recording complete=yes serial=no
	// set mode=enforce min_window_bytes=64KiB max_window_bytes=64MiB start_window_bytes=64KiB device_window_bytes=64MiB probe_window_bytes=64KiB suspect_window_bytes=64KiB hard_error_threshold=3 error_window=10s cooldown=30s cooldown_cap=5m probe_interval=1s law=round epoch=100ms target_drain=100us high_pressure_epochs=2 low_pressure_epochs=3 device_min_window_bytes=0 suspect_after=50ms stall_gap=1s prober=no keep_last_route=no
	// @0s clock
	// @0s clock
	// route r1 mlx5_0 host-b mlx5_3 port=1
	// renew r1 qps=7 cq=1 old=0 -> 1
	// @0s post p1 qp=7
	// jitter 1
	// @4s told r1 HEALTHY SUSPECT ROUTE_TIMEOUT source=completion raw=12 vendor=0x81 gen=1
	// 14 records, 0 dropped, in 65536 bytes
}

// incidentFile stands for one that os.Create opens.
type incidentFile struct{ bytes.Buffer }

func (f *incidentFile) Close() error { return nil }

// The recording that an operator finds after an incident: it was written when a route
// became SUSPECT, while the cause was still in the ring.
func ExampleDumpOn() {
	var incident incidentFile // an engine opens a new one at each call, with a name of its own
	rec := recorder.New(recorder.Slots(1024), recorder.DumpOn(
		func(t recorder.Told) bool { return cc.State(t.To) == cc.Suspect },
		func() (io.WriteCloser, error) { return &incident, nil },
		recorder.Text, time.Minute))

	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	ctl, err := cc.New(cfg, cc.WithRecorder(rec))
	if err != nil {
		fmt.Println(err)
		return
	}
	route, _ := ctl.Route(rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"})
	gen, _ := route.Renew(0, []cc.QP{{ID: 7}})
	var permit cc.Permit
	d := route.TryAcquire(&permit, gen, 64<<10, nil)
	if err := permit.Posting(7, ctl.Now()); err != nil {
		fmt.Println(err)
		return
	}
	permit.Settle(d.Use, classify.Completion(classify.StatusRetryExcErr, 0x81), ctl.Now())
	ctl.Close()
	if err := rec.Close(); err != nil { // waits for dumps that are under way
		fmt.Println(err)
		return
	}
	fmt.Println(rec.Counters().Dumps, strings.HasPrefix(incident.String(), "scenario 1"), strings.Contains(incident.String(), "HEALTHY SUSPECT"))
	// Output: 1 true true
}
