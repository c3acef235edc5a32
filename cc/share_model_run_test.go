package cc

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
)

const (
	pooledWorkers = 3
	pooledPermits = 10 // of each worker
)

var pooledPairs = []rail.Pair{
	{Peer: "P", Local: "D1", Port: 1, Remote: "n1"},
	{Peer: "P", Local: "D1", Port: 2, Remote: "n2"},
	{Peer: "Q", Local: "D1", Port: 1, Remote: "n1"},
	{Peer: "P", Local: "D2", Port: 1, Remote: "n1"},
}

var pooledMixes = [...][]string{
	mix("acquire 20 post 35 success 30 fail 12 renew 12 advance 4 probe 6 unposted 4 flush 4 teardown 4 look 6"),
	mix("acquire 20 post 35 success 20 fail 20 renew 20 advance 4 probe 8 unposted 3 flush 3 teardown 3 look 3"),
	mix("acquire 20 post 35 success 20 fail 12 renew 20 advance 5 probe 8 unposted 3 flush 3 teardown 3 look 3 rejoin 1 port-error 3 port-active 3 qp-event 8"),
}

// pooledRun drives three controllers of one table, and the model beside them.
type pooledRun struct {
	m       *pooled
	table   *rail.Table
	workers [pooledWorkers]*pooledWorker
	ids     uint64
	reach   map[string]int
}

type pooledWorker struct {
	ctl     *Controller
	routes  []*Route
	models  []*pooledRoute
	slices  [pooledPermits]slice
	permits [pooledPermits]pooledPermit
}

func newPooledRun(reach map[string]int) *pooledRun {
	x := &pooledRun{m: &pooled{now: time.Hour}, table: rail.NewTable(), reach: reach}
	for range pooledPairs {
		x.m.pairs = append(x.m.pairs, &pooledPair{path: modelVerdict{cfg: &sharedConfig, cooldown: sharedConfig.Cooldown}})
	}
	for w := range x.workers {
		x.workers[w] = &pooledWorker{}
		x.join(w)
	}
	return x
}

// join makes a worker's controller.
func (x *pooledRun) join(w int) {
	cfg := sharedConfig
	cfg.Mode = Enforce
	worker := x.workers[w]
	ctl, err := New(cfg, WithPauses(x.table), WithClock(func() time.Duration { return x.m.now }), WithJitter(func() float64 { return 1 }))
	if err != nil {
		panic(err)
	}
	worker.ctl, worker.routes, worker.models = ctl, nil, nil
	for i, pair := range pooledPairs {
		route, err := ctl.Route(pair)
		if err != nil {
			panic(err)
		}
		worker.routes = append(worker.routes, route)
		worker.models = append(worker.models, &pooledRoute{
			m: x.m, pair: x.m.pairs[i], law: cfg.StartWindowBytes, gen: &pooledGeneration{}, local: modelVerdict{cfg: &sharedConfig, cooldown: cfg.Cooldown},
		})
		x.renew(worker, i)
	}
}

// renew builds the next endpoint. Workers share the QPs of the first pair, as far as
// they have as many generations.
func (x *pooledRun) renew(w *pooledWorker, i int) {
	r := w.models[i]
	var qps []QP
	for j := range uint64(2) {
		x.ids++
		q := QP{ID: 1_000_000 + x.ids, CQ: 1}
		if i == 0 {
			q = QP{ID: 2*uint64(r.gen.number) + j + 1, CQ: 1, Incarnation: 7}
		}
		qps = append(qps, q)
	}
	gen, err := w.routes[i].Renew(r.gen.number, qps)
	if err != nil {
		panic(err)
	}
	r.gen = &pooledGeneration{number: gen, qps: qps, dead: map[uint64]bool{}}
}

// step does one operation on both sides and returns how they differ.
func (x *pooledRun) step(op modelOp) string {
	w := x.workers[op.c%pooledWorkers]
	i, j := int(op.a)%pooledPermits, int(op.b)%len(pooledPairs)
	s, p, route, r := &w.slices[i], &w.permits[i], w.routes[j], w.models[j]
	switch op.kind {
	case "acquire", "probe":
		return x.acquire(s, p, route, r, op.kind == "probe", op.c/pooledWorkers)
	case "post":
		return x.post(s, p, op.c/pooledWorkers)
	case "success":
		x.settle(s, p, success)
	case "fail":
		x.settle(s, p, retryExc)
	case "flush":
		x.settle(s, p, flush)
	case "teardown":
		x.settle(s, p, teardown)
	case "unposted":
		if s.permit.Unposted() && p.route != nil {
			wait := time.Duration(0)
			p.route.undecided(p.trial, wait)
			p.route.inFlight -= p.bytes
		}
		*p = pooledPermit{}
	case "renew":
		x.renew(w, j)
	case "advance":
		x.advance(modelAdvances[int(op.a)%len(modelAdvances)])
	case "look":
		return x.compare(w, j)
	case "rejoin":
		x.rejoin(int(op.c % pooledWorkers))
	default:
		x.event(op.kind, w, j)
	}
	return ""
}

func (x *pooledRun) acquire(s *slice, p *pooledPermit, route *Route, r *pooledRoute, probe bool, c uint32) string {
	n := 1 + int64(c%64)*kib
	var d Decision
	if probe {
		d = route.TryProbe(&s.permit, r.gen.number, n)
	} else {
		d = route.TryAcquire(&s.permit, r.gen.number, n, nil)
	}
	want := r.acquire(p, n, probe)
	x.reach[fmt.Sprint(d.Ruling)]++
	if d.Admitted() {
		s.use = d.Use
	}
	if got := (modelAnswer{d.Ruling, d.RetryAfter}); got != want {
		return fmt.Sprintf("%d bytes on %s (%s): %v, want %v", n, route.pair, route.State(), got, want)
	}
	return ""
}

// post posts the permit, unless its endpoint or its trial is not current any more.
func (x *pooledRun) post(s *slice, p *pooledPermit, c uint32) string {
	r := p.route
	if !p.held || p.posted || r == nil {
		return ""
	}
	q := p.gen.qps[c%2].ID
	want := p.gen == r.gen
	if want {
		p.gen.used = true
	}
	if want && p.trial != 0 {
		r.look()
		if want = p.trial == r.trial.number; want {
			r.trial.qp = q
		}
	}
	if err := s.permit.Posting(q, x.m.now); want != (err == nil) {
		return fmt.Sprintf("Posting on %s: %v, want success: %t", s.permit.gen.route.pair, err, want)
	}
	if !want {
		r.undecided(p.trial, 0)
		r.inFlight -= p.bytes
		*p = pooledPermit{}
		return ""
	}
	p.posted, p.qp, p.postedAt = true, q, x.m.now
	return ""
}

func (x *pooledRun) settle(s *slice, p *pooledPermit, v classify.Verdict) {
	if s.permit.Settle(s.use, v, x.m.now) == 0 || p.route == nil {
		return
	}
	r := p.route
	r.inFlight -= p.bytes
	switch {
	case v == success && p.gen == r.gen:
		r.succeeded(p)
	case v == retryExc:
		r.failed(p.gen, p.qp, *p)
		fallthrough
	default:
		r.undecided(p.trial, sharedConfig.ProbeInterval)
	}
	*p = pooledPermit{}
}

func (x *pooledRun) advance(d time.Duration) {
	x.m.now += d
	for _, p := range x.m.pairs {
		if !p.path.paused && p.count == 0 {
			p.path.calm += d
		}
	}
	for _, w := range x.workers {
		for _, r := range w.models {
			if !r.local.paused {
				r.local.calm += d
			}
		}
	}
}

// rejoin closes a worker's controller, and has another take its place.
func (x *pooledRun) rejoin(i int) {
	w := x.workers[i]
	w.ctl.Close()
	for _, r := range w.models {
		if r.trial.number != 0 {
			r.freeTrial(0)
		}
	}
	for k := range w.permits {
		s := &w.slices[k]
		if s.permit.Settle(s.use, retryExc, x.m.now) == 0 {
			s.permit.Unposted()
		}
		w.permits[k] = pooledPermit{}
	}
	x.join(i)
}

func (x *pooledRun) event(kind string, w *pooledWorker, j int) {
	pair := pooledPairs[j]
	e := classify.Event{Element: classify.Element{Device: pair.Local, Port: pair.Port, QP: w.models[j].gen.qps[0].ID}}
	e.Type = map[string]classify.EventType{"qp-event": classify.EventQPFatal, "port-error": classify.EventPortErr, "port-active": classify.EventPortActive}[kind]
	if _, _, err := w.ctl.Event(e, x.m.now); err != nil {
		panic(err)
	}
	for k, r := range w.models {
		there := pooledPairs[k].Local == pair.Local && pooledPairs[k].Port == pair.Port
		switch {
		case kind == "qp-event" && k == j:
			r.failed(r.gen, e.Element.QP, pooledPermit{evidence: 1 << 62, postedAt: x.m.now})
		case kind == "port-error" && there:
			r.portError()
		case kind == "port-active" && there:
			r.portActive()
		}
	}
}

// compare has a route look at the table, and returns where the two differ.
func (x *pooledRun) compare(w *pooledWorker, j int) string {
	route, r, p := w.routes[j], w.models[j], x.m.pairs[j]
	state := look(route)
	r.look()
	x.reach[state.String()]++
	if state != r.shown && !(state == Probing && r.shown == Quarantined) { // nobody asked since the lease expired
		return fmt.Sprintf("%s is %s, want %s", route.pair, state, r.shown)
	}
	if got, want := route.window.Load(), r.window(); got != want {
		return fmt.Sprintf("window of %s (%s) is %d, want %d", route.pair, state, got, want)
	}
	if route.InFlight() != r.inFlight {
		return fmt.Sprintf("%s has %d bytes in flight, want %d", route.pair, route.InFlight(), r.inFlight)
	}
	b := x.table.Look(pooledPairs[j]).Breaker
	if b.Count != p.count && !(p.path.paused && b.Paused) || b.Paused != p.path.paused {
		return fmt.Sprintf("%s counts %d and is paused %t, want %d, %t", route.pair, b.Count, b.Paused, p.count, p.path.paused)
	}
	if b.Paused && (b.Resume != p.path.resume || b.TrialDue() != p.path.due() || b.TrialOut(x.m.now) != p.out(x.m.now)) {
		return fmt.Sprintf("%s is paused until %s, trial from %s (out: %t), want %s, %s (%t)",
			route.pair, b.Resume, b.TrialDue(), b.TrialOut(x.m.now), p.path.resume, p.path.due(), p.out(x.m.now))
	}
	return ""
}

// playPooled runs the operations and returns at which the two disagreed, and how.
// In the end every worker agrees with the table.
func playPooled(ops []modelOp, reach map[string]int) (int, string) {
	x := newPooledRun(reach)
	for i, op := range ops {
		reach[op.kind]++
		if wrong := x.step(op); wrong != "" {
			return i, wrong
		}
	}
	for k, w := range x.workers {
		for j := range w.routes {
			if wrong := x.compare(w, j); wrong != "" {
				return len(ops), fmt.Sprintf("worker %d: %s", k, wrong)
			}
		}
	}
	for k, w := range x.workers {
		w.ctl.Close()
		for i := range w.slices {
			s := &w.slices[i]
			if s.permit.Settle(s.use, teardown, x.m.now) == 0 {
				s.permit.Unposted()
			}
		}
		for _, r := range w.routes {
			if r.InFlight() != 0 {
				return len(ops), fmt.Sprintf("worker %d: %d bytes are left on %s", k, r.InFlight(), r.pair)
			}
		}
	}
	x.table.Sweep(x.m.now + 24*time.Hour)
	if s := x.table.Stats(); s != (rail.Stats{}) {
		return len(ops), fmt.Sprintf("the table is not empty after a day: %v", s)
	}
	return -1, ""
}

// shrinkPooled drops operations while the two still disagree.
func shrinkPooled(ops []modelOp) []modelOp {
	fails := func(ops []modelOp) int {
		i, _ := playPooled(ops, map[string]int{})
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

// Reports of three workers in random orders: the table, and what each worker makes
// of it when it looks, are those of the model. The long form:
// go test ./cc -run TestSharedAgainstModel -v -steps 10000000.
func TestSharedAgainstModel(t *testing.T) {
	const length = 1000
	steps := *modelSteps
	if testing.Short() {
		steps = min(steps, 60_000)
	}
	reach := map[string]int{}
	for seed := range uint64(max(1, steps/length)) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		kinds := pooledMixes[seed%uint64(len(pooledMixes))]
		ops := make([]modelOp, length)
		for i := range ops {
			ops[i] = modelOp{kinds[rnd.IntN(len(kinds))], rnd.Uint32N(1 << 16), rnd.Uint32N(1 << 16), rnd.Uint32N(1 << 16)}
		}
		if at, wrong := playPooled(ops, reach); at >= 0 {
			short := shrinkPooled(ops)
			_, last := playPooled(short, map[string]int{})
			t.Fatalf("seed %d, operation %d: %s\nshrunk to %d operations, which end in: %s\n%s",
				seed, at, wrong, len(short), last, strings.Trim(fmt.Sprint(short), "[]"))
		}
	}
	for s := Healthy; s <= Probing; s++ {
		if s != Congested {
			assert.NotZero(t, reach[s.String()], "looks at a route in %s", s)
		}
	}
	for _, r := range []Ruling{{Answer: Admit}, {Answer: Refused}, avoided, wantsRenew, probing} {
		assert.NotZero(t, reach[fmt.Sprint(r)], "answers %v", r)
	}
	t.Logf("%v", reach)
}
