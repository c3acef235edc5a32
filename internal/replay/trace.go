package replay

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// Tracer is told of every statement after it ran.
type Tracer interface {
	Trace(*Step)
}

// Step is one statement that ran. It and what it points to are good until Trace returns.
type Step struct {
	// Case is the case that runs; empty if the file has none.
	Case      string
	Statement *scenario.Statement
	// At is the time after the statement, since the beginning.
	At time.Duration
	// Answers are what the controller answered, one for each call.
	Answers []Answer
	// Transitions are what it told meanwhile.
	Transitions []Transition
	// Mismatches are the expectations that did not come true with this statement.
	Mismatches []Mismatch

	world *world
}

// Answer is what one call was answered.
type Answer struct {
	// Of is the permit, task or worker that was the subject of the call.
	Of string
	// Args are the answer in the words of the language, and Text is that as text.
	Args []scenario.Arg
	Text string
}

// Transition is a change of a route's state or a notice, with the route's label.
type Transition struct {
	Worker, Route string
	cc.Transition
}

// Routes calls f for each route, in the order in which they were made, with what the
// controller shows of it now. It may be slow: ask for it when something has happened.
func (s *Step) Routes(f func(worker, route string, now cc.RouteSnapshot)) {
	for _, r := range s.world.ordered {
		f(r.worker.name.String(), r.name.String(), r.route.Snapshot())
	}
}

// Mismatch is an expectation that did not come true.
type Mismatch struct {
	Case string
	// Line is that of the statement; in a binary file its number.
	Line int
	// At is the time since the beginning.
	At time.Duration
	// Statement is the statement as text, without its comment.
	Statement string
	// What says of what it is, such as a permit.
	What string
	// Want and Got are in the words of the language.
	Want, Got string
	// Excuse says why it may be so all the same: what was recorded is not complete, its
	// calls ran at the same time, or the configuration was changed. Empty if there is none.
	Excuse string
}

func (m Mismatch) String() string {
	text := fmt.Sprintf("line %d, at %s: %s: %s: expected %s, got %s", m.Line, scenario.Seconds(m.At), m.Statement, m.What, m.Want, m.Got)
	if m.Case != "" {
		text = fmt.Sprintf("case %q, %s", m.Case, text)
	}
	if m.Excuse != "" {
		text += " (" + m.Excuse + ")"
	}
	return text
}

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
