package replay

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// recording begins a recording: times are readings of the controller's clock, and each
// call gets the readings and factors that it got then.
func (w *world) recording(s *scenario.Statement) {
	w.recorded, w.base, w.now = true, 0, 0
	if s.Timed {
		w.now = s.At
	}
	yes := func(name string) bool {
		n, _ := s.Num(name)
		return n != 0
	}
	switch {
	case w.excuse != "":
	case !yes("complete"):
		w.excuse = "the recording begins in the middle"
	case !yes("serial"):
		w.excuse = "calls ran at the same time when it was recorded"
	}
}

func (w *world) readsClock(s *scenario.Statement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.put(w.base + s.At)
}

func (w *world) lost(s *scenario.Statement) {
	n, _ := s.Num("count")
	w.result.Lost += max(n, 1)
	if w.excuse == "" {
		w.excuse = fmt.Sprintf("statements are missing since line %d", s.Line)
	}
}

// found gives a route of a recording that begins in the middle the endpoint that it had.
func (w *world) found(s *scenario.Statement) {
	r := w.route(s)
	if r == nil {
		return
	}
	name, _ := s.Num("gen")
	known := len(s.Values("qps")) > 0
	var qps []cc.QP
	switch {
	case known:
		qps = w.qps(s)
	case name == 0:
		return // it had no endpoint yet
	default:
		qps = madeUpQPs()
	}
	gen, err := r.route.Renew(r.gen, qps)
	if err != nil {
		w.wrong(s, err.Error())
		return
	}
	r.renewed(gen, cc.Generation(name), qps)
	if !known {
		r.standIns = &standIns{gen: gen, as: map[uint64]uint64{}}
		w.result.MadeUp++
	}
}

// told is a transition that a recording says the next call told of.
type told struct {
	route    scenario.ID
	from, to cc.State
	reason   classify.Reason
	notice   cc.Notice
	more     toldMore
}

// toldMore is what else is told. It is compared where the replay has to do the same to
// the letter: in a complete recording of calls that ran one at a time. A told without gen,
// which a recorder always writes, does not say it.
type toldMore struct {
	source       classify.Source
	raw, vendor  uint32
	gen          cc.Generation
	last, shared bool
	at           time.Duration // by the controller's clock; 0 if that was below
}

func (t told) String() string {
	text := fmt.Sprintf("%s %s %s %s", t.route, t.from, t.to, t.reason)
	if t.notice != cc.NoNotice {
		text = fmt.Sprintf("%s %s", t.route, t.notice)
	}
	if m := t.more; m != (toldMore{}) {
		text += fmt.Sprintf(" source=%s raw=%d vendor=%#x gen=%d last_route=%t shared=%t at %s", m.source, m.raw, m.vendor, m.gen, m.last, m.shared, scenario.Seconds(m.at))
	}
	return text
}

// exactly reports whether nothing excuses a replay that differs from a recording.
func (w *world) exactly() bool { return w.recorded && w.excuse == "" }

func (w *world) expectsTold(s *scenario.Statement) {
	num := func(name string) int64 {
		n, _ := s.Num(name)
		return n
	}
	w.expects = append(w.expects, told{s.Values("route")[0].ID(), cc.State(num("from")), cc.State(num("to")), classify.Reason(num("reason")), cc.Notice(num("notice")), toldMore{}})
	if _, whole := s.Num("gen"); whole {
		w.expects[len(w.expects)-1].more = toldMore{
			classify.Source(num("source")), uint32(num("raw")), uint32(num("vendor")), cc.Generation(num("gen")), num("last_route") != 0, num("shared") != 0, s.At,
		}
	}
}

// compareTold compares what a call told with what it told when it was recorded, in any
// order.
func (w *world) compareTold(s *scenario.Statement) {
	if !w.recorded && len(w.expects) == 0 {
		return
	}
	w.mu.Lock()
	got := w.told
	w.mu.Unlock()
	if len(got)+len(w.expects) == 0 {
		return
	}
	rest := map[told]int{}
	exactly := w.exactly()
	for _, t := range w.expects {
		if !exactly {
			t.more = toldMore{}
		}
		rest[t]++
	}
	w.expects = w.expects[:0]
	for _, t := range got {
		is := told{scenario.NewID(t.Route), t.From, t.To, t.Reason, t.Notice, toldMore{}}
		if exactly {
			v := t.Verdict
			is.more = toldMore{v.Source(), v.Raw(), v.VendorErr(), t.Generation, t.LastRoute, t.Shared, max(t.At, 0)}
		}
		w.result.Answers++
		if short := is; rest[is] == 0 {
			if short.more = (toldMore{}); rest[short] > 0 {
				is = short
			}
		}
		if rest[is] == 0 {
			w.mismatch(s, "transition", "none", is.String())
			continue
		}
		rest[is]--
	}
	for t, n := range rest {
		for range n {
			w.mismatch(s, "transition", t.String(), "none")
		}
	}
}

// A replay may go another way than the recording, and so may a scenario whose configuration
// was changed: what was admitted then is refused now. What the engine did with it is passed
// over until it asks again.

// drift notes whether the answer parts the replay from the recording, and gives back what
// the engine of the recording did not get.
func (w *world) drift(s *scenario.Statement, p *permit, d cc.Decision) {
	if !s.Answered || !w.recorded && w.runner.options.Set == nil {
		return
	}
	answer, _ := s.AnswerNum("answer")
	p.adrift = 0
	switch then := cc.Answer(answer) == cc.Admit; {
	case then && !d.Admitted():
		p.adrift = s.Line
	case !then && d.Admitted() && p.list != nil:
		p.list.Unposted(0)
	case !then && d.Admitted():
		p.one.Unposted()
	}
}

// follows reports whether a statement about the permit only follows from what the replay
// did in another way.
func (w *world) follows(p *permit) bool { return p.adrift != 0 }

// takeOver makes way for a slice of a recording that has the memory of one that the replay
// still holds.
func (w *world) takeOver(s *scenario.Statement, p *permit) {
	if !w.recorded || p.held() == 0 || s.Kind == scenario.Handoff {
		return
	}
	if n, _ := s.AnswerNum("error"); n == cause(cc.ErrHeld) {
		return
	}
	if p.list != nil {
		p.list.Unposted(0)
		p.list.Settle(p.use, 1<<cc.MaxList-1, classify.Of(classify.SignalTeardown), w.at(s))
		return
	}
	p.one.Unposted()
	p.one.Settle(p.use, classify.Of(classify.SignalTeardown), w.at(s))
}

func (w *world) dropTask(t *task) {
	for id, known := range w.tasks {
		if known == t {
			delete(w.tasks, id)
			return
		}
	}
}

// useCycle is after how many numbers it is the same again which admissions of a permit
// have their delay measured.
const useCycle = 8

// aligner gives permits the numbers that they had in a recording.
type aligner struct {
	route *cc.Route
	gen   cc.Generation
}

func newAligner() *aligner {
	ctl, err := cc.New(presets["default"]())
	if err != nil {
		panic(err)
	}
	a := &aligner{}
	if a.route, err = ctl.Route(rail.Pair{Peer: "aligner", Local: "aligner", Remote: "aligner", Port: 1}); err != nil {
		panic(err)
	}
	if a.gen, err = a.route.Renew(0, []cc.QP{{ID: 1}}); err != nil {
		panic(err)
	}
	return a
}

// number has the next admission of a permit of a recording measured if it was then: the
// controller chooses by the number of the admission. It goes by as many admissions of a
// controller beside that nobody sees. That resolves what the task has met before, and
// so does the admission that follows.
func (w *world) number(s *scenario.Statement, p *permit, t *taskstate.Task) {
	want, said := s.AnswerNum("use")
	if !said || !w.recorded || p.held() > 0 {
		return
	}
	if w.align == nil {
		w.align = newAligner()
	}
	for range useCycle + 1 {
		if p.count > 0 && (int64(p.use)+1-want)%useCycle == 0 {
			return
		}
		if p.list != nil {
			p.use = w.align.route.TryAcquireList(p.list, w.align.gen, []int64{1}, t).Use
			p.list.Unposted(0)
		} else {
			p.use = w.align.route.TryAcquire(p.one, w.align.gen, 1, t).Use
			p.one.Unposted()
		}
		p.count++
	}
}
