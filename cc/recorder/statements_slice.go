package recorder

import (
	"fmt"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// asking are the kinds of the calls that ask for bytes.
var asking = [...]*scenario.Kind{
	Acquiring: scenario.Acquire, Probing: scenario.Probe, AcquiringList: scenario.AcquireList,
	HandingOff: scenario.Handoff, Waited: scenario.Wait,
}

// attempts writes the attempts that a task has begun since it was last seen.
func (t *statements) attempts(a Acquire) error {
	if a.Task == 0 {
		return nil
	}
	task, attempts := t.names.task(a)
	for range attempts {
		t.s.Begin(scenario.NextAttempt).AddText("task", task)
		if err := t.write(); err != nil {
			return err
		}
	}
	return nil
}

func (t *statements) acquire(a Acquire) error {
	permit := t.permitOf(a)
	if a.Way == Waiting {
		return t.sleeps(a, permit)
	}
	if int(a.Way) >= len(asking) {
		return nil
	}
	t.s.Begin(asking[a.Way]).AddText("permit", permit).AddText("route", routeName(a.Route))
	switch a.Way {
	case HandingOff:
	case AcquiringList:
		for _, n := range a.Sizes {
			t.s.Add("bytes", n)
		}
	default:
		t.s.Add("bytes", a.Bytes)
	}
	t.s.Add("gen", int64(a.Generation))
	if a.Way != Probing {
		t.s.AddText("task", t.taskName(a.Task))
	}
	t.s.Reply("answer", int64(a.Answer))
	t.reply("reason", int64(a.Reason))
	t.reply("domain", int64(a.Domain))
	t.reply("hint", int64(a.Hint))
	t.reply("retry_after", int64(a.RetryAfter))
	t.reply("use", int64(a.Use))
	t.reply("error", int64(a.Fault))
	return t.write()
}

// sleeps remarks that a waiter went to sleep. A replay has it ask when it returned, and
// needs nothing of what it read before.
func (t *statements) sleeps(a Acquire, permit string) error {
	t.clocks, t.drawn = t.clocks[:0], t.drawn[:0]
	return t.mark(fmt.Sprintf("%s waits for %d bytes on %s", permit, a.Bytes, routeName(a.Route)))
}

func (t *statements) post(p Post) error {
	t.s.Begin(scenario.Post)
	t.stamp(p.Now)
	t.s.AddText("permit", t.permit(p.Permit, p.Use)).Add("qp", int64(p.QP))
	t.reply("error", int64(p.Fault))
	return t.write()
}

func (t *statements) unposted(u Unposted) error {
	t.s.Begin(scenario.Unposted).AddText("permit", t.permit(u.Permit, u.Use))
	if u.List {
		t.s.Add("from", int64(u.From)).Reply("released", int64(u.Slices))
	} else {
		t.s.Reply("gave_back", yes(u.GaveBack))
	}
	return t.write()
}

var (
	progressing = classify.Of(classify.SignalDeadlineProgressing)
	stalled     = classify.Of(classify.SignalDeadlineStalled)
	cancel      = classify.Of(classify.SignalCancel)
	teardown    = classify.Of(classify.SignalTeardown)
)

func (t *statements) settle(e Settle) error {
	o, v := e.Observation, e.Observation.Verdict()
	permit := t.permit(e.Permit, e.Use)
	begin := func(k *scenario.Kind) *scenario.Statement {
		t.s.Begin(k)
		t.stamp(e.Now)
		return t.s.AddText("permit", permit)
	}
	switch {
	case o.Source == classify.SourceCompletion:
		begin(scenario.Complete).Add("status", int64(o.Raw))
		t.add("vendor", int64(o.VendorErr))
	case o.Rejected:
		begin(scenario.Reject).Add("errno", int64(o.Raw))
	case v == progressing:
		begin(scenario.Deadline)
	case v == stalled:
		begin(scenario.Deadline).Add("poller", stalledPoller)
	case v == cancel:
		begin(scenario.Cancel)
	case v == teardown:
		begin(scenario.Teardown)
	default:
		begin(scenario.Settle).Add("source", int64(o.Source)).Add("raw", int64(o.Raw))
	}
	t.s.Add("use", int64(e.Use))
	if e.List {
		t.s.Add("slices", int64(e.Slices)).Reply("ended", int64(e.Ended)).Reply("released", int64(e.Released))
	} else {
		t.s.Reply("edges", int64(e.Edges))
	}
	if e.Edges != 0 || e.Ended|e.Released != 0 {
		t.happened(e.Permit, v)
	}
	return t.write()
}

var stalledPoller, _ = scenario.Progress.Num("stalled")
