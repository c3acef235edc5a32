package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
)

// report is what a person reads of the findings.
type report struct {
	machine machine.Machine
	seed    uint64
	findings
}

// origin says where the figures come from.
func (rep report) origin() string {
	return fmt.Sprintf("Soft-RoCE in an emulated guest with Linux %s; seed %d; %s", rep.Kernel, rep.seed, rep.machine)
}

// faults joins why steps ended early, and what arrived wrong.
func (rep report) faults() error {
	var list []error
	for _, r := range rep.Results {
		if r.Fault != "" {
			list = append(list, fmt.Errorf("%s: %s", r.Step.Name, r.Fault))
		}
		for _, a := range r.Arms {
			if a.End != nil && a.End.InFlight != 0 {
				list = append(list, fmt.Errorf("%s, %s: %d bytes are in flight at the end", r.Step.Name, a.Arm, a.End.InFlight))
			}
		}
	}
	return errors.Join(list...)
}

// page is the report as both of its forms have it.
type page struct {
	Origin   string
	Goals    []goalRow
	Overview *image
	Sections []section
}

type goalRow struct{ Step, Goal, Ratio, Verdict string }

type section struct {
	Name, Setup, Rounds, Fault string
	Arms                       []string
	Rows                       []row
	Notes                      []string
	Image                      *image
}

// row is a figure, or something else that each arm has.
type row struct {
	Figure, Unit string
	Cells        []cell
}

// cell is the median of the rounds, or what the slices of all rounds say together, and its
// ratio to the first arm.
type cell struct{ Value, Ratio string }

// page puts the report together.
func (rep report) page() (p page, err error) {
	p.Origin = rep.origin()
	if p.Overview, err = rep.overview(); err != nil {
		return p, fmt.Errorf("cannot draw the overview: %w", err)
	}
	all := rep.together()
	for _, r := range append(rep.Results[:len(rep.Results):len(rep.Results)], all...) {
		for _, g := range r.Step.Goals {
			p.Goals = append(p.Goals, r.goalRow(g))
		}
	}
	for _, r := range rep.Results {
		s := r.section()
		if s.Image, err = rep.overTime(r); err != nil {
			return p, fmt.Errorf("cannot draw %s: %w", r.Step.Name, err)
		}
		p.Sections = append(p.Sections, s)
	}
	return p, nil
}

// together takes all sittings of the steps in bulk for those of one, which can tell more
// than each. There is none of less than two steps.
func (rep report) together() []result {
	sum, n := result{Step: step{Name: "bulk/all"}}, 0
	for _, r := range rep.Results {
		if r.Step.Bulk == nil || len(r.Step.Goals) == 0 {
			continue
		}
		sum.Step.Goals = r.Step.Goals
		for _, a := range r.Arms {
			i := slices.IndexFunc(sum.Arms, func(b armResult) bool { return b.Arm == a.Arm })
			if i < 0 {
				i = len(sum.Arms)
				sum.Arms = append(sum.Arms, armResult{Arm: a.Arm, Figures: map[string][][]float64{}})
			}
			sum.Arms[i].Figures[throughput] = append(sum.Arms[i].Figures[throughput], a.Figures[throughput]...)
		}
		n++
	}
	if n < 2 {
		return nil
	}
	return []result{sum}
}

// goalRow holds a goal against what was measured.
func (r result) goalRow(g goal) goalRow {
	row := goalRow{Step: r.Step.Name, Goal: g.String(), Ratio: "-", Verdict: string(unknown)}
	i, ok := ratios(r.arm(g.Arm).Figures[g.Figure], r.arm(g.Versus).Figures[g.Figure])
	if ok {
		row.Ratio, row.Verdict = i.String(), string(g.judge(i))
	}
	return row
}

func (r result) arm(name string) armResult {
	for _, a := range r.Arms {
		if a.Arm == name {
			return a
		}
	}
	return armResult{}
}

func (r result) section() section {
	s := section{
		Name: r.Step.Name, Setup: r.Step.kind().Setup(), Fault: r.Fault,
		Rounds: fmt.Sprintf("%d rounds, sittings %d, in %s.", r.Rounds, r.Sittings, r.Took.Round(time.Second)),
	}
	for _, a := range r.Arms {
		s.Arms = append(s.Arms, a.Arm)
		for _, n := range a.Notes {
			s.Notes = append(s.Notes, a.Arm+", "+n)
		}
	}
	for _, f := range r.Step.kind().Figures() {
		s.Rows = append(s.Rows, r.row(f))
	}
	s.Rows = append(s.Rows,
		r.text("payload, wrong of compared", func(a armResult) string { return fmt.Sprintf("%d of %d", a.Wrong, a.Checked) }),
		r.text("controller at the end", func(a armResult) string {
			if a.End == nil {
				return "-"
			}
			return fmt.Sprintf("mode %s, %d bytes in flight, routes %s", a.End.Mode, a.End.InFlight, counts(a.End.States))
		}),
		r.text("refusals, by reason", func(a armResult) string {
			if a.End == nil {
				return "-"
			}
			return counts(a.End.Refusals)
		}))
	return s
}

// leastRounds is of how many rounds a ratio is worth a place in a table.
const leastRounds = 3

// row has what each arm gave for a figure.
func (r result) row(f figure) row {
	w := row{Figure: f.Name, Unit: f.Unit}
	for k, a := range r.Arms {
		c := cell{Value: "-"}
		values := a.Figures[f.Name]
		if v, ok := a.Pooled[f.Name]; ok {
			c.Value = number(v)
		} else if len(values) > 0 {
			c.Value = number(median(slices.Concat(values...)))
		}
		if i, ok := ratios(values, r.Arms[0].Figures[f.Name]); ok && k > 0 && r.Rounds >= leastRounds {
			c.Ratio = i.String()
		}
		w.Cells = append(w.Cells, c)
	}
	return w
}

func (r result) text(name string, say func(armResult) string) row {
	w := row{Figure: name}
	for _, a := range r.Arms {
		w.Cells = append(w.Cells, cell{Value: say(a)})
	}
	return w
}

// counts lists how many there are of each kind.
func counts[N int | uint64](m map[string]N) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (i interval) String() string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", i.Mean, i.Low, i.High)
}

// number writes three digits, or all before the point.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v == 0:
		return "0"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
