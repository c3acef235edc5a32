package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// picture is what is drawn of one case.
type picture struct {
	want     string // the case; the first one if empty
	caseName string
	done     bool
	tally    *tally
	looks    sampler
	routes   map[scenario.ID]*drawn
	order    []*drawn
}

// drawn is one route.
type drawn struct {
	series
	counts *routeTally
	bands  []band
	more   int // bands that are not kept
}

// band is a time in one state.
type band struct {
	from  time.Duration
	state cc.State
	why   string
}

// maxBands is how many bands are kept of a route: more cannot be told apart.
const maxBands = 20_000

func newPicture(want string) *picture {
	return &picture{want: want, tally: newTally(), routes: map[scenario.ID]*drawn{}}
}

// Decided is called by the run.
func (p *picture) Decided(s *replay.Step, d replay.Decision) {
	r := p.routes[d.Route]
	if p.done || r == nil {
		return
	}
	p.tally.decided(d)
	at := p.tally.since(d.At)
	r.decided(d.Answer, at)
	if p.looks.due(at) {
		if now, known := s.Route(d.Route); known {
			r.look(now, at)
		}
	}
}

// Passed is called by the run.
func (p *picture) Passed(s *replay.Step) {
	if p.done {
		return
	}
	p.tally.passed(s)
	p.look(s, false)
}

// Trace is called by the run.
func (p *picture) Trace(s *replay.Step) {
	if p.done {
		return
	}
	p.tally.step(s)
	p.meet()
	p.look(s, len(s.Transitions) > 0 || s.End)
	for _, t := range s.Transitions {
		if r := p.routes[scenario.NewID(t.Route)]; r != nil && t.Notice == cc.NoNotice {
			r.enter(t, p.tally.since(t.At))
		}
	}
	if !s.End {
		return
	}
	if p.want == "" || p.want == s.Case {
		p.done, p.caseName = true, s.Case
		return
	}
	p.tally.next()
	p.looks = sampler{}
	clear(p.routes)
	p.order = nil
}

// meet takes in routes that are new.
func (p *picture) meet() {
	for _, counts := range p.tally.order[len(p.order):] {
		r := &drawn{counts: counts, bands: []band{{from: counts.made, state: counts.state}}}
		p.order = append(p.order, r)
		p.routes[scenario.NewID(counts.label)] = r
	}
}

func (p *picture) look(s *replay.Step, now bool) {
	at := p.tally.since(s.At)
	if !now && !p.looks.due(at) {
		return
	}
	for shown := range s.Routes() {
		if r := p.routes[shown.Route]; r != nil {
			r.look(shown, at)
		}
	}
}

func (d *drawn) enter(t replay.Transition, at time.Duration) {
	if len(d.bands) == maxBands {
		d.more++
		return
	}
	why := ""
	if t.Reason != classify.ReasonNone && t.To != cc.Probing {
		why = t.Reason.String()
	}
	if t.Verdict.Source() == classify.SourceAsyncEvent {
		why = classify.EventType(t.Verdict.Raw()).String()
	}
	d.bands = append(d.bands, band{at, t.To, why})
}

// eventful orders routes: those with the most changes first, then those with the most
// refusals, then those that carried the most.
func (p *picture) eventful() []*drawn {
	list := slices.Clone(p.order)
	slices.SortStableFunc(list, func(a, b *drawn) int {
		return cmp.Or(cmp.Compare(len(b.bands)+b.more, len(a.bands)+a.more), cmp.Compare(b.counts.held(), a.counts.held()), cmp.Compare(b.counts.delivered, a.counts.delivered))
	})
	return list
}

// held is how many admissions were held back.
func (r *routeTally) held() (n uint64) {
	for _, k := range r.refusals {
		n += k
	}
	return n
}

// plotFile draws a file.
func (r *runner) plotFile(src *source) int {
	p := newPicture(r.caseName)
	result, err := src.run("plot", replay.Options{Set: r.set, Tracer: p})
	status := 0
	switch {
	case err != nil && damaged(err) == nil:
		return r.trouble(err)
	case r.caseName != "" && !slices.Contains(result.Cases, r.caseName):
		return r.trouble(noCase(src, r.caseName, result.Cases))
	case err != nil:
		r.say("%v", err)
		status = exitMismatch
	}
	if len(p.order) == 0 {
		return r.trouble(fmt.Errorf("%s: there is no route in it, and so nothing to draw", src.name))
	}
	shown := p.eventful()
	rest := shown[min(len(shown), r.routes):]
	shown = shown[:len(shown)-len(rest)]
	if err := p.draw(r.plot, r.captions(src, p, rest), shown); err != nil {
		return r.trouble(err)
	}
	fmt.Fprintf(r.out, "%s: %s of %s", r.plot, count(len(shown), "route"), src.name)
	if p.caseName != "" {
		fmt.Fprintf(r.out, ", case %q (%d more; -case chooses)", p.caseName, len(result.Cases)-1)
	}
	if len(rest) > 0 {
		fmt.Fprintf(r.out, ", the most eventful; not drawn: %s", labels(rest))
	}
	fmt.Fprintln(r.out)
	if p.tally.end == 0 {
		r.say("%s: all of it happens at one moment, so there is little to see over time", src.name)
	}
	return status
}

// labels lists routes, as far as a line goes.
func labels(list []*drawn) string {
	const most = 8
	text := ""
	for i, d := range list[:min(len(list), most)] {
		if i > 0 {
			text += ", "
		}
		text += d.counts.label
	}
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// captions are the title and what stands below.
func (r *runner) captions(src *source, p *picture, rest []*drawn) (c [2]string) {
	c[0] = src.name
	if p.caseName != "" {
		c[0] += fmt.Sprintf(", case %q", p.caseName)
	}
	if r.set != nil {
		c[0] += ", with " + r.changes
	}
	c[1] = "seconds, as the file has them"
	if len(rest) > 0 {
		c[1] += fmt.Sprintf("; %s with fewer events not drawn", count(len(rest), "route"))
	}
	return c
}
