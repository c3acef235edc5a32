package main

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// teller tells the life of one route as it goes.
type teller struct {
	*runner
	file    string
	name    routeName
	tally   *tally
	stories int  // how many it has told
	begun   bool // it told of the present case
	told    int  // transitions of the present step that it has looked at
	permits map[string]bool
	window  int64
	decided []replay.Decision // since it last looked
	stretch stretch
	now     replay.Shown
}

func newTeller(r *runner, file string, name routeName) *teller {
	t := &teller{runner: r, file: file, name: name, tally: newTally()}
	t.next()
	return t
}

// next begins a case.
func (t *teller) next() {
	t.tally.next()
	t.begun, t.told, t.decided, t.stretch, t.now = false, 0, nil, stretch{}, replay.Shown{}
	t.permits = map[string]bool{}
}

// line tells one thing.
func (t *teller) line(at time.Duration, text string) {
	if text != "" {
		fmt.Fprintf(t.out, "%12s  %s\n", seconds(at), text)
	}
}

// Decided is called by the run.
func (t *teller) Decided(_ *replay.Step, d replay.Decision) {
	t.tally.decided(d)
	if d.Route == t.name.id {
		t.decided = append(t.decided, d)
	}
}

// Passed is called by the run.
func (t *teller) Passed(s *replay.Step) {
	t.tally.passed(s)
	if t.begun && (len(t.decided) > 0 || len(s.Transitions) > t.told) {
		t.look(s)
	}
}

// Trace is called by the run.
func (t *teller) Trace(s *replay.Step) {
	t.tally.step(s)
	if t.caseName == "" || s.Case == t.caseName {
		t.step(s)
	}
	t.told, t.decided = 0, t.decided[:0]
	if s.End {
		t.next()
	}
}

func (t *teller) step(s *replay.Step) {
	at := s.At
	if !t.begun {
		if s.Statement.Kind == scenario.Route && s.Statement.Values("route")[0].ID() == t.name.id {
			t.begin(s, at)
		}
		return
	}
	if s.End {
		t.look(s)
		t.flush()
		t.sum(at)
		return
	}
	touched := t.outcomes(s, at)
	if touched || len(t.decided) > 0 || len(s.Transitions) > 0 || s.Statement.Kind == scenario.Tick || s.Statement.Kind == scenario.Advance {
		t.look(s)
	}
	t.milestone(s, at)
}

// begin tells of a route that was made.
func (t *teller) begin(s *replay.Step, at time.Duration) {
	now, known := s.Route(t.name.id)
	if !known {
		return // it was refused
	}
	t.begun, t.window = true, now.WindowBytes
	in := t.file
	if s.Case != "" {
		in += fmt.Sprintf(", case %q", s.Case)
	}
	if t.stories++; t.stories > 1 {
		fmt.Fprintln(t.out)
	}
	fmt.Fprintf(t.out, "%s, the path %s, in %s\n\n", t.name.id, now.Pair, in)
	t.line(at, fmt.Sprintf("It is made: %s, with a window of %s.", now.Health.State, bytesText(now.WindowBytes)))
	t.stretch.begin(now)
	t.now = now
}

// look takes in what happened since the last time.
func (t *teller) look(s *replay.Step) {
	now, known := s.Route(t.name.id)
	if !known {
		return
	}
	var mine []replay.Transition
	for _, c := range s.Transitions[t.told:] {
		if scenario.NewID(c.Route) == t.name.id {
			mine = append(mine, c)
		}
	}
	t.told = len(s.Transitions)
	if len(mine) > 0 {
		t.flush()
	}
	for i, c := range mine {
		if c.To == cc.Probing {
			t.trial()
		}
		t.line(c.At, transition(c, now, i == len(mine)-1, goesOut(s.Statement)))
	}
	if len(mine) > 0 {
		t.stretch.begin(now)
	}
	for _, d := range t.decided {
		t.stretch.decided(d, s.Statement.Kind == scenario.Probe)
	}
	t.decided = t.decided[:0]
	t.stretch.window(now)
	t.now = now
}

// trial leaves out what was admitted as a trial: it is told by itself.
func (t *teller) trial() {
	for i, d := range t.decided {
		if d.Admitted() {
			t.decided = append(t.decided[:i], t.decided[i+1:]...)
			return
		}
	}
}

// goesOut is what a statement asks for, if it is a trial.
func goesOut(s *scenario.Statement) string {
	if s.Kind != scenario.Probe {
		return "one slice"
	}
	n, given := s.Num("bytes")
	if !given {
		return "a probe"
	}
	return "a probe of " + bytesText(n)
}

// flush tells of the time since the last milestone.
func (t *teller) flush() {
	t.line(t.stretch.first, t.stretch.text())
	t.stretch.begin(t.now)
}

// milestone tells of what changes a route beside its state.
func (t *teller) milestone(s *replay.Step, at time.Duration) {
	of := s.Statement
	switch of.Kind {
	case scenario.Renew, scenario.Found:
		if of.Values("route")[0].ID() != t.name.id {
			return
		}
		t.flush()
		t.line(at, t.endpoint(s))
	case scenario.Event:
		t.event(s, at)
	case scenario.CloseRoute, scenario.Forget, scenario.Close:
		if d := closes(of, t.name.id, t.now); d != "" {
			t.flush()
			t.line(at, d)
		}
	case scenario.Lost:
		t.flush()
		t.line(at, "The recording lacks statements here; what follows may be otherwise.")
	}
}

// endpoint tells of an endpoint that was built or found; of none there is nothing to tell.
// A recording has its own numbers for generations.
func (t *teller) endpoint(s *replay.Step) string {
	of := s.Statement
	qps := len(of.Values("qps"))
	if of.Kind == scenario.Found {
		switch gen, _ := of.Num("gen"); {
		case qps > 0:
			return fmt.Sprintf("It is found with an endpoint: generation %d, %s.", gen, count(qps, "QP"))
		case gen > 0:
			return fmt.Sprintf("It is found with an endpoint: generation %d. Its QPs are not known, so any is taken.", gen)
		}
		return ""
	}
	if len(s.Answers) > 0 {
		for _, a := range s.Answers[0].Args {
			if a.Param.Name == "error" {
				return "A new endpoint is refused: " + a.String() + "."
			}
		}
	}
	gen, said := of.AnswerNum("gen")
	if !said {
		now, _ := s.Route(t.name.id)
		gen = int64(now.Generation)
	}
	return fmt.Sprintf("An endpoint is built: generation %d, %s.", gen, count(max(1, qps), "QP"))
}

// event tells of an event of the route's port or device that changed nothing.
func (t *teller) event(s *replay.Step, at time.Duration) {
	of := s.Statement
	for _, c := range s.Transitions {
		if scenario.NewID(c.Route) == t.name.id {
			return // which says it
		}
	}
	for _, element := range []string{"qp", "cq", "srq", "wq"} {
		if _, given := of.Num(element); given {
			return
		}
	}
	port, given := of.Num("port")
	if of.Text("device") != t.now.Pair.Local || given && uint8(port) != t.now.Pair.Port {
		return
	}
	t.flush()
	t.line(at, fmt.Sprintf("Event %s of %s. The state stays %s.", of.Text("type"), of.Text("device"), t.now.Health.State))
}

func closes(of *scenario.Statement, id scenario.ID, now replay.Shown) string {
	switch of.Kind {
	case scenario.CloseRoute:
		for closed := range scenario.IDs(of.Values("route")) {
			if closed == id {
				return "It is closed."
			}
		}
		return ""
	case scenario.Forget:
		if of.Text("peer") != now.Pair.Peer || of.Text("incarnation") != now.Pair.Incarnation {
			return ""
		}
		return "The peer is gone: it is closed."
	}
	if worker := of.Values("worker"); len(worker) > 0 && worker[0].ID() != now.Worker {
		return ""
	}
	return "The controller is closed."
}

// sum ends the story.
func (t *teller) sum(at time.Duration) {
	r := t.tally.routes[t.name.id]
	if r == nil {
		return
	}
	t.line(at, fmt.Sprintf("The end: %s.", standing(r.last)))
	fmt.Fprintln(t.out)
	text := "In sum: "
	for s, d := range r.states {
		if d > 0 {
			text += fmt.Sprintf("%s %s, ", span(d), cc.State(s))
		}
	}
	text += fmt.Sprintf("%s delivered; ", bytesText(r.delivered))
	text += fmt.Sprintf("%d admitted, %d deferred, %d avoided", r.answers[cc.Admit], r.answers[cc.Defer], r.answers[cc.Avoid])
	for i, k := range kinds(r) {
		before := ", "
		if i == 0 {
			before = " ("
			if r.onlyObserves() {
				before = " (mode enforce would have refused: "
			}
		}
		text += fmt.Sprintf("%s%d %s", before, r.refusals[k], k)
	}
	if len(r.refusals) > 0 {
		text += ")"
	}
	fmt.Fprintln(t.out, text+".")
}

// outcomes takes in what became of slices of the route, and reports whether there was
// something.
func (t *teller) outcomes(s *replay.Step, at time.Duration) bool {
	of := s.Statement
	switch of.Kind {
	case scenario.Acquire, scenario.Wait, scenario.Handoff, scenario.AcquireList, scenario.Probe, scenario.Returned:
		here := of.Kind == scenario.Returned || of.Values("route")[0].ID() == t.name.id
		for _, a := range s.Answers {
			admitted := false
			for _, arg := range a.Args {
				admitted = admitted || arg.Param.Name == "answer" && cc.Answer(arg.Num) == cc.Admit
			}
			if admitted && of.Kind != scenario.Returned {
				t.permits[a.Of] = here
			}
		}
		return false
	case scenario.Send, scenario.Transfer:
		here := of.Values("route")[0].ID() == t.name.id
		n := 0
		for id := range scenario.IDs(of.Values("permit")) {
			t.permits[id.String()] = here
			n++
		}
		if status, given := of.Num("status"); here && given && classify.Status(status) != classify.StatusSuccess && !changed(s, t.name.id) {
			t.stretch.outcome(of, n, at)
		}
		return here
	case scenario.Complete, scenario.Deadline, scenario.Cancel, scenario.Teardown, scenario.Reject, scenario.Settle:
		n, mine := 0, false
		for _, a := range s.Answers {
			if !t.permits[a.Of] {
				continue
			}
			mine = true
			for _, arg := range a.Args {
				if arg.Num != 0 {
					n++
					break
				}
			}
		}
		if n > 0 && !changed(s, t.name.id) {
			t.stretch.outcome(of, n, at)
		}
		return mine
	}
	return false
}

// changed reports whether the step changed the state of a route.
func changed(s *replay.Step, id scenario.ID) bool {
	for _, c := range s.Transitions {
		if scenario.NewID(c.Route) == id {
			return true
		}
	}
	return false
}
