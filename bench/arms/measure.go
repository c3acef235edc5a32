package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/internal/softroce"
)

// result is what a step gave. It travels from the guest as a line of JSON.
type result struct {
	Step             step
	Sittings, Rounds int
	Took             time.Duration
	Arms             []armResult
	// Fault is why it ended early; empty if it did not.
	Fault string `json:",omitempty"`
}

// armResult is what an arm did in all rounds.
type armResult struct {
	Arm string
	// Figures has a value for each round that has one, by sitting.
	Figures map[string][][]float64
	// Pooled are quantiles of the slices of all rounds.
	Pooled map[string]float64 `json:",omitempty"`
	// Series and Marks are those of the first round.
	Series         []series `json:",omitempty"`
	Marks          []mark   `json:",omitempty"`
	End            *end     `json:",omitempty"`
	Checked, Wrong int
	Notes          []string `json:",omitempty"`

	times []time.Duration
}

// add takes a round of a sitting in.
func (a *armResult) add(sitting, round int, o outcome) {
	for name, v := range o.Figures {
		for len(a.Figures[name]) <= sitting {
			a.Figures[name] = append(a.Figures[name], nil)
		}
		a.Figures[name][sitting] = append(a.Figures[name][sitting], v)
	}
	if round == 0 {
		a.Series, a.Marks = o.Series, o.Marks
	}
	a.times = append(a.times, o.Times...)
	a.End = a.End.add(o.End)
	a.Checked, a.Wrong = a.Checked+o.Checked, a.Wrong+o.Wrong
	for _, n := range o.Notes {
		a.Notes = append(a.Notes, fmt.Sprintf("round %d: %s", round+1, n))
	}
}

// pool computes quantiles of what was taken in.
func (a *armResult) pool() {
	if len(a.times) == 0 {
		return
	}
	slices.Sort(a.times)
	at := func(q float64) float64 { return ms(a.times[min(int(q*float64(len(a.times))), len(a.times)-1)]) }
	a.Pooled = map[string]float64{p50: at(0.5), p99: at(0.99)}
}

// run is all steps, in the guest.
type run struct {
	programs string
	seed     uint64
	began    time.Time
	length   time.Duration // of all steps together
	log      io.Writer
}

// measure runs the steps and reports each when it has ended. One that fails does not
// keep the others from running.
func (r *run) measure(ctx context.Context, todo []step, report func(result) error) error {
	left := 0.0
	for _, s := range todo {
		left += s.Share
	}
	for _, s := range todo {
		until := time.Now().Add(time.Duration(float64(r.length-time.Since(r.began)) * s.Share / left))
		left -= s.Share
		res := r.step(ctx, s, until)
		if res.Fault != "" {
			r.say("%s: %s", s.Name, res.Fault)
		}
		if err := report(res); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (r *run) say(format string, args ...any) {
	fmt.Fprintf(r.log, "arms: %4.0f of %.0f s: %s\n", time.Since(r.began).Seconds(), r.length.Seconds(), fmt.Sprintf(format, args...))
}

// leastSitting is about the shortest sitting that is worth its set-up.
const leastSitting = 20 * time.Second

// step divides its time among its sittings.
func (r *run) step(ctx context.Context, s step, until time.Time) (res result) {
	began := time.Now()
	res = result{Step: s}
	for _, a := range s.Arms {
		res.Arms = append(res.Arms, armResult{Arm: a.Name, Figures: map[string][][]float64{}})
	}
	res.Sittings = max(1, min(s.Sittings, int(time.Until(until)/leastSitting)))
	for i := range res.Sittings {
		share := time.Until(until) / time.Duration(res.Sittings-i)
		if err := r.sit(ctx, &res, i, time.Now().Add(share)); err != nil {
			res.Fault = fmt.Sprintf("sitting %d: %v", i+1, err)
			break
		}
	}
	for i := range res.Arms {
		res.Arms[i].pool()
	}
	res.Took = time.Since(began)
	return res
}

// sit sets the arms up, in an order of its own, and gives them turns until the time is
// over.
func (r *run) sit(ctx context.Context, res *result, sitting int, until time.Time) error {
	if err := prepare(); err != nil {
		return err
	}
	s := res.Step
	places := order(r.seed, s.Name+" begins", sitting, len(s.Arms))
	c, err := hire(ctx, r.programs, s, places, r.seed)
	if err != nil {
		return err
	}
	if err := r.rounds(c, res, sitting, until); err != nil {
		c.kill()
		return err
	}
	ends, err := c.dismiss()
	for i, e := range ends {
		res.Arms[i].End = res.Arms[i].End.add(e)
	}
	return err
}

// sayEvery is how often there is news of a step.
const sayEvery = 10 * time.Second

// rounds gives each arm its turn again and again, at least as often as the step wants.
// A round in which an arm failed does not count.
func (r *run) rounds(c crew, res *result, sitting int, until time.Time) error {
	s, said := res.Step, time.Time{}
	for here := 1; ; here++ {
		began := time.Now()
		did := make([]outcome, len(c))
		for _, i := range order(r.seed, s.Name, res.Rounds, len(c)) {
			var err error
			if did[i], err = c[i].turn(); err != nil {
				return fmt.Errorf("round %d: %w", res.Rounds+1, err)
			}
		}
		for i := range did {
			res.Arms[i].add(sitting, res.Rounds, did[i])
		}
		res.Rounds++
		took := time.Since(began)
		over := here >= s.Least && time.Now().Add(took).After(until)
		if over || time.Since(said) > sayEvery {
			said = time.Now()
			r.say("%s: round %d in %.1f s; sitting %d of %d, %s to go", s.Name, res.Rounds, took.Seconds(), sitting+1, res.Sittings, max(0, time.Until(until)).Round(time.Second))
		}
		if over {
			return nil
		}
	}
}

// prepare brings the fabric of the guest in order, whoever disturbed it. It loses only what
// a step has it lose.
func prepare() error {
	lab, err := softroce.Current()
	if err != nil {
		return err
	}
	return errors.Join(lab.Heal(), lab.KeepOrder(), lab.RoomyBacklog())
}
