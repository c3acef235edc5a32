package replay

import (
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
	if d, given := s.Num("within"); given {
		w.pending = append(w.pending, pending{clone(s), w.clockNow() + time.Duration(d)})
		return
	}
	w.demand(s)
}

// demand notes all that is not as expected now.
func (w *world) demand(s *scenario.Statement) {
	for _, o := range w.observe(s) {
		want, got, ok := o.compare(s)
		w.result.Answers++
		if !ok {
			w.mismatch(s, o.of, want, got)
		}
	}
}

// watch looks at what may never be, and at what may come true later.
func (w *world) watch() {
	never := w.never[:0]
	w.early = true
	for i := range w.never {
		s := &w.never[i]
		broken := false
		for _, o := range w.observe(s) {
			if want, _, is := o.compare(s); is && !broken {
				broken = true
				w.mismatch(s, o.of, "never "+want, "it is so")
			}
		}
		if !broken {
			never = append(never, *s)
		}
	}
	w.never, w.early = never, false
	rest := w.pending[:0]
	now := w.clockNow()
	for i := range w.pending {
		p := &w.pending[i]
		switch {
		case w.true(&p.Statement):
		case now >= p.until:
			w.demand(&p.Statement)
		default:
			rest = append(rest, *p)
		}
	}
	w.pending = rest
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
		if _, _, ok := o.compare(s); !ok {
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

// compare compares what is seen with what a condition says.
func (o observed) compare(s *scenario.Statement) (want, got string, ok bool) {
	if s.Kind.Subject == "path" {
		return o.comparePath(s)
	}
	ok = true
	args := s.Args
	for i := 0; i < len(args); {
		p := args[i].Param
		end := i + 1
		for end < len(args) && args[end].Param == p {
			end++
		}
		if p.Place != scenario.Required && p.Name != "within" && p.Name != "worker" {
			is := o.see(p.Name)
			holds := false
			text := p.Name + args[i].Op.String()
			for k := i; k < end; k++ {
				holds = holds || args[k].Op.Holds(is, args[k].Num)
				if k > i {
					text += ","
				}
				text += args[k].String()
			}
			if !holds {
				seen := "none"
				if is >= 0 {
					seen = scenario.Arg{Param: p, Num: is}.String()
				}
				got = join(got, p.Name+"="+seen)
				ok = false
			}
			want = join(want, text)
		}
		i = end
	}
	if implied, least := atLeast(s); implied != "" {
		n := o.see(implied)
		if n < least {
			got, ok = join(got, implied+"=0"), false
		}
		want = join(want, implied+">=1")
	}
	return want, got, ok
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

func (o observed) comparePath(s *scenario.Statement) (want, got string, ok bool) {
	list := s.Values("state")
	ok = len(list) == len(o.states)
	for i, a := range list {
		want = join(want, a.String())
		ok = ok && o.states[i] == cc.State(a.Num)
	}
	for _, state := range o.states {
		got = join(got, state.String())
	}
	if want == "" {
		want = "no state entered"
	}
	if got == "" {
		got = "no state entered"
	}
	return want, got, ok
}
