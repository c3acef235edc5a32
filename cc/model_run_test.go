package cc

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
)

// The long form: go test ./cc -run TestAgainstModel -v -steps 10000000.
var modelSteps = flag.Int("steps", 300_000, "operations of TestAgainstModel in each mode")

// modelReach is what a run came by.
type modelReach struct {
	ops     map[string]int
	states  [Probing + 1]int
	arrows  map[[2]State]int
	answers map[Ruling]int
	lists   map[Ruling]int

	woken, asleep, kept int // steps with a waiter, or with a route that is kept as the last
}

// modelRun drives a controller and the model side by side.
type modelRun struct {
	ctl    *Controller
	m      *model
	clock  atomic.Int64 // the model's now, for waiters
	routes [modelRoutes]*Route
	models [modelRoutes]*modelRoute
	states [modelRoutes]State
	slices [modelPermits]slice
	lists  [modelLists]modelPost
	polls  map[*modelPoller]*Poller
	asked  [modelPermits]modelAsk // what was refused

	waiting  bool                  // the run has waiters
	sleepers map[int]*modelSleeper // by permit
	qps      uint64
	reach    *modelReach
}

// modelPost is a post list as an engine holds it.
type modelPost struct {
	list List
	task taskstate.Task
	use  Use
}

// modelAsk is a slice that was asked for.
type modelAsk struct {
	route int
	n     int64
}

func newModelRun(s modelSetup, reach *modelReach) *modelRun {
	cfg := modelConfig(s.traits)
	cfg.Mode = s.mode
	now := time.Hour
	x := &modelRun{
		m:     &model{cfg: cfg, observe: s.mode == Observe, now: now, epoch: now / cfg.Epoch, began: now},
		polls: map[*modelPoller]*Poller{}, reach: reach,
		waiting: slices.Contains(s.traits, "wait"), sleepers: map[int]*modelSleeper{},
	}
	x.clock.Store(int64(now))
	options := []Option{WithClock(func() time.Duration { return time.Duration(x.clock.Load()) }), WithJitter(func() float64 { return 1 })}
	switch {
	case slices.Contains(s.traits, "recorded"):
		options = append(options, WithRecorder(recorder.New(recorder.Slots(64))))
	case slices.Contains(s.traits, "serial"):
		options = append(options, WithRecorder(recorder.New(recorder.Slots(64), recorder.Serial())))
	}
	ctl, err := New(cfg, options...)
	if err != nil {
		panic(err)
	}
	x.ctl = ctl
	for range 2 {
		x.m.devices = append(x.m.devices, &modelDevice{
			m: x.m, window: cfg.DeviceWindowBytes, marks: map[uint8]bool{}, exhausted: map[uint8]bool{}, pollers: map[uint64]*modelPoller{},
		})
	}
	for i := range x.slices { // use numbers say what is measured
		x.slices[i].permit.use = Use(100 * (i + 1))
		x.m.permits = append(x.m.permits, &modelPermit{})
	}
	for i := range x.lists {
		x.lists[i].list.p.use = Use(100 * (i + 1))
		x.m.lists = append(x.m.lists, &modelList{})
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
		m: x.m, device: d, peer: modelPairs[i].Peer, port: modelPairs[i].Port, law: x.m.cfg.StartWindowBytes,
		gen: &modelGeneration{}, refusals: map[RefusalCount]int{}, narrow: d.exhausted[modelPairs[i].Port] || d.exhausted[0],
		path: modelVerdict{cfg: &x.m.cfg, cooldown: x.m.cfg.Cooldown}, local: modelVerdict{cfg: &x.m.cfg, cooldown: x.m.cfg.Cooldown},
	}
	r.round.ramping = true
	d.routes = append(d.routes, r)
	x.routes[i], x.models[i] = route, r
	if d.marks[0] || d.marks[r.port] {
		r.isolate(false)
	}
}

// play runs the operations and returns at which the two disagreed, and how.
func play(t *testing.T, s modelSetup, ops []modelOp, reach *modelReach) (at int, wrong string) {
	if !slices.Contains(s.traits, "wait") {
		return newModelRun(s, reach).play(ops)
	}
	synctest.Test(t, func(*testing.T) {
		x := newModelRun(s, reach)
		defer x.leave()
		at, wrong = x.play(ops)
	})
	return at, wrong
}

func (x *modelRun) play(ops []modelOp) (int, string) {
	for i, op := range ops {
		x.reach.ops[op.kind]++
		if wrong := x.step(op); wrong != "" {
			return i, wrong
		}
		if wrong := x.compare(); wrong != "" {
			return i, wrong
		}
	}
	x.leave()
	for i, p := range x.m.permits {
		s := &x.slices[i]
		if p.held && s.permit.Settle(s.use, teardown, x.m.now)&Released == 0 && !s.permit.Unposted() {
			return len(ops), fmt.Sprintf("permit %d is held and neither teardown nor unposted releases it", i)
		}
	}
	for i, l := range x.m.lists {
		p := &x.lists[i]
		p.list.Settle(p.use, math.MaxUint32, teardown, x.m.now)
		p.list.Unposted(0)
		if held := p.list.Held(); held != 0 {
			return len(ops), fmt.Sprintf("list %d holds %d bytes after teardown and unposted, of %d", i, held, l.held())
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
		if r.kept {
			x.reach.kept++
		}
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
		if wrong := differ(route.flowSnapshot(), r.drain, r.drained, r.delivered, r.pressure, r.active); wrong != "" {
			return fmt.Sprintf("route %d: %s", i, wrong)
		}
		if got := route.health.kept.Load(); got != r.kept {
			return fmt.Sprintf("route %d is kept as the last: %t, want %t", i, got, r.kept)
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
		dev := x.ctl.devices[modelPairs[i].Local]
		if got := dev.inFlight(); got != d.inFlight {
			return fmt.Sprintf("device %d has %d bytes in flight, want %d", i, got, d.inFlight)
		}
		if got := dev.window.Load(); got != d.window {
			return fmt.Sprintf("window of device %d is %d, want %d", i, got, d.window)
		}
		delivered := int64(0)
		for _, r := range d.routes {
			delivered += r.delivered
		}
		if wrong := differ(dev.flowSnapshot(), d.drain, d.drained, delivered, d.pressure, true); wrong != "" {
			return fmt.Sprintf("device %d: %s", i, wrong)
		}
	}
	return ""
}

// differ returns where a flow differs from what it should be. The pressure of an idle
// route is of no meaning.
func differ(got FlowSnapshot, drain time.Duration, drained bool, delivered int64, p Pressure, active bool) string {
	if took, observed := got.DrainTime.Get(); took != drain || observed != drained {
		return fmt.Sprintf("drain time is %s (observed: %t), want %s (%t)", took, observed, drain, drained)
	}
	if got.DeliveredBytes != delivered {
		return fmt.Sprintf("%d bytes are delivered, want %d", got.DeliveredBytes, delivered)
	}
	if active && got.Pressure != p {
		return fmt.Sprintf("pressure is %s, want %s", got.Pressure, p)
	}
	return ""
}

// shrink drops traits and operations while the two still disagree.
func shrink(t *testing.T, s modelSetup, ops []modelOp) (modelSetup, []modelOp) {
	_, first := play(t, s, ops, newReach())
	fails := func(ops []modelOp) int { // in the same way
		i, wrong := play(t, s, ops, newReach())
		if modelKind(wrong) != modelKind(first) {
			return -1
		}
		return i
	}
	for _, trait := range slices.Clone(s.traits) {
		was := s.traits
		if trait == "wait" {
			continue // its operations need it
		}
		s.traits = slices.DeleteFunc(slices.Clone(was), func(u string) bool { return u == trait })
		if fails(ops) < 0 {
			s.traits = was
		}
	}
	ops = ops[:min(fails(ops)+1, len(ops))]
	for was := len(ops) + 1; len(ops) < was; {
		was = len(ops)
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
	}
	return s, ops
}

// modelKind is a disagreement without its numbers.
func modelKind(wrong string) string {
	return strings.Join(strings.FieldsFunc(wrong, func(c rune) bool { return !unicode.IsLetter(c) }), " ")
}

func newReach() *modelReach {
	return &modelReach{ops: map[string]int{}, arrows: map[[2]State]int{}, answers: map[Ruling]int{}, lists: map[Ruling]int{}}
}

// TestAgainstModel plays random sequences on random configurations.
func TestAgainstModel(t *testing.T) {
	steps := *modelSteps
	if testing.Short() {
		steps = min(steps, 60_000)
	}
	for _, mode := range []Mode{Enforce, Observe} {
		t.Run(mode.String(), func(t *testing.T) {
			reach := newReach()
			for seed := range uint64(max(1, steps/runLength)) {
				s, ops := randomRun(mode, seed, runLength)
				at, wrong := play(t, s, ops, reach)
				if at < 0 {
					continue
				}
				small, short := shrink(t, s, ops)
				_, last := play(t, small, short, newReach())
				t.Fatalf("seed %d, %s, operation %d: %s\nshrunk to %d operations, which end in: %s\nreplay(t, %s,\n\tmodelOp%s)",
					seed, s, at, wrong, len(short), last, small, strings.Trim(strings.ReplaceAll(fmt.Sprint(short), "} {", "},\n\tmodelOp{"), "[]"))
			}
			if steps >= 300_000 {
				reach.check(t, mode)
			}
		})
	}
}

// replay plays a sequence that a failing run printed.
func replay(t *testing.T, mode Mode, traits string, ops ...modelOp) {
	t.Helper()
	if at, wrong := play(t, modelSetup{mode, strings.Fields(traits)}, ops, newReach()); at >= 0 {
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
	t.Logf("lists %v", x.lists)
	t.Logf("waiters %d admitted or told, %d asleep; %d kept as the last", x.woken, x.asleep, x.kept)
	assert.NotZero(t, x.kept, "steps with a route that is kept as the last")
	assert.True(t, mode == Observe || x.woken > 0 && x.asleep > 0, "waiters")
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
	for _, r := range []Ruling{
		{Answer: Admit}, {Answer: Refused}, avoided, wantsRenew, probing, divert(classify.ReasonRouteSuspect, RouteDomain),
		{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, {Answer: Defer, Reason: classify.ReasonByteWindow, Domain: DeviceDomain},
	} {
		if mode == Enforce || r.Answer < Defer {
			assert.NotZero(t, x.lists[r], "answers to lists %v", r)
		}
	}
}
