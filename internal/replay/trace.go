package replay

import (
	"fmt"
	"iter"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// Tracer is told of every statement after it ran.
type Tracer interface {
	Trace(*Step)
}

// Watcher is a Tracer that is also told what happens within a statement.
type Watcher interface {
	Tracer
	// Decided is told of each answer of admission, also of those that a statement such as
	// traffic gets by itself.
	Decided(*Step, Decision)
	// Passed is told that time moved on within a statement, and that something happened.
	// The step has what was told since the statement began.
	Passed(*Step)
}

// Decision is one answer of admission.
type Decision struct {
	cc.Decision
	Route scenario.ID
	At    time.Duration // since the beginning
}

// Step is one statement that ran. It and what it points to are good until Trace returns.
type Step struct {
	// Case is the case that runs; empty if the file has none.
	Case      string
	Statement *scenario.Statement
	// End says that it is the end of the case, and no statement of it: what was on its way
	// has arrived, and Mismatches are those of the last check.
	End bool
	// At is the time after the statement, since the beginning.
	At time.Duration
	// Answers are what the controller answered, one for each call.
	Answers []Answer
	// Transitions are what it told meanwhile.
	Transitions []Transition
	// Mismatches are the expectations that did not come true with this statement: the first
	// [MaxMismatches], and then one more that says in Got how many others there were.
	Mismatches []Mismatch

	world *world
	final []Shown // at the end
	more  int     // mismatches beside those that are told
}

// tellMore says how many mismatches there are beside those that are told.
func (s *Step) tellMore() {
	if s.more > 0 {
		m := s.Mismatches[len(s.Mismatches)-1]
		m.What, m.Want, m.Got = "", "", fmt.Sprintf("and %d more", s.more)
		s.Mismatches = append(s.Mismatches, m)
	}
}

// Shown is a route with what the controller shows of it.
type Shown struct {
	Worker, Route scenario.ID
	cc.RouteSnapshot
	// Prober says that slices leave trials to a prober, see cc.Config.
	Prober bool
}

// Answer is what one call was answered.
type Answer struct {
	// Of is the permit, task or worker that was the subject of the call.
	Of string
	// Args are the answer in the words of the language, and Text is that as text.
	Args []scenario.Arg
	Text string
}

// Transition is a change of a route's state or a notice, with the route's label. Its time
// is since the beginning.
type Transition struct {
	Worker, Route string
	cc.Transition
}

// Routes returns each route, in the order in which they were made, with what the
// controller shows of it now. It may be slow: ask for it when something has happened.
func (s *Step) Routes() iter.Seq[Shown] {
	return func(yield func(Shown) bool) {
		if s.End {
			for _, r := range s.final {
				if !yield(r) {
					return
				}
			}
			return
		}
		for _, r := range s.world.ordered {
			if !yield(s.world.show(r)) {
				return
			}
		}
	}
}

// Route returns what the controller shows of one route now.
func (s *Step) Route(id scenario.ID) (now Shown, known bool) {
	r := s.world.routes[id]
	if r == nil {
		return now, false
	}
	return s.world.show(r), true
}

// show looks at a route. The readings of the clock that are there for the next call are
// not for this.
func (w *world) show(r *route) Shown {
	w.mu.Lock()
	calling := w.calling
	w.calling = false
	w.mu.Unlock()
	now := r.route.Snapshot()
	w.mu.Lock()
	w.calling = calling
	w.mu.Unlock()
	return Shown{r.worker.name, r.name, now, r.worker.cfg.Prober}
}

// Mismatch is an expectation that did not come true.
type Mismatch struct {
	Case string
	// Line is that of the statement; in a binary file its number. 0 is the end.
	Line int
	// At is the time since the beginning.
	At time.Duration
	// Statement is the statement as text, without its comment; empty at the end.
	Statement string
	// What says of what it is, such as a permit.
	What string
	// Want and Got are in the words of the language. A statement that cannot be run has
	// the reason in Got, and neither What nor Want.
	Want, Got string
	// Excuse says why it may be so all the same: what was recorded is not complete, its
	// calls ran at the same time, or the configuration was changed. Empty if there is none.
	// What a recording lacks is no excuse for an expect or never, which somebody wrote.
	Excuse string
}

func (m Mismatch) String() string {
	text := fmt.Sprintf("line %d, at %s: %s", m.Line, scenario.Seconds(m.At), m.Statement)
	if m.Line == 0 {
		text = "at the end, at " + scenario.Seconds(m.At)
	}
	if m.NotRun() {
		text += ": " + m.Got
	} else {
		text += fmt.Sprintf(": %s: expected %s, got %s", m.What, m.Want, m.Got)
	}
	if m.Case != "" {
		text = fmt.Sprintf("case %q, %s", m.Case, text)
	}
	if m.Excuse != "" {
		text += " (" + m.Excuse + ")"
	}
	return text
}

// NotRun reports whether the statement could not be run, for example since the
// configuration is wrong; Got says why.
func (m Mismatch) NotRun() bool { return m.Want == "" }

// Result is what came of a run.
type Result struct {
	// Statements is how many ran, those before the first case once for each case.
	Statements int64
	// Cases are the names of the cases that ran.
	Cases []string
	// Answers is how many answers were compared.
	Answers int64
	// Mismatches are those without an excuse, Differences those with one. At most
	// [MaxMismatches] of each are kept; Mismatched and Different count all.
	Mismatches, Differences []Mismatch
	Mismatched, Different   int64
	// Lost is how many statements a recording says are missing.
	Lost int64
	// MadeUp is for how many routes that it found it does not say the QPs: the replay has
	// made some up, and takes a post on any QP there.
	MadeUp int64
}

// MaxMismatches is how many of them a [Result] keeps.
const MaxMismatches = 1000

// OK reports whether every expectation came true, but for those that have an excuse.
func (r *Result) OK() bool { return r.Mismatched == 0 }

func (r *Result) add(m Mismatch) {
	list, count := &r.Mismatches, &r.Mismatched
	if m.Excuse != "" {
		list, count = &r.Differences, &r.Different
	}
	if *count++; len(*list) < MaxMismatches {
		*list = append(*list, m)
	}
}
