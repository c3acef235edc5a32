package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// handlers run the kinds of statements.
var handlers map[*scenario.Kind]func(*world, *scenario.Statement)

func init() {
	handlers = map[*scenario.Kind]func(*world, *scenario.Statement){
		scenario.Settings: (*world).configures, scenario.Set: (*world).configures, scenario.Case: (*world).begins,
		scenario.Worker: (*world).makesWorker, scenario.Route: (*world).makesRoute, scenario.Poller: (*world).makesPoller,
		scenario.Jitter: (*world).setsJitter, scenario.LeaveOpen: func(w *world, _ *scenario.Statement) { w.leaveOpen = true },

		scenario.Renew: (*world).renew, scenario.Unreachable: (*world).unreachable, scenario.Acquire: (*world).acquire, scenario.Probe: (*world).acquire, scenario.Wait: (*world).wait,
		scenario.Handoff: (*world).acquire, scenario.AcquireList: (*world).acquireList, scenario.Fit: (*world).fit,
		scenario.Post: (*world).post, scenario.Unposted: (*world).unposted,
		scenario.Complete: (*world).settle, scenario.Deadline: (*world).settle, scenario.Cancel: (*world).settle,
		scenario.Teardown: (*world).settle, scenario.Reject: (*world).settle, scenario.Settle: (*world).settle,
		scenario.Event: (*world).event, scenario.Tick: (*world).tick, scenario.Beat: (*world).beat, scenario.ClosePoller: (*world).closePoller,
		scenario.Due: (*world).due, scenario.CloseRoute: (*world).closeRoute, scenario.Forget: (*world).forget, scenario.Close: (*world).close,
		scenario.Snapshot: (*world).snapshot, scenario.NextAttempt: (*world).nextAttempt, scenario.NoPath: (*world).noPath, scenario.Sweep: (*world).sweep,

		scenario.Advance: (*world).advances, scenario.Send: (*world).send, scenario.Transfer: (*world).transfer, scenario.Reclaim: (*world).reclaim,
		scenario.Epoch: (*world).epoch, scenario.Traffic: (*world).traffic, scenario.Ticks: (*world).setsTicks, scenario.Random: (*world).random,
		scenario.Returned: (*world).returned, scenario.Classify: (*world).classify,
		scenario.EndNever: func(w *world, _ *scenario.Statement) { w.heed() },

		scenario.Recording: (*world).recording, scenario.Clock: (*world).readsClock, scenario.Told: (*world).expectsTold,
		scenario.Found: (*world).found, scenario.Lost: (*world).lost, scenario.Mark: func(*world, *scenario.Statement) {},
	}
	for _, k := range scenario.Expect {
		handlers[k] = (*world).expect
	}
	for _, k := range scenario.Never {
		handlers[k] = func(w *world, s *scenario.Statement) { w.never = append(w.never, clone(s)) }
	}
}

// run runs a statement, checks what has to hold after it, and tells the tracer.
func (w *world) run(s *scenario.Statement) {
	if s.Kind == nil {
		return
	}
	w.result.Statements++
	w.begin(s)
	w.calls(s.Kind.Call)
	handlers[s.Kind](w, s)
	w.calls(false)
	w.end(s)
}

// calls says that the readings of the clock are for the call that is made.
func (w *world) calls(now bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calling = now
}

// begin moves the time to that of the statement.
func (w *world) begin(s *scenario.Statement) {
	w.step = Step{Case: w.name, Statement: s, Answers: w.step.Answers[:0], Mismatches: w.step.Mismatches[:0], world: w}
	w.happened = 0
	if !s.Timed || s.Kind == scenario.Clock {
		return
	}
	if w.recorded {
		w.overdue(w.base + s.At)
		w.mu.Lock()
		w.now = max(w.now, w.base+s.At)
		w.mu.Unlock()
		return
	}
	if d := s.At - w.time(); d < 0 {
		w.wrong(s, fmt.Sprintf("it is %s already; time does not go back", w.time()))
	} else {
		w.advance(s, d)
	}
}

// at returns the time that a call is given: that of the statement, or the present.
func (w *world) at(s *scenario.Statement) time.Duration {
	if s.Timed {
		return w.base + s.At
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// maxTimes is how often a statement may do what it does.
const maxTimes = 1_000_000

// count returns a number that a statement gives, and false if it is too large.
func (w *world) count(s *scenario.Statement, name string, otherwise int64) (int64, bool) {
	n, given := s.Num(name)
	switch {
	case !given:
		return otherwise, true
	case uint64(n) > maxTimes:
		w.wrong(s, fmt.Sprintf("%s is at most %d", name, maxTimes))
		return 0, false
	}
	return n, true
}

func (w *world) end(s *scenario.Statement) {
	if s.Kind.Call {
		w.compareTold(s)
	}
	if len(w.never)+len(w.pending) > 0 {
		w.watch(true)
	}
	w.mu.Lock()
	w.step.At = w.now - w.base
	tracer := w.runner.options.Tracer
	if tracer != nil {
		w.step.Transitions = slices.Clone(w.told)
	}
	w.told = w.told[:0]
	if s.Kind.Call { // what it left over is not for the next one
		w.clock.clear()
		if w.recorded {
			w.jitter.clear()
		}
	}
	w.mu.Unlock()
	if tracer != nil {
		w.step.tellMore()
		tracer.Trace(&w.step)
	}
}
