package cc

import (
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// advance lets time pass. Pollers that are awake beat meanwhile, and at its end.
func (x *modelRun) advance(d time.Duration) {
	m, end := x.m, x.m.now+d
	for _, r := range x.models {
		if r != nil {
			r.pass(d)
		}
	}
	gap := m.cfg.StallGap
	for _, dev := range m.devices {
		for _, cq := range []uint64{1, 2} {
			p := dev.pollers[cq]
			if p == nil || !p.awake {
				continue
			}
			for at := m.now + gap; at < end && d <= 50*gap; at += gap {
				p.beat(at)
				x.polls[p].Beat(at)
			}
			p.beat(end)
			x.polls[p].Beat(end)
		}
	}
	m.now = end
	x.clock.Store(int64(end))
}

func (x *modelRun) tick() {
	x.ctl.Tick(x.m.now)
	x.m.tick()
}

// nextEpoch ticks at the beginning of the next control epoch.
func (x *modelRun) nextEpoch() {
	epoch := x.m.cfg.Epoch
	x.advance(epoch - x.m.now%epoch)
	x.tick()
}

// poller makes or ends a poller of a CQ, lets it beat, or lets it sleep or wake up.
func (x *modelRun) poller(kind string, j int, c uint32) {
	d, cq := x.models[j].device, uint64(c%2+1)
	p := d.pollers[cq]
	switch {
	case kind == "poller" && p == nil:
		real, err := x.ctl.NewPoller(modelPairs[j].Local, cq)
		if err != nil {
			panic(err)
		}
		p = &modelPoller{gap: x.m.cfg.StallGap, beats: x.m.now, awake: true}
		d.pollers[cq], x.polls[p] = p, real
	case p == nil:
	case kind == "poller":
		x.polls[p].Close()
		p.closed = true
		delete(d.pollers, cq)
	case kind == "beat":
		p.beat(x.m.now)
		x.polls[p].Beat(x.m.now)
	default:
		p.awake = !p.awake
	}
}

// drive is some control epochs of a kind on a route, or with crowd on all of its
// device: slices are posted, take as long as each other, and complete.
func (x *modelRun) drive(i, j int, c uint32, crowd bool) string {
	var js []int
	for k, r := range x.models {
		if r != nil && (k == j || crowd && r.device == x.models[j].device) {
			js = append(js, k)
		}
	}
	took := modelMoments[int(c>>4)%len(modelMoments)]
	for range 1 + c%4 {
		for _, j := range js {
			if wrong := x.fill(i, j, 1+int64(c>>2%4)); wrong != "" {
				return wrong
			}
		}
		x.advance(took)
		v, next := success, success
		switch c >> 9 % 8 {
		case 0:
			v, next = rnr(), rnr()
		case 1:
			v = retryExc // of the first: what was posted before goes on
		}
		for k, p := range x.m.permits {
			if c>>12%8 == 0 || !p.posted || !p.held || !slices.ContainsFunc(js, func(j int) bool { return x.models[j] == p.route }) {
				continue
			}
			if got, want := x.slices[k].permit.Settle(x.slices[k].use, v, x.m.now), x.m.settle(p, v); got != want {
				return fmt.Sprintf("Settle of permit %d with %s took %s, want %s", k, v, got, want)
			}
			v = next
		}
		x.nextEpoch()
	}
	return ""
}

// fill posts slices of a part of the window until one is refused.
func (x *modelRun) fill(i, j int, parts int64) string {
	for k := range modelPermits {
		k := (i + k) % modelPermits
		if x.m.permits[k].held || x.sleepers[k] != nil {
			continue
		}
		r := x.models[j]
		if wrong := x.ask(k, j, r.gen.number, max(1, r.window()/parts), false); wrong != "" {
			return wrong
		}
		if !x.m.permits[k].held {
			return ""
		}
		if wrong := x.post(k, uint32(k)); wrong != "" {
			return wrong
		}
	}
	return ""
}

// strike fails small slices on route j one after the other.
func (x *modelRun) strike(i, j int, c uint32) string {
	v := []classify.Verdict{retryExc, retryExc, wc(classify.StatusRespTimeoutErr, 0), fatal()}[c>>2%4]
	for k := range 1 + c%4 {
		p, r := x.m.permits[i], x.models[j]
		if p.held {
			return ""
		}
		if r.gen.number == 0 || r.gen.retired || len(r.gen.dead) > 0 {
			x.renew(j, c>>4+k)
		}
		if wrong := x.ask(i, j, r.gen.number, 4*kib, false); wrong != "" {
			return wrong
		}
		if wrong := x.post(i, c>>5+k); wrong != "" || !p.held {
			return wrong
		}
		if got, want := x.slices[i].permit.Settle(x.slices[i].use, v, x.m.now), x.m.settle(p, v); got != want {
			return fmt.Sprintf("Settle of permit %d with %s took %s, want %s", i, v, got, want)
		}
	}
	return ""
}

// handoff moves a reservation that is not posted to route j.
func (x *modelRun) handoff(i, j int, c uint32) string {
	p, r := x.m.permits[i], x.models[j]
	gen := r.gen.number
	if c%8 == 0 && gen > 0 {
		gen--
	}
	d := x.routes[j].Handoff(&x.slices[i].permit, gen, &x.slices[i].task)
	want := modelAnswer{}
	if p.held && !p.posted {
		n := p.bytes
		x.m.unposted(p)
		want = x.m.acquire(r, p, gen, n, false)
		x.asked[i] = modelAsk{j, n}
	}
	if wrong := x.answered(i, j, d, want); wrong != "" {
		return fmt.Sprintf("Handoff of permit %d to route %d: %s", i, j, wrong)
	}
	return ""
}

// due compares the routes that want a probe.
func (x *modelRun) due() string {
	due := x.ctl.Due(x.m.now)
	for j, r := range x.models {
		if r == nil {
			continue
		}
		if got, want := slices.Contains(due, x.routes[j]), r.wantsProbe(); got != want {
			return fmt.Sprintf("route %d (%s) wants a probe: %t, want %t", j, x.routes[j].State(), got, want)
		}
	}
	return ""
}

// list does one operation on a list.
func (x *modelRun) list(kind string, i, j int, c uint32) string {
	p, l := &x.lists[i], x.m.lists[i]
	switch kind {
	case "list":
		return x.acquireList(i, j, c)
	case "list-post":
		qp := uint64(1)
		if g := l.whole.gen; g != nil {
			qp = g.qps[c%2]
		}
		err := p.list.Posting(qp, x.m.now)
		if want := x.m.postList(l, qp); want != (err == nil) {
			return fmt.Sprintf("Posting of list %d on QP %d: %v, want success: %t", i, qp, err, want)
		}
	case "list-unposted":
		from := int(c % 8)
		if got, want := p.list.Unposted(from), x.m.listUnposted(l, from); got != want {
			return fmt.Sprintf("Unposted of list %d from %d released %b, want %b", i, from, got, want)
		}
	default:
		v, mask := success, c>>4
		if kind == "list-fail" {
			v = modelFailures[int(c)%len(modelFailures)]
		} else if c%4 > 0 {
			mask = 1<<(c>>4%8) - 1 // a completion stands for those before it
		}
		if got := p.list.Settle(p.use-1, mask, v, x.m.now); got != (Settled{}) {
			return fmt.Sprintf("Settle of list %d with the number of an earlier use took %v", i, got)
		}
		if got, want := p.list.Settle(p.use, mask, v, x.m.now), x.m.settleList(l, mask, v); got != want {
			return fmt.Sprintf("Settle of slices %b of list %d with %s took %+b, want %+b", mask, i, v, got, want)
		}
	}
	if got, want := p.list.Held(), l.held(); got != want {
		return fmt.Sprintf("list %d holds %d bytes, want %d", i, got, want)
	}
	return ""
}

// acquireList asks for a list; c says for which slices, and on which generation.
func (x *modelRun) acquireList(i, j int, c uint32) string {
	p, route, r := &x.lists[i], x.routes[j], x.models[j]
	n := 1 + int64(c>>4)*10
	kind := c % 16
	if x.waiting && kind > 2 {
		kind = 5 // the device keeps room
	}
	switch kind {
	case 0:
		n = 3 * mib
	case 1, 2:
		n = max(1, r.window())
	case 3, 4:
		n = max(1, r.device.window-r.device.inFlight)
	}
	slices := 1 + int64(c>>5%7)
	sizes := make([]int64, slices)
	for k := range sizes {
		sizes[k] = max(1, n/slices)
	}
	sizes[0] += int64(c >> 8 % 2)
	gen := r.gen.number
	if gen > 0 && c>>4%16 == 1 {
		gen--
	}
	if got, want := route.Fit(sizes), r.fit(sizes); got != want {
		return fmt.Sprintf("Fit of %v on route %d is %d, want %d", sizes, j, got, want)
	}
	var task = &p.task
	if i%2 == 0 {
		task = nil
	}
	state := route.State()
	d := route.TryAcquireList(&p.list, gen, sizes, task)
	want := x.m.acquireList(r, x.m.lists[i], gen, sizes)
	x.reach.lists[d.Ruling]++
	if d.Admitted() {
		p.use = d.Use
		x.m.lists[i].whole.use = d.Use
	}
	if wrong := x.compareAnswer(j, d, want); wrong != "" {
		return fmt.Sprintf("list %d asks for %v bytes on route %d (%s), generation %d: %s", i, sizes, j, state, gen, wrong)
	}
	return ""
}
