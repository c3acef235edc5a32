package recorder_test

import (
	"fmt"
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
	fmt.Printf("%+v\n", rec.Counters())
	// Output:
}
