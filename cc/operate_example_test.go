package cc_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// The first step of a rollout: everything is admitted, and the refusals that enforce would
// have made are counted. The same counters are in the metrics.
func ExampleMode() {
	var now time.Duration
	cfg := numbers()
	cfg.Mode = cc.Observe
	ctl, route, gen := newRoute(cfg, byHand(&now)...)
	defer ctl.Close()

	permits := make([]cc.Permit, 6)
	for i := range permits {
		if d := route.TryAcquire(&permits[i], gen, 64<<10, nil); !d.Admitted() {
			fmt.Println(d) // never in this mode
		}
	}
	s := route.Snapshot()
	fmt.Println(s.InFlightBytes>>10, "KiB in flight, window", s.WindowBytes>>10, "KiB")
	for _, r := range s.Refusals {
		fmt.Println("would", r.Answer(), r.Count, r.Reason, r.Domain)
	}
	// Output:
	// 384 KiB in flight, window 256 KiB
	// would defer 2 BYTE_WINDOW route
}

// A controller is an expvar.Var: its snapshot is on the page that package expvar serves.
func ExampleController_String() {
	ctl, route, gen := newRoute(numbers())
	defer ctl.Close()
	expvar.Publish("rdmagate", ctl)

	var permit cc.Permit
	route.TryAcquire(&permit, gen, 64<<10, nil)

	var s cc.Snapshot // as a program reads it from /debug/vars
	if err := json.Unmarshal([]byte(expvar.Get("rdmagate").String()), &s); err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range s.Routes {
		fmt.Println(r.Pair, r.Health.State, r.InFlightBytes, "of", r.WindowBytes)
	}
	// Output:
	// mlx5_0:1->host-b/mlx5_3 HEALTHY 65536 of 262144
}

// The settings that a deployment changes come from the environment. Nothing is guessed:
// one bad value, and there is no configuration.
func ExampleConfigFromEnv() {
	cfg, err := cc.ConfigFromEnv([]string{
		"MC_ADAPTIVE_CC_MODE=observe",
		"MC_ADAPTIVE_CC_TARGET_DRAIN_US=250",
		"HOME=/root", // others are passed over
	})
	fmt.Println(cfg.Mode, cfg.TargetDrain, err)

	_, err = cc.ConfigFromEnv([]string{"MC_ADAPTIVE_CC_COOLDOWN_MS=30s"})
	fmt.Println(err)
	// Output:
	// observe 250µs <nil>
	// cc: MC_ADAPTIVE_CC_COOLDOWN_MS is "30s": must be a positive number in decimal digits, without sign, unit or space
}

// Settings can be valid and still not suit a network: 400 senders that keep to 64 KiB
// overrun a buffer of 16 MiB, whatever a controller does.
func ExampleConfig_Advice() {
	cfg := numbers()
	cfg.ErrorWindow = 10 * time.Second
	for _, a := range cfg.Advice(cc.Surroundings{FanIn: 400, BufferBytes: 16 << 20, RetryTime: 4 * time.Second, RNRRetry: 7}) {
		fmt.Println(a)
	}
	// Output:
	// MinWindowBytes is 65536, and 400 senders that keep to it overrun a buffer of 16777216 bytes; use at most 41943
	// rnr_retry is 7, which waits for ever: a receiver that is not ready is never reported; use less
}
