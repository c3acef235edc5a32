package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// taskPairs is on how many pairs a task fails, taskRun how often on one before it takes
// the next.
const (
	taskPairs = 600
	taskRun   = 4
	taskSeed  = 4
)

// mishap is one way in which an attempt fails. Ways up to lastStatus are completions of
// that status; the one after the last known is a status that nobody knows.
type mishap int

const (
	lastStatus = mishap(classify.StatusTMRndvIncomplete) + 1

	deadlinePasses mishap = lastStatus + iota
	isCancelled
	isTornDown
	qpFails // the QP's event comes before its flush
	windowFull
	isStale
	noPath // selection finds none
	mishaps
)

// expected is what a task of one slice is in, by the rules.
type expected struct {
	severity int // of what troubles the slice; 0 is none
	noPath   bool
	success  bool
	latest   classify.Reason // what troubles it
}

// severity returns how bad a reason is for a task; 0 is no evidence.
func severity(r classify.Reason) int {
	state, evidence := taskstate.StateOf(r)
	switch {
	case !evidence:
		return 0
	case state == taskstate.LongUnavailable:
		return 3
	case state == taskstate.Congested:
		return 2
	}
	return 1
}

func (e *expected) worst() int {
	if e.noPath {
		return 3
	}
	return e.severity
}

func (e *expected) state() taskstate.State {
	switch worst := e.worst(); {
	case worst == 0 && e.success:
		return taskstate.Normal
	case worst >= 2:
		return [...]taskstate.State{taskstate.Congested, taskstate.LongUnavailable}[worst-2]
	}
	return taskstate.Unknown
}

// meets takes evidence in: what is milder leaves what is there, but a full window is a
// path in use.
func (e *expected) meets(r classify.Reason) {
	opens := r == classify.ReasonByteWindow || r == classify.ReasonCongestionFeedback
	if s := severity(r); s > 0 && (s >= e.severity || opens) {
		e.severity, e.latest = s, r
	}
}

// admitted takes an admission in; a trial resolves nothing.
func (e *expected) admitted(trial bool) {
	if !trial {
		e.severity, e.noPath = 0, false
	}
}

// day is a task that fails.
type day struct {
	*bed
	rnd      *rand.Rand
	routes   []*route
	s        slice
	expected expected
	failed   bool // the latest attempt was admitted, and failed
	made     [mishaps]int
	avoided  int
}

func newDay(c *check) *day {
	d := &day{bed: newBed(c, nil), rnd: rand.New(rand.NewPCG(taskSeed, 0))}
	for i := range taskPairs {
		d.routes = append(d.routes, d.route(pair(fmt.Sprint("host-", i/4), i%4, i%4)))
	}
	return d
}

// task has a task fail for a day, and others that fail and succeed in turn.
func task(c *check) {
	attempts := c.n(1_000_000, 20_000)
	d := newDay(c)
	gap := 24 * time.Hour / time.Duration(attempts)
	marks := map[int]float64{}
	for i := range attempts {
		d.tick(gap)
		d.attempt(i)
		if (i+1)%(attempts/10) == 0 {
			marks[10*(i+1)/attempts] = heap()
			c.at(0.8 * float64(i) / float64(attempts))
		}
	}
	for m, n := range d.made {
		c.must(n > 0 || m == 0, "each kind of failure was met", "kind %d was not", m)
	}
	c.shows("attempts of a task on a day, all failed", float64(attempts), count)
	c.shows("of them avoided, since the pair was quarantined", float64(d.avoided), count)
	c.flat("heap after half of the day, by that after a tenth", marks[1], marks[5])
	c.flat("heap after the day, by that after a tenth", marks[1], marks[10])
	for i := 0; d.s.task.State() != taskstate.Normal; i++ {
		c.must(i < len(d.routes), "a success in the end makes the task NORMAL", "%s", d.s.task.State())
		r := d.routes[i]
		d.recovers(d.cooldown(), "a route that failed for a day recovers", r)
		d.transfers(r, &d.s, 1)
	}
	d.atRest()
	c.weighTasks()
	c.alternates(attempts / 10)
}

// cooldown is the longest time that a route is out: the cap of cooldowns, drawn longest,
// and one question.
func (b *bed) cooldown() time.Duration {
	return time.Duration(longest*float64(b.cfg.CooldownCap)) + 2*step
}

// attempt makes one attempt that fails, and compares the task with what it has to be.
func (d *day) attempt(i int) {
	r, m := d.routes[i/taskRun%len(d.routes)], mishap(1+d.rnd.IntN(int(mishaps-1)))
	s, e := &d.s, &d.expected
	before := e.latest
	e.latest, d.failed = classify.ReasonNone, false
	switch m {
	case noPath:
		s.task.NoUsablePath(nil)
		e.noPath = true
	case isStale:
		if decision := r.TryAcquire(&s.permit, r.gen-1, kib, &s.task); r.gen > 1 {
			equal(d.check, classify.ReasonStaleGeneration, decision.Reason, "an old generation is told so")
		}
	case windowFull:
		d.full(r)
	default:
		d.fail(r, m)
	}
	d.made[m]++
	equal(d.check, e.state(), s.task.State(), "the task's state after failure %d, of kind %d", i, m)
	// A refusal for the reason of the one before adds nothing, on another pair neither.
	if d.failed && i%101 == 0 && e.latest != classify.ReasonNone && e.severity == e.worst() {
		got := s.task.Detail()
		equal(d.check, taskstate.Seen(e.latest), got.Reason, "the detail has the latest reason")
		equal(d.check, taskstate.Seen(r.Pair()), got.Pair, "the detail has the pair")
		equal(d.check, taskstate.Seen(false), got.Resolved, "the detail is not resolved")
	}
	if e.latest == classify.ReasonNone {
		e.latest = before
	}
}

// asks asks for the slice, and returns whether it is admitted, and as a trial.
func (d *day) asks(r *route) (admitted, trial bool) {
	state := r.State()
	decision := r.ask(&d.s, 4*kib)
	if !decision.Admitted() {
		if decision.Answer == cc.Avoid {
			d.avoided++
		}
		d.must(decision.Err == nil, "a refusal is no error", "%v", decision.Err)
		d.expected.meets(decision.Reason)
		if decision.WantsEndpoint() {
			d.renew(r)
		}
		return false, false
	}
	trial = state == cc.Quarantined || state == cc.Probing
	d.expected.admitted(trial)
	return true, trial
}

// fail has an attempt fail if it is admitted.
func (d *day) fail(r *route, m mishap) {
	admitted, trial := d.asks(r)
	if !admitted {
		return
	}
	s := &d.s
	d.works(s.permit.Posting(r.qp, d.now()), "Posting")
	v, countable := classify.Verdict{}, false
	switch m {
	case deadlinePasses:
		v = deadline
	case isCancelled:
		d.settle(s, cancel)
		d.settle(s, flush)
		d.renew(r)
		return
	case isTornDown:
		d.settle(s, teardown)
		d.renew(r)
		return
	case qpFails:
		_, _, err := d.ctl.Event(classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: r.Pair().Local, QP: r.qp}}, d.now())
		d.works(err, "Event")
		v, countable = flush, true
	case lastStatus:
		v = classify.Completion(1234567, 0xffffffff)
	default:
		v = classify.Completion(classify.Status(m), uint32(m))
	}
	d.settle(s, v)
	d.failed = true
	d.expected.meets(reasonOf(v, trial, countable, r.State()))
	d.settle(s, teardown) // after a deadline
	d.renew(r)
}

// reasonOf returns why an attempt failed, as its task hears it.
func reasonOf(v classify.Verdict, trial, countableRoot bool, after cc.State) classify.Reason {
	barred := after == cc.Quarantined || after == cc.Probing
	switch {
	case trial && (v.Countable() || v.Class() == classify.ClassDerivedFlush && countableRoot):
		return classify.ReasonProbeFailed
	case v.Countable() && barred && v.Reason() == classify.ReasonRouteTimeout:
		return classify.ReasonPathQuarantined
	}
	return v.Reason()
}

// full has the slice meet a window that another one fills.
func (d *day) full(r *route) {
	var holder slice
	if s := r.State(); s != cc.Healthy && s != cc.Congested || !r.ask(&holder, r.Snapshot().WindowBytes).Admitted() {
		return
	}
	admitted, _ := d.asks(r)
	d.must(!admitted, "nothing is admitted to a full window", "4 KiB were")
	holder.permit.Unposted()
}

// weighTasks weighs many tasks that fail, early and late.
func (c *check) weighTasks() {
	const tasks = 1000
	b := newBed(c, nil)
	r := b.route(pair("host", 0, 0))
	list := make([]taskstate.Task, tasks)
	slices := make([]taskstate.Slice, tasks)
	p := r.Pair()
	fail := func(rounds int) {
		for n := range rounds {
			for i := range list {
				v := classify.Completion(classify.Status(1+(n+i)%int(lastStatus)), uint32(n))
				slices[i].Admitted(&list[i], 1, n%3 == 0)
				slices[i].Failed(&taskstate.Evidence{Reason: v.Reason(), Scope: v.Scope(), Verdict: v, Pair: &p, At: time.Duration(n)})
			}
		}
	}
	empty := heap()
	fail(20)
	early := heap() - empty
	fail(500)
	late := heap() - empty
	c.atMost(2048, "bytes of a task that failed 20 times, beside its own 16", early/tasks, weight)
	c.atMost(early/tasks+noise/tasks, "bytes of one that failed 520 times", late/tasks, weight)
	runtime.KeepAlive(list)
}

// alternates has a task fail and succeed in turn on a route: it is CONGESTED and NORMAL in
// turn, and the route is never quarantined.
func (c *check) alternates(n int) {
	b := newBed(c, nil)
	r := b.route(pair("host", 0, 0))
	var s slice
	var then float64
	for i := range n {
		b.tick(10 * time.Millisecond)
		b.fails(r, &s, retryExc)
		equal(c, taskstate.Congested, s.task.State(), "a task whose attempt timed out once is CONGESTED")
		equal(c, cc.Suspect, r.State(), "a route that failed once is SUSPECT")
		b.transfers(r, &s, 1)
		equal(c, taskstate.Normal, s.task.State(), "a success makes the task NORMAL")
		equal(c, cc.Healthy, r.State(), "a success makes the route HEALTHY")
		if i == n/10 {
			then = heap()
		}
	}
	c.flat("heap after failures and successes in turn, by that after a tenth", then, heap())
	equal(c, taskstate.Seen(true), s.task.Detail().Resolved, "what was is resolved")
	equal(c, rail.Stats{Peers: 1, Entries: 1}, b.table.Stats(), "one pair has one entry")
	b.atRest()
}
