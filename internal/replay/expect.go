package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// pending is an expectation that may come true until a time.
type pending struct {
	scenario.Statement
	until time.Duration
}

// expect runs an expectation.
func (w *world) expect(s *scenario.Statement) {
	d, given := s.Num("within")
	if !given {
		w.demand(s)
		return
	}
	faults := len(w.step.Mismatches)
	if w.observe(s); len(w.step.Mismatches) == faults { // all that it names is there
		w.pending = append(w.pending, pending{clone(s), w.clockNow() + min(time.Duration(d), maxTime)})
	}
}

// demand notes all that is not as expected now.
func (w *world) demand(s *scenario.Statement) {
	for _, o := range w.observe(s) {
		w.result.Answers++
		if !o.fits(s) {
			want, got := o.texts(s)
			w.mismatch(s, o.of, want, got)
		}
	}
}

// runs reports whether a condition speaks of what changes with time alone.
func runs(s *scenario.Statement) bool {
	return slices.ContainsFunc(s.Args, func(a scenario.Arg) bool {
		return a.Param.Name == "cooldown_left" || a.Param.Name == "left" || a.Param.Name == "trial_out"
	})
}

// watch looks at what may never be, and at what may come true later. Unless something has
// happened, only what changes with time can be otherwise than before.
func (w *world) watch(happened bool) {
	w.early = true
	w.never = slices.DeleteFunc(w.never, func(s scenario.Statement) bool { return (happened || runs(&s)) && w.broken(&s) })
	w.early = false
	w.pending = slices.DeleteFunc(w.pending, func(p pending) bool {
		return (happened || runs(&p.Statement)) && w.true(&p.Statement)
	})
}

// broken notes what may never be and is so. One subject is enough.
func (w *world) broken(s *scenario.Statement) bool {
	for _, o := range w.observe(s) {
		if o.fits(s) {
			want, got := o.texts(s)
			w.mismatch(s, o.of, "never "+want, got+w.during(s))
			return true
		}
	}
	return false
}

// overdue notes what has not come true by the end of its time, which is before next.
func (w *world) overdue(next time.Duration) {
	w.pending = slices.DeleteFunc(w.pending, func(p pending) bool {
		if p.until >= next {
			return false
		}
		w.demand(&p.Statement)
		return true
	})
}

// during says which statement runs, if it is another one than that of a mismatch.
func (w *world) during(s *scenario.Statement) string {
	switch now := w.step.Statement; now.Line {
	case s.Line:
		return ""
	case 0:
		return " at the end"
	default:
		return fmt.Sprintf(" with line %d: %s", now.Line, plain(now))
	}
}

// heed ends what may never be. What it speaks of has to be there by now.
func (w *world) heed() {
	for i := range w.never {
		w.observe(&w.never[i])
	}
	w.never = nil
}

// true reports whether an expectation is true now.
func (w *world) true(s *scenario.Statement) bool {
	for _, o := range w.observe(s) {
		if !o.fits(s) {
			return false
		}
	}
	return true
}

// observed is what can be seen of one subject: a number for each argument of a condition.
type observed struct {
	of  string
	see func(name string) int64
	// states is what path compares instead.
	states []cc.State
}

// each calls f for each argument of a condition, with its values, what is seen, and
// whether that is one of them.
func (o observed) each(s *scenario.Statement, f func(values []scenario.Arg, is int64, holds bool)) {
	args := s.Args
	for i := 0; i < len(args); {
		p := args[i].Param
		end := i + 1
		for end < len(args) && args[end].Param == p {
			end++
		}
		if p.Place != scenario.Required && p.Name != "within" && p.Name != "worker" {
			is := o.see(p.Name)
			values := args[i:end]
			f(values, is, slices.ContainsFunc(values, func(a scenario.Arg) bool { return a.Op.Holds(is, a.Num) }))
		}
		i = end
	}
}

// fits reports whether what is seen is what a condition says.
func (o observed) fits(s *scenario.Statement) bool {
	if s.Kind.Subject == "path" {
		return slices.EqualFunc(s.Values("state"), o.states, func(a scenario.Arg, state cc.State) bool { return cc.State(a.Num) == state })
	}
	ok := true
	o.each(s, func(_ []scenario.Arg, _ int64, holds bool) { ok = ok && holds })
	implied, least := atLeast(s)
	return ok && (implied == "" || o.see(implied) >= least)
}

// texts are a condition, and what is seen in its place: what differs, or all of it if
// nothing does.
func (o observed) texts(s *scenario.Statement) (want, got string) {
	if s.Kind.Subject == "path" {
		for _, a := range s.Values("state") {
			want = join(want, a.String())
		}
		for _, state := range o.states {
			got = join(got, state.String())
		}
		return cmp.Or(want, "no state entered"), cmp.Or(got, "no state entered")
	}
	all := ""
	o.each(s, func(values []scenario.Arg, is int64, holds bool) {
		p := values[0].Param
		text, seen := p.Name+values[0].Op.String()+values[0].String(), p.Name+"=none"
		for _, a := range values[1:] {
			text += "," + a.String()
		}
		if is >= 0 {
			seen = p.Name + "=" + scenario.Arg{Param: p, Num: is}.String()
		}
		if want, all = join(want, text), join(all, seen); !holds {
			got = join(got, seen)
		}
	})
	if implied, least := atLeast(s); implied != "" {
		n := o.see(implied)
		seen := fmt.Sprintf("%s=%d", implied, n)
		if want, all = join(want, implied+">=1"), join(all, seen); n < least {
			got = join(got, seen)
		}
	}
	return want, cmp.Or(got, all)
}

// atLeast returns what a condition asks for when it leaves out how often.
func atLeast(s *scenario.Statement) (name string, least int64) {
	switch s.Kind.Subject {
	case "notice":
		name = "times"
	case "refusals":
		name = "count"
	default:
		return "", 0
	}
	if _, given := s.Num(name); given {
		return "", 0
	}
	return name, 1
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}
