package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// parting is a place where two runs part: the same call was answered in another way, or
// told of something else.
type parting struct {
	where         string
	original, now string
	why           [2]string
}

// part reports whether the present steps of two runs do something else. A call that one of
// them passes over, since its slice was not admitted there, is no parting: that the slice
// was not admitted was one.
func part(a, b *side) bool {
	x, y := a.step, b.step
	switch {
	case len(x.Answers) > 0 && len(y.Answers) > 0 && !slices.EqualFunc(x.Answers, y.Answers, sameAnswer):
		return true
	case len(x.Answers)+len(y.Answers) == 0 && a.decided.hash != b.decided.hash:
		return true
	}
	return !slices.EqualFunc(x.Transitions, y.Transitions, sameChange)
}

// describe says where two runs part now, and why.
func describe(where place, a, b *side) *parting {
	x, y := a.step, b.step
	p := &parting{why: reasons(x, y)}
	switch {
	case len(x.Answers)+len(y.Answers) == 0 && a.decided.hash != b.decided.hash:
		p.original, p.now = a.decided.String(), b.decided.String()
	case !slices.EqualFunc(x.Answers, y.Answers, sameAnswer):
		p.original, p.now = answers(x.Answers), answers(y.Answers)
	}
	same := 0 // what both told, in the beginning
	for same < min(len(x.Transitions), len(y.Transitions)) && sameChange(x.Transitions[same], y.Transitions[same]) {
		same++
	}
	p.original, p.now = withChanges(p.original, x.Transitions[same:]), withChanges(p.now, y.Transitions[same:])
	at := seconds(x.At)
	p.where = fmt.Sprintf("%s: at %s: %s", where.line(x.Statement.Line), at, plain(x.Statement))
	if x.End {
		p.where = fmt.Sprintf("%s: at %s: the end", where.file, at)
	}
	return p
}

// withChanges adds changes of routes to an answer.
func withChanges(text string, list []replay.Transition) string {
	const most = 3
	parts := []string{}
	if text != "" {
		parts = append(parts, text)
	}
	for _, t := range list[:min(len(list), most)] {
		parts = append(parts, t.Route+" "+change(t))
	}
	if more := len(list) - most; more > 0 {
		parts = append(parts, count(more, "change")+" more")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// sameAnswer reports whether answers are the same, but for the numbers of admissions and
// generations, which are names.
func sameAnswer(a, b replay.Answer) bool {
	x, y := a.Args, b.Args
	for {
		for len(x) > 0 && isName(x[0]) {
			x = x[1:]
		}
		for len(y) > 0 && isName(y[0]) {
			y = y[1:]
		}
		if len(x) == 0 || len(y) == 0 {
			return a.Of == b.Of && len(x) == len(y)
		}
		if x[0].Param != y[0].Param || x[0].Num != y[0].Num || x[0].Text != y[0].Text {
			return false
		}
		x, y = x[1:], y[1:]
	}
}

func isName(a scenario.Arg) bool { return a.Param.Name == "use" || a.Param.Name == "gen" }

func sameChange(a, b replay.Transition) bool {
	return a.Route == b.Route && a.Worker == b.Worker && a.From == b.From && a.To == b.To && a.Reason == b.Reason && a.Notice == b.Notice
}

// key is what two decisions are compared by.
type key struct {
	route scenario.ID
	cc.Ruling
	after any
}

func (d decisions) String() string {
	var parts []string
	for _, k := range answersOf {
		if n := d.answers[k.answer]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, k.word))
		}
	}
	if len(parts) == 0 {
		return "nothing asked"
	}
	return strings.Join(parts, ", ")
}

// reasons says in what the routes that a step is about differ after it.
func reasons(a, b *replay.Step) (why [2]string) {
	var ids []scenario.ID
	for _, arg := range a.Statement.Values("route") {
		ids = append(ids, arg.ID())
	}
	for _, list := range [][]replay.Transition{a.Transitions, b.Transitions} {
		for _, t := range list {
			ids = append(ids, scenario.NewID(t.Route))
		}
	}
	seen := map[scenario.ID]bool{}
	for _, id := range ids {
		x, known := a.Route(id)
		y, too := b.Route(id)
		if known && too && !seen[id] && standing(x) != standing(y) {
			why[0] = joined(why[0], id.String()+" "+standing(x))
			why[1] = joined(why[1], id.String()+" "+standing(y))
		}
		seen[id] = true
	}
	return why
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// standing says how a route is, in a few words.
func standing(now replay.Shown) string {
	h := now.Health
	text := fmt.Sprintf("%s, window %s, %s in flight", h.State, bytesText(now.WindowBytes), bytesText(now.InFlightBytes))
	if h.Failures > 0 {
		text += ", " + count(h.Failures, "failure")
	}
	if h.Reason != classify.ReasonNone && h.State != cc.Healthy {
		text += ", " + h.Reason.String()
	}
	if h.CooldownLeft > 0 {
		text += ", cooldown left " + span(h.CooldownLeft)
	}
	return text
}
