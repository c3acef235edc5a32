package cc

import (
	"fmt"
	"slices"

	"github.com/rdmagate/rdmagate/classify"
)

// step does one operation on both sides and returns how their answers differ.
func (x *modelRun) step(op modelOp) string {
	wrong := x.do(op)
	if wrong == "" && x.waiting {
		wrong = x.rouse()
	}
	return wrong
}

func (x *modelRun) do(op modelOp) string {
	m := x.m
	i, j := int(op.a)%modelPermits, int(op.b)%modelRoutes
	if op.kind == "route" {
		x.makeRoute(j)
		return ""
	}
	for x.routes[j] == nil {
		j = (j + 1) % modelRoutes
	}
	if x.sleepers[i] != nil && op.kind != "give-up" {
		return "" // it is the waiter's
	}
	s, p, route, r := &x.slices[i], m.permits[i], x.routes[j], x.models[j]
	switch op.kind {
	case "acquire", "probe":
		return x.acquire(i, j, op.c, op.kind == "probe")
	case "partial":
		return x.partial(i, j, op.c)
	case "post":
		return x.post(i, op.c)
	case "unposted":
		if got, want := s.permit.Unposted(), m.unposted(p); got != want {
			return fmt.Sprintf("Unposted of permit %d released: %t, want %t", i, got, want)
		}
	case "settle", "fail":
		v := success
		if op.kind == "fail" {
			v = modelFailures[int(op.c)%len(modelFailures)]
		}
		if got, want := s.permit.Settle(s.use, v, m.now), m.settle(p, v); got != want {
			return fmt.Sprintf("Settle of permit %d with %s took %s, want %s", i, v, got, want)
		}
	case "old":
		v := modelFailures[int(op.c)%len(modelFailures)]
		if got := s.permit.Settle(s.use-1, v, m.now); got != 0 {
			return fmt.Sprintf("Settle of permit %d with the number of an earlier use took %s", i, got)
		}
	case "renew":
		x.renew(j, op.c)
	case "unreachable":
		old := r.gen.number - Generation(op.c%3/2) // a third is of one that was renewed
		route.Unreachable(old, x.m.now)
		r.unreachable(old)
	case "advance":
		x.advance(modelAdvances[int(op.c)%len(modelAdvances)])
	case "moment":
		x.advance(modelMoments[int(op.c)%len(modelMoments)])
	case "congest", "ease", "silence":
		x.pressure(route, r, op.kind)
	case "retry":
		if ask := x.asked[i]; ask.n > 0 {
			return x.ask(i, ask.route, x.models[ask.route].gen.number, ask.n, false)
		}
	case "strike":
		return x.strike(i, j, op.c)
	case "wait":
		return x.wait(i, j, op.c)
	case "give-up":
		return x.giveUp(i)
	case "handoff":
		return x.handoff(i, j, op.c)
	case "due":
		return x.due()
	case "tick":
		x.tick()
	case "epoch":
		x.nextEpoch()
	case "drive", "crowd":
		return x.drive(i, j, op.c, op.kind == "crowd")
	case "poller", "beat", "sleep":
		x.poller(op.kind, j, op.c)
	case "list", "list-post", "list-settle", "list-fail", "list-unposted":
		return x.list(op.kind, int(op.a)%modelLists, j, op.c)
	default:
		return x.event(op.kind, j, op.c)
	}
	return ""
}

// acquire asks for a slice; c says how large it is and on which generation.
func (x *modelRun) acquire(i, j int, c uint32, probe bool) string {
	r := x.models[j]
	n := 1 + int64(c>>4)*40
	kind := c % 32
	if x.waiting && (kind == 4 || kind == 5) {
		kind = 2 // the device keeps room
	}
	switch kind {
	case 0:
		n = 3 * mib / 2 // more than any window
	case 2, 3:
		n = max(1, r.window()-r.inFlight+int64(c%32)-2) // just fits, and just does not
	case 4, 5:
		n = max(1, r.device.window-r.device.inFlight+int64(c%32)-4)
	}
	gen := r.gen.number
	if gen > 0 && c%16 == 1 {
		gen--
	}
	return x.ask(i, j, gen, n, probe)
}

// ask asks for n bytes.
func (x *modelRun) ask(i, j int, gen Generation, n int64, probe bool) string {
	s, route, r := &x.slices[i], x.routes[j], x.models[j]
	var d Decision
	switch {
	case probe:
		d = route.TryProbe(&s.permit, gen, n)
	case i%2 == 0:
		d = route.TryAcquire(&s.permit, gen, n, nil)
	default:
		d = route.TryAcquire(&s.permit, gen, n, &s.task)
	}
	want := x.m.acquire(r, x.m.permits[i], gen, n, probe)
	x.asked[i] = modelAsk{j, n}
	if wrong := x.answered(i, j, d, want); wrong != "" {
		return fmt.Sprintf("permit %d asks for %d bytes on route %d (%s), generation %d: %s", i, n, j, route.State(), gen, wrong)
	}
	return ""
}

// answered takes an answer to a permit and compares it.
func (x *modelRun) answered(i, j int, d Decision, want modelAnswer) string {
	x.reach.answers[d.Ruling]++
	if d.Admitted() {
		x.slices[i].use = d.Use
		x.m.permits[i].use = d.Use
		x.asked[i] = modelAsk{}
	}
	return x.compareAnswer(j, d, want)
}

func (x *modelRun) compareAnswer(j int, d Decision, want modelAnswer) string {
	got := modelAnswer{d.Ruling, d.RetryAfter}
	if got != want {
		return fmt.Sprintf("%v, want %v", got, want)
	}
	if x.waiting {
		return "" // how often waiters ask is not what they are told
	}
	route, r := x.routes[j], x.models[j]
	for _, k := range route.refusals.list() {
		if want := r.refusals[RefusalCount{Reason: k.Reason, Domain: k.Domain}]; uint64(want) != k.Count {
			return fmt.Sprintf("route %d counts %d refusals for %s (%s), want %d", j, k.Count, k.Reason, k.Domain, want)
		}
	}
	return ""
}

// partial is a post list of which the verb takes only a part.
func (x *modelRun) partial(i, j int, c uint32) string {
	var posted []int
	for k := range 4 {
		i := (i + k) % modelPermits
		if x.m.permits[i].held || x.sleepers[i] != nil {
			continue
		}
		if wrong := x.acquire(i, j, c>>k|2, false); wrong != "" {
			return wrong
		}
		if wrong := x.post(i, c); wrong != "" {
			return wrong
		}
		posted = append(posted, i)
	}
	for _, i := range posted[min(int(c)%4, len(posted)):] {
		if got, want := x.slices[i].permit.Unposted(), x.m.unposted(x.m.permits[i]); got != want {
			return fmt.Sprintf("Unposted of permit %d in the tail released: %t, want %t", i, got, want)
		}
	}
	return ""
}

func (x *modelRun) post(i int, c uint32) string {
	p := x.m.permits[i]
	if !p.held {
		return ""
	}
	qp := uint64(1)
	if p.gen != nil {
		qp = p.gen.qps[int(c)%len(p.gen.qps)]
	}
	err := x.slices[i].permit.Posting(qp, x.m.now)
	if want := x.m.posting(p, qp); want != (err == nil) {
		return fmt.Sprintf("Posting of permit %d on QP %d: %v, want success: %t", i, qp, err, want)
	}
	return ""
}

func (x *modelRun) renew(j int, c uint32) {
	r := x.models[j]
	qps, cqs := []uint64{x.qps + 1, x.qps + 2}, []uint64{uint64(c%2 + 1), uint64(c/2%2 + 1)}
	x.qps += 2
	gen, err := x.routes[j].Renew(r.gen.number, []QP{{ID: qps[0], CQ: cqs[0]}, {ID: qps[1], CQ: cqs[1]}})
	if err != nil || gen != r.gen.number+1 {
		panic(fmt.Sprint("Renew: ", gen, err))
	}
	x.m.renew(r, qps, cqs)
}

// pressure finds the route congested, not congested any more, or silent, where the
// monitor would take long to.
func (x *modelRun) pressure(route *Route, r *modelRoute, kind string) {
	silent := kind == "silence" && r.state() <= Congested
	route.device.locked(func() {
		route.health.early = route.health.early || silent
		if kind != "silence" {
			route.health.congested = kind == "congest"
		}
		route.reconsider(route.device.later(x.m.now), cause{})
	})
	r.change(func() {
		r.early = r.early || silent
		if kind != "silence" {
			r.congested = kind == "congest"
		}
	})
}

// event tells of an asynchronous event on the device of route j.
func (x *modelRun) event(kind string, j int, c uint32) string {
	r := x.models[j]
	d, qp := r.device, uint64(c)%(x.qps+1) // often one of an endpoint that is gone
	if c%4 != 0 && len(r.gen.qps) > 0 {
		qp = r.gen.qps[c%2]
	}
	e := classify.Event{Element: classify.Element{Device: modelPairs[j].Local, Port: r.port, QP: max(1, qp), CQ: uint64(c%2 + 1)}}
	switch kind {
	case "qp-event":
		e.Type = classify.EventQPFatal
		for _, r := range d.routes {
			for _, q := range r.gen.qps {
				if q == e.Element.QP {
					r.fault(r.gen, modelFault{}, q)
				}
			}
		}
	case "cq-event":
		e.Type = classify.EventCQErr
		for _, r := range d.routes {
			if slices.Contains(r.gen.cqs, e.Element.CQ) {
				r.isolate(true)
			}
		}
	case "port-error", "device-fatal":
		port := r.port
		e.Type = classify.EventPortErr
		if kind == "device-fatal" {
			e.Type, port = classify.EventDeviceFatal, 0
		}
		d.marks[port] = true
		for _, r := range d.routes {
			if port == 0 || port == r.port {
				r.isolate(false)
			}
		}
	case "port-active":
		e.Type = classify.EventPortActive
		for _, other := range d.routes {
			for _, v := range other.verdicts() {
				if other.port == r.port {
					v.early = x.m.now + x.m.cfg.ProbeInterval
				}
			}
		}
	default:
		panic(kind)
	}
	if _, _, err := x.ctl.Event(e, x.m.now); err != nil {
		return err.Error()
	}
	return ""
}
