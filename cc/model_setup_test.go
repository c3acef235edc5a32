package cc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// modelConfig has windows that differ from one another wherever a rule names one.
func modelConfig(traits []string) Config {
	c := DefaultConfig()
	c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = 64*kib, 512*kib, 4*mib, mib
	c.ProbeWindowBytes, c.SuspectWindowBytes = 32*kib, 48*kib
	c.CooldownCap = 100 * time.Second
	c.Law, c.TargetDrain, c.SuspectAfter = LawEpoch, 500*time.Microsecond, 0
	for _, t := range traits {
		modelTraits[t](&c)
	}
	return c
}

// modelTraits are what configurations differ in. Each run has some of them.
var modelTraits = map[string]func(*Config){
	"early":   func(c *Config) { c.SuspectAfter = 20 * ms },
	"jumpy":   func(c *Config) { c.HighPressureEpochs, c.LowPressureEpochs = 1, 1 },
	"keep":    func(c *Config) { c.KeepLastRoute = true },
	"open":    func(c *Config) { c.SuspectWindowBytes = 0 },
	"patient": func(c *Config) { c.HighPressureEpochs, c.LowPressureEpochs = 3, 2 },
	"prober":  func(c *Config) { c.Prober = true },
	// A recorder changes nothing that is answered.
	"recorded": func(*Config) {},
	"serial":   func(*Config) {},
	"rare":     func(c *Config) { c.ProbeInterval = 4 * time.Second },
	"round":    func(c *Config) { c.Law = LawRound },
	"short":    func(c *Config) { c.Epoch = 10 * ms },
	"slow":     func(c *Config) { c.TargetDrain = 10 * ms },
	"touchy":   func(c *Config) { c.StallGap = 30 * ms },
	"wait": func(c *Config) { // see modelPlace
		c.DeviceWindowBytes, c.ErrorWindow = 64*mib, 1000*time.Hour
		c.HighPressureEpochs, c.LowPressureEpochs = math.MaxUint16, math.MaxUint16
	},
	"wide": func(c *Config) {
		c.StartWindowBytes, c.DeviceMinWindowBytes, c.DeviceWindowBytes = 128*kib, 256*kib, 3*mib
	},
}

const (
	modelRoutes  = 10
	modelPermits = 24
	modelLists   = 4
	runLength    = 4000 // operations on one controller
)

// modelMixes are kinds of weather: traffic on paths that fail now and then, paths that
// often fail, devices that come and go; and the same with a monitor that ticks.
var modelMixes = [][]string{
	mix("acquire 60 post 45 settle 25 fail 1 renew 3 advance 1 probe 2 unposted 3 old 3 partial 5 congest 2 ease 1 silence 1 route 2"),
	mix("acquire 40 post 30 settle 25 fail 10 renew 12 advance 8 probe 9 unposted 2 old 2 partial 2 qp-event 2 congest 2 ease 1 silence 1 route 1 strike 3 unreachable 3"),
	mix("acquire 40 post 30 settle 30 fail 7 renew 12 advance 10 probe 5 unposted 2 old 2 partial 2 qp-event 2 cq-event 1 port-error 1 port-active 2 " +
		"device-fatal 1 congest 1 ease 1 silence 1 route 2 strike 2 unreachable 2"),
	mix("acquire 20 post 15 settle 20 fail 1 renew 3 moment 20 tick 12 epoch 6 drive 16 crowd 4 retry 4 list 6 list-post 5 list-settle 8 " +
		"poller 1 beat 2 sleep 1 route 1"),
	mix("acquire 25 post 20 settle 20 fail 5 renew 9 moment 16 advance 2 tick 9 epoch 4 drive 8 crowd 2 probe 3 due 2 handoff 2 retry 3 list 4 list-post 3 " +
		"list-settle 5 list-fail 1 list-unposted 1 poller 1 beat 2 sleep 1 qp-event 1 cq-event 1 port-error 1 port-active 1 device-fatal 1 route 1 strike 2"),
	mix("acquire 25 post 18 settle 20 fail 2 renew 3 moment 14 advance 1 retry 18 handoff 3 probe 1 due 1 list 12 list-post 9 list-settle 14 list-fail 6 list-unposted 3 poller 1 beat 1 sleep 1 strike 1 " +
		"congest 1 ease 1 tick 2 epoch 1 route 1"),
	mix("wait 20 give-up 3 acquire 20 post 20 settle 24 fail 5 renew 4 moment 12 advance 1 retry 4 handoff 1 probe 1 list 3 list-post 2 list-settle 4 list-fail 1 " +
		"unposted 2 tick 1 epoch 1 congest 1 ease 1 qp-event 1 port-error 1 port-active 1"),
}

// recorderTraits are taken in turn: without a recorder, with one, and with a serial one.
var recorderTraits = [3][]string{1: {"recorded"}, 2: {"serial"}}

// mix lists each operation as often as its weight says.
func mix(weights string) (kinds []string) {
	fields := strings.Fields(weights)
	for i := 0; i < len(fields); i += 2 {
		n, err := strconv.Atoi(fields[i+1])
		if err != nil {
			panic(err)
		}
		kinds = append(kinds, slices.Repeat(fields[i:i+1], n)...)
	}
	return kinds
}

var (
	modelFailures = []classify.Verdict{
		flush, retryExc, retryExc, wc(classify.StatusRespTimeoutErr, 0), fatal(), locLen(), remAccess(), rnr(), deadline, stalled, cancel, cancel, cancel, teardown,
	}
	modelAdvances = []time.Duration{
		5 * time.Millisecond, 5 * time.Millisecond, 100 * time.Millisecond, time.Second, time.Second, 3 * time.Second,
		11 * time.Second, 31 * time.Second, 100 * time.Second,
	}
	// modelMoments are the steps of time of a data path.
	modelMoments = []time.Duration{
		time.Microsecond, 20 * time.Microsecond, 70 * time.Microsecond, 150 * time.Microsecond, 400 * time.Microsecond, 700 * time.Microsecond,
		ms, ms, 2 * ms, 4 * ms, 8 * ms, 10 * ms, 10 * ms, 12 * ms, 25 * ms, 60 * ms, 100 * ms, 300 * ms, 2 * time.Second,
	}
	modelPairs = func() (pairs []rail.Pair) {
		for i := range modelRoutes {
			pairs = append(pairs, rail.Pair{
				Peer: fmt.Sprint("P", i%3), Local: fmt.Sprint("D", i%2+1), Port: uint8(i/2%2 + 1), Remote: fmt.Sprint("n", i),
			})
		}
		return pairs
	}()
)

// modelOp is one operation. Its numbers are taken modulo what there is to choose
// from, so that any part of a sequence is a sequence.
type modelOp struct {
	kind    string
	a, b, c uint32
}

// String is how a failing run prints the operation.
func (o modelOp) String() string { return fmt.Sprintf("{%q, %d, %d, %d}", o.kind, o.a, o.b, o.c) }

// modelSetup is what a run is played on.
type modelSetup struct {
	mode   Mode
	traits []string
}

// String is how a failing run prints the setup.
func (s modelSetup) String() string {
	return fmt.Sprintf("%s, %q", [...]string{"Off", "Observe", "Enforce"}[s.mode], strings.Join(s.traits, " "))
}

// randomRun is a configuration and what happens to it.
func randomRun(mode Mode, seed uint64, n int) (modelSetup, []modelOp) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	s := modelSetup{mode: mode}
	for t := range modelTraits {
		if t != "recorded" && t != "serial" {
			s.traits = append(s.traits, t)
		}
	}
	slices.Sort(s.traits)
	s.traits = slices.DeleteFunc(s.traits, func(t string) bool { return t == "wait" || rnd.IntN(3) > 0 })
	kinds := modelMixes[seed%uint64(len(modelMixes))]
	if waits := slices.Contains(kinds, "wait"); waits {
		s.traits = slices.DeleteFunc(s.traits, func(t string) bool { return slices.Contains([]string{"jumpy", "patient", "round", "wide"}, t) })
		s.traits = append(s.traits, "wait")
	}
	s.traits = append(s.traits, recorderTraits[seed/uint64(len(modelMixes))%3]...)
	ops := make([]modelOp, n)
	for i := range ops {
		ops[i] = modelOp{kinds[rnd.IntN(len(kinds))], rnd.Uint32N(1 << 16), rnd.Uint32N(1 << 16), rnd.Uint32N(1 << 16)}
	}
	return s, ops
}
