package main

import (
	"fmt"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// comparison is one file that is run twice, as it is and with changes.
type comparison struct {
	*runner
	where    place
	original *side
	changed  *side
	partings []*parting
	parted   int
	shown    int // cases
	recorded bool
	cases    []string
}

// whatIf runs a file as it is and with changes, and prints both side by side.
func (r *runner) whatIf(src *source) int {
	in, err := src.reader("")
	if err != nil {
		return r.trouble(err)
	}
	c := &comparison{
		runner: r, where: place{src.name, in.Format()},
		original: begin(src, "both runs", replay.Options{}), changed: begin(src, "", replay.Options{Set: r.set}),
	}
	defer c.original.stop()
	defer c.changed.stop()
	fmt.Fprintf(r.out, "%s: what if %s\n", src.name, r.changes)
	for c.original.advance() && c.changed.advance() {
		if why := c.wrongChange(); why != "" {
			return r.trouble(fmt.Errorf("-set %s: %s", r.changes, why))
		}
		c.step()
	}
	c.changed.advance() // to its result
	return c.sumUp(src)
}

// wrongChange says why the configuration cannot be what it was changed to.
func (c *comparison) wrongChange() string {
	for _, m := range c.changed.step.Mismatches {
		if m.NotRun() && len(c.original.step.Mismatches) == 0 {
			return m.Got
		}
	}
	return ""
}

// step takes in the present steps.
func (c *comparison) step() {
	x := c.original.step
	c.recorded = c.recorded || x.Statement.Kind == scenario.Recording
	if x.Statement.Kind == scenario.Case && x.Case != "" {
		c.cases = append(c.cases, x.Case)
	}
	if c.caseName != "" && x.Case != c.caseName {
		if x.End {
			c.next()
		}
		return
	}
	if part(c.original, c.changed) {
		if c.parted++; len(c.partings) < c.most {
			c.partings = append(c.partings, describe(c.where, c.original, c.changed))
		}
	}
	if x.End {
		c.print(x.Case)
		c.next()
	}
}

func (c *comparison) next() {
	c.original.tally.next()
	c.changed.tally.next()
	c.partings, c.parted = nil, 0
}

// sumUp says how far the comparison can be trusted, and returns the exit status.
func (c *comparison) sumUp(src *source) int {
	err := c.original.err
	if err != nil && damaged(err) == nil {
		return c.trouble(err)
	}
	if c.caseName != "" && c.shown == 0 {
		return c.trouble(noCase(src, c.caseName, c.cases))
	}
	status := 0
	if err != nil {
		c.say("%v", err)
		status = exitMismatch
	}
	original, changed := c.original.result, c.changed.result
	switch {
	case !original.OK():
		fmt.Fprintf(c.out, "\nThe original does not run as the file says: %d of %d answers differ. Run replay without -set to see them.\n", original.Mismatched, original.Answers)
		status = exitMismatch
	case original.Different > 0:
		fmt.Fprintf(c.out, "\nThe original is a replay too: %d of %d answers are not those of the recording (%s).\n", original.Different, original.Answers, original.Differences[0].Excuse)
	case original.Answers > 0:
		fmt.Fprintf(c.out, "\nThe original runs as the file says: %s compared.", count(original.Answers, "answer"))
		fmt.Fprintf(c.out, " With the change %d differ from it.\n", changed.Mismatched+changed.Different)
	}
	if c.recorded && (len(c.set.Values("law")) > 0 || len(c.set.Values("mode")) > 0) {
		fmt.Fprintln(c.out, "The engine's later calls stay as they were recorded: counts are of asks, not of slices, and bytes delivered are of what the recorded engine posted, so another law or mode does not show its throughput here.")
	}
	if n := original.MadeUp; n > 0 {
		fmt.Fprintln(c.out, madeUp(n))
	}
	return status
}

// madeUp says of how many routes the QPs are not known.
func madeUp(n int64) string {
	return fmt.Sprintf("The QPs of %s are not known where the recording begins: any is taken there.", count(n, "route"))
}

// noCase says that there is no case of a name.
func noCase(src *source, name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("-case %q: %s has no cases; leave the flag out", name, src.name)
	}
	return fmt.Errorf("-case %q: %s has no case of that name; %s", name, src.name, nearest(name, known))
}

// print prints the comparison of one case.
func (c *comparison) print(name string) {
	c.shown++
	if name != "" {
		fmt.Fprintf(c.out, "\ncase %q\n", name)
	}
	t := table{out: c.out}
	a, b := c.original.tally, c.changed.tally
	fmt.Fprintf(c.out, "\n%-40s%14s%14s\n", "", "original", "changed")
	if len(a.order) != 1 {
		fmt.Fprintf(c.out, "all %s, %s\n", count(len(a.order), "route"), span(a.end))
		t.route(a.total(), b.total(), false)
	}
	for _, r := range a.order {
		other := b.routes[scenario.NewID(r.label)]
		if other == nil {
			continue
		}
		fmt.Fprintf(c.out, "route %s, %s\n", r.label, r.pair)
		t.route(r, other, true)
		c.verdicts(r, other)
	}
	c.printPartings()
}

// verdicts prints when states began, in both runs.
func (c *comparison) verdicts(r, other *routeTally) {
	x, y := c.original.tally.of(r), c.changed.tally.of(other)
	if len(x)+len(y) == 0 {
		return
	}
	fmt.Fprintln(c.out, "  verdicts")
	for i, k, n := 0, 0, 0; i < len(x) || k < len(y); n++ {
		if n == c.most {
			fmt.Fprintf(c.out, "    %d more\n", len(x)-i+len(y)-k)
			return
		}
		who, e := "both", event{}
		switch {
		case i < len(x) && k < len(y) && x[i].at == y[k].at && sameChange(x[i].what, y[k].what):
			e = x[i]
			i, k = i+1, k+1
		case k == len(y) || i < len(x) && x[i].at <= y[k].at:
			who, e = "original", x[i]
			i++
		default:
			who, e = "changed", y[k]
			k++
		}
		fmt.Fprintf(c.out, "    %12s  %-8s  %s\n", seconds(c.original.tally.shown(e.at)), who, change(e.what))
	}
}

// of returns the events of one route.
func (t *tally) of(r *routeTally) (list []event) {
	for _, e := range t.events {
		if e.route == r {
			list = append(list, e)
		}
	}
	return list
}

func (c *comparison) printPartings() {
	if c.parted == 0 {
		fmt.Fprintln(c.out, "\nThe two never part: each call is answered alike.")
		return
	}
	fmt.Fprintf(c.out, "\nThe two part in %s", count(c.parted, "place"))
	if c.parted > len(c.partings) {
		fmt.Fprintf(c.out, ", of which these are the first %d", len(c.partings))
	}
	fmt.Fprintln(c.out, ":")
	for _, p := range c.partings {
		fmt.Fprintf(c.out, "  %s\n    original  %s\n", p.where, p.original)
		because(c.out, p.why[0])
		fmt.Fprintf(c.out, "    changed   %s\n", p.now)
		because(c.out, p.why[1])
	}
}

// answersOf are the rows of a table that count answers.
var answersOf = []struct {
	answer cc.Answer
	word   string
}{{cc.Admit, "admitted"}, {cc.Defer, "deferred"}, {cc.Avoid, "avoided"}, {cc.Refused, "refused as wrong"}}
