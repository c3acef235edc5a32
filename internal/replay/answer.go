package replay

import (
	"context"
	"errors"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// causes are the errors that the language tells apart.
var causes = []struct {
	err  error
	word string
}{
	{cc.ErrClosed, "closed"}, {cc.ErrHeld, "held"}, {cc.ErrNotHeld, "not_held"}, {cc.ErrStaleGeneration, "stale_generation"},
	{cc.ErrTrialOver, "trial_over"}, {cc.ErrForeign, "foreign"}, {cc.ErrUnknownQP, "unknown_qp"}, {classify.ErrNoElement, "no_element"},
	{context.Canceled, "ended"}, {context.DeadlineExceeded, "ended"},
}

// cause returns the number of an error's word; 0 for none.
func cause(err error) int64 {
	if err == nil {
		return 0
	}
	word := "invalid"
	for _, c := range causes {
		if errors.Is(err, c.err) {
			word = c.word
			break
		}
	}
	n, _ := scenario.Errors.Num(word)
	return n
}

// reply begins the answer of a call in the words of the language.
func (w *world) reply(s *scenario.Statement) *scenario.Statement {
	return w.scratch.Begin(s.Kind)
}

// decided puts an admission's answer in words.
func (w *world) decided(s *scenario.Statement, d cc.Decision) *scenario.Statement {
	r := w.reply(s).Reply("answer", int64(d.Answer))
	for _, part := range []struct {
		name string
		num  int64
	}{{"reason", int64(d.Reason)}, {"domain", int64(d.Domain)}, {"hint", int64(d.Hint)}, {"retry_after", int64(d.RetryAfter)}, {"error", cause(d.Err)}} {
		if part.num != 0 {
			r.Reply(part.name, part.num)
		}
	}
	return r
}

// said tells a watcher what admission said, and returns it.
func (w *world) said(r *route, d cc.Decision) cc.Decision {
	if watcher := w.runner.watcher; watcher != nil && !w.over {
		watcher.Decided(&w.step, Decision{d, r.name, w.time()})
	}
	return d
}

// answered compares what a call answered with what the statement expects, and reports
// whether it fits.
func (w *world) answered(s *scenario.Statement, of string, got *scenario.Statement) bool {
	if w.runner.options.Tracer != nil {
		args := append([]scenario.Arg(nil), got.Answer...)
		w.step.Answers = append(w.step.Answers, Answer{of, args, got.AnswerText()})
	}
	if !s.Answered {
		return true
	}
	w.result.Answers++
	if w.fits(s, got) {
		return true
	}
	want, is := s.AnswerText(), got.AnswerText()
	if want == "" {
		want = "none"
	}
	if is == "" {
		is = "none"
	}
	w.mismatch(s, of, want, is)
	return false
}

// oneKind are the answers that only a permit has, or only a list: of the other kind
// nothing is true of them. All else that is not answered is 0.
var oneKind = map[string]bool{"edges": true, "gave_back": true, "ended": true, "released": true}

// fits reports whether an answer is what the statement expects: in a recording, and with
// nothing behind the arrow, all of it, else what is said of it. An error has to be said.
// Numbers of admissions are names, and not compared; those of generations are too, unless
// the replay has to do the same to the letter.
func (w *world) fits(s *scenario.Statement, got *scenario.Statement) bool {
	for i := range s.Answer {
		a := &s.Answer[i]
		if a.Param.Name == "use" || a.Param.Name == "gen" && w.recorded && !w.exactly() {
			continue
		}
		if a.Param.List {
			continue // see due
		}
		n, told := got.AnswerNum(a.Param.Name)
		if !told && oneKind[a.Param.Name] {
			return false
		}
		if !a.Op.Holds(n, a.Num) && !(w.recorded && a.Param.Type == scenario.Duration && w.near(n, a.Num)) {
			return false
		}
	}
	_, whole := s.AnswerNum("answer") // that admission refuses says that it failed
	for i := range got.Answer {
		a := &got.Answer[i]
		if !w.recorded && len(s.Answer) > 0 && (whole || a.Param.Name != "error") {
			continue
		}
		if _, said := s.AnswerNum(a.Param.Name); !said && a.Num != 0 && a.Param.Name != "use" && a.Param.Name != "gen" && !a.Param.List {
			return false
		}
	}
	return true
}

// near reports whether two times differ by no more than what passed while the call read
// the clock. Where somebody looks at a route, it takes in news that a later call would
// have taken in, and that call reads the clock once less than when it was recorded.
func (w *world) near(a, b int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	readings := w.clock.items
	if len(readings) == 0 {
		return false
	}
	return time.Duration(max(a, b)-min(a, b)) <= readings[len(readings)-1]-readings[0]
}
