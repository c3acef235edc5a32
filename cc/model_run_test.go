package cc

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
)

// The long form: go test ./cc -run TestAgainstModel -v -steps 10000000.
var modelSteps = flag.Int("steps", 300_000, "operations of TestAgainstModel in each mode")

// modelOp is one operation. Its numbers are taken modulo what there is to choose
// from, so that any part of a sequence is a sequence.
type modelOp struct {
	kind    string
	a, b, c uint32
}

const (
	modelRoutes  = 10
	modelPermits = 24
	runLength    = 4000 // operations on one controller
)

// modelMixes are three kinds of weather: traffic on paths that fail now and then,
// paths that often fail, and devices that come and go.
var modelMixes = [3][]string{
	mix("acquire 60 post 45 settle 25 fail 1 renew 3 advance 1 probe 2 unposted 3 old 3 partial 5 congest 2 ease 1 silence 1 route 2"),
	mix("acquire 40 post 30 settle 25 fail 10 renew 12 advance 8 probe 9 unposted 2 old 2 partial 2 qp-event 2 congest 2 ease 1 silence 1 route 1"),
	mix("acquire 40 post 30 settle 30 fail 7 renew 12 advance 10 probe 5 unposted 2 old 2 partial 2 qp-event 2 cq-event 1 port-error 1 port-active 2 " +
		"device-fatal 1 congest 1 ease 1 silence 1 route 2"),
}

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
	modelPairs = func() (pairs []rail.Pair) {
		for i := range modelRoutes {
			pairs = append(pairs, rail.Pair{
				Peer: fmt.Sprint("P", i%3), Local: fmt.Sprint("D", i%2+1), Port: uint8(i/2%2 + 1), Remote: fmt.Sprint("n", i),
			})
		}
		return pairs
	}()
)

// String is how a failing run prints the operation.
func (o modelOp) String() string { return fmt.Sprintf("{%q, %d, %d, %d}", o.kind, o.a, o.b, o.c) }

func randomOps(seed uint64, n int) []modelOp {
	rnd := rand.New(rand.NewPCG(seed, 1))
	kinds := modelMixes[seed%uint64(len(modelMixes))]
	ops := make([]modelOp, n)
	for i := range ops {
		ops[i] = modelOp{kinds[rnd.IntN(len(kinds))], rnd.Uint32N(1 << 16), rnd.Uint32N(1 << 16), rnd.Uint32N(1 << 16)}
	}
	return ops
}

// modelReach is what a run came by.
type modelReach struct {
	ops     map[string]int
	states  [Probing + 1]int
	arrows  map[[2]State]int
	answers map[Ruling]int
}

// modelRun drives a controller and the model side by side.
type modelRun struct {
	ctl    *Controller
	m      *model
	routes [modelRoutes]*Route
	models [modelRoutes]*modelRoute
	states [modelRoutes]State
	slices [modelPermits]slice
	qps    uint64
	reach  *modelReach
}

func newModelRun(mode Mode, reach *modelReach) *modelRun {
	x := &modelRun{m: &model{observe: mode == Observe, now: time.Hour}, reach: reach}
	cfg := modelConfig
	cfg.Mode = mode
	ctl, err := New(cfg, WithClock(func() time.Duration { return x.m.now }), WithJitter(func() float64 { return 1 }))
	if err != nil {
		panic(err)
	}
	x.ctl = ctl
	for range 2 {
		x.m.devices = append(x.m.devices, &modelDevice{window: cfg.DeviceWindowBytes, marks: map[uint8]bool{}, exhausted: map[uint8]bool{}})
	}
	for range modelPermits {
		x.m.permits = append(x.m.permits, &modelPermit{})
	}
	for i := range 4 {
		x.makeRoute(i)
	}
	return x
}

// makeRoute makes a route that there is not yet.
func (x *modelRun) makeRoute(i int) {
	if x.routes[i] != nil {
		return
	}
	d := x.m.devices[i%2]
	route, err := x.ctl.Route(modelPairs[i])
	if err != nil {
		panic(err)
	}
	r := &modelRoute{
		m: x.m, device: d, peer: modelPairs[i].Peer, port: modelPairs[i].Port, law: modelConfig.StartWindowBytes,
		gen: &modelGeneration{}, refusals: map[RefusalCount]int{}, limited: d.exhausted[modelPairs[i].Port] || d.exhausted[0],
		path: modelVerdict{cooldown: modelConfig.Cooldown}, local: modelVerdict{cooldown: modelConfig.Cooldown},
	}
	d.routes = append(d.routes, r)
	x.routes[i], x.models[i] = route, r
	if d.marks[0] || d.marks[r.port] {
		r.isolate(false)
	}
}

// play runs the operations and returns at which the two disagreed, and how.
func play(mode Mode, ops []modelOp, reach *modelReach) (int, string) {
	x := newModelRun(mode, reach)
	for i, op := range ops {
		reach.ops[op.kind]++
		if wrong := x.step(op); wrong != "" {
			return i, wrong
		}
		if wrong := x.compare(); wrong != "" {
			return i, wrong
		}
	}
	for i, p := range x.m.permits {
		s := &x.slices[i]
		if p.held && s.permit.Settle(s.use, teardown, x.m.now)&Released == 0 && !s.permit.Unposted() {
			return len(ops), fmt.Sprintf("permit %d is held and neither teardown nor unposted releases it", i)
		}
	}
	for i, r := range x.routes {
		if r != nil && r.InFlight() != 0 {
			return len(ops), fmt.Sprintf("route %d has %d bytes in flight after all was settled", i, r.InFlight())
		}
	}
	return -1, ""
}

// compare returns where the two differ. PROBING whose lease has expired stands
// until somebody asks.
func (x *modelRun) compare() string {
	for i, route := range x.routes {
		if route == nil {
			continue
		}
		r, state := x.models[i], route.State()
		x.reach.states[state]++
		if state != x.states[i] {
			x.reach.arrows[[2]State{x.states[i], state}]++
			x.states[i] = state
		}
		if want := r.state(); state != want && !(state == Probing && want == Quarantined && r.trial.number != 0) {
			return fmt.Sprintf("route %d is %s, want %s", i, state, want)
		}
		if got, want := route.window.Load(), r.window(); got != want {
			return fmt.Sprintf("window of route %d is %d, want %d", i, got, want)
		}
		if got := route.flight.inFlight(); got != r.inFlight {
			return fmt.Sprintf("route %d has %d bytes in flight, want %d", i, got, r.inFlight)
		}
		path, local := route.path().Breaker, route.health.local()
		if path.Count != r.count {
			return fmt.Sprintf("route %d counts %d failures, want %d", i, path.Count, r.count)
		}
		for _, v := range []struct {
			name string
			got  *rail.Breaker
			want *modelVerdict
		}{{"path", &path, &r.path}, {"local", &local, &r.local}} {
			if v.got.Paused != v.want.paused || v.want.paused && v.got.Resume != v.want.resume {
				return fmt.Sprintf("%s verdict of route %d: paused %t until %s, want %t until %s",
					v.name, i, v.got.Paused, v.got.Resume, v.want.paused, v.want.resume)
			}
		}
	}
	for i, d := range x.m.devices {
		if dev := x.ctl.devices[fmt.Sprint("D", i+1)]; dev.inFlight() != d.inFlight {
			return fmt.Sprintf("device %d has %d bytes in flight, want %d", i, dev.inFlight(), d.inFlight)
		}
	}
	return ""
}

// shrink drops operations while the two still disagree.
func shrink(mode Mode, ops []modelOp) []modelOp {
	fails := func(ops []modelOp) int {
		i, _ := play(mode, ops, newReach())
		return i
	}
	ops = ops[:min(fails(ops)+1, len(ops))]
	for part := len(ops) / 2; part > 0; part /= 2 {
		for at := 0; at+part <= len(ops); {
			less := append(append([]modelOp{}, ops[:at]...), ops[at+part:]...)
			if i := fails(less); i >= 0 {
				ops = less[:min(i+1, len(less))]
			} else {
				at += part
			}
		}
	}
	return ops
}

func newReach() *modelReach {
	return &modelReach{ops: map[string]int{}, arrows: map[[2]State]int{}, answers: map[Ruling]int{}}
}

// TestAgainstModel has no ticks: the laws have tests of their own, and what the
// monitor finds is told to both sides. Steps of time are longer than a claim lives.
func TestAgainstModel(t *testing.T) {
	steps := *modelSteps
	if testing.Short() {
		steps = min(steps, 60_000)
	}
	for _, mode := range []Mode{Enforce, Observe} {
		t.Run(mode.String(), func(t *testing.T) {
			reach := newReach()
			for seed := range uint64(max(1, steps/runLength)) {
				ops := randomOps(seed, runLength)
				at, wrong := play(mode, ops, reach)
				if at < 0 {
					continue
				}
				short := shrink(mode, ops)
				_, last := play(mode, short, newReach())
				t.Fatalf("seed %d, operation %d: %s\nshrunk to %d operations, which end in: %s\nreplay(t, %s,\n\tmodelOp%s)",
					seed, at, wrong, len(short), last, [...]string{"Off", "Observe", "Enforce"}[mode], strings.Trim(strings.ReplaceAll(fmt.Sprint(short), "} {", "},\n\tmodelOp{"), "[]"))
			}
			if steps >= 300_000 {
				reach.check(t, mode)
			}
		})
	}
}

// replay plays a sequence that a failing run printed.
func replay(t *testing.T, mode Mode, ops ...modelOp) {
	t.Helper()
	if at, wrong := play(mode, ops, newReach()); at >= 0 {
		t.Errorf("operation %d: %s", at, wrong)
	}
}

// check asserts that the run came by every state and every reason to refuse.
func (x *modelReach) check(t *testing.T, mode Mode) {
	t.Logf("operations %v", x.ops)
	t.Logf("arrows %v", x.arrows)
	for s := Healthy; s <= Probing; s++ {
		t.Logf("%s: %d", s, x.states[s])
		assert.NotZero(t, x.states[s], "steps with a route in %s", s)
	}
	for r, n := range x.answers {
		t.Logf("%v: %d", r, n)
	}
	divert := func(reason classify.Reason, d Domain) Ruling {
		return Ruling{Answer: Defer, Reason: reason, Domain: d, Hint: Divert}
	}
	for _, r := range []Ruling{
		{Answer: Admit}, {Answer: Refused}, avoided, wantsRenew, probing, divert(classify.ReasonProbing, DeviceDomain),
		{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, {Answer: Defer, Reason: classify.ReasonByteWindow, Domain: DeviceDomain},
		{Answer: Defer, Reason: classify.ReasonCongestionFeedback, Domain: RouteDomain}, divert(classify.ReasonRouteSuspect, RouteDomain),
		{Answer: Defer, Reason: classify.ReasonCongestionFeedback, Domain: DeviceDomain}, divert(classify.ReasonRouteSuspect, NoDomain),
		{Answer: Defer, Reason: classify.ReasonStaleGeneration}, {Answer: Defer, Reason: classify.ReasonNeedsRenew},
	} {
		if mode == Enforce || r.Answer < Defer {
			assert.NotZero(t, x.answers[r], "answers %v", r)
		}
	}
}
