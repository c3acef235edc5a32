package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// scenario is one kind of overload.
type scenario struct {
	name, what string
	run        func(*check)
}

func scenarios() []scenario {
	return []scenario{
		{"peers", "a million peers come and go", peers},
		{"routes", "a hundred thousand routes at once", routes},
		{"task", "a task that fails for a day", task},
		{"events", "storms of asynchronous events", events},
		{"clocks", "clocks that jump", clocks},
		{"sizes", "hostile numbers, names and endpoints", sizes},
		{"pauses", "a table full of pauses that run", pauses},
		{"waiters", "a hundred thousand goroutines wait for one route", waiters}, // last: Go keeps what goroutines were
	}
}

// check is one case while it runs, and then what came out.
type check struct {
	scenario
	scale   float64
	figures []figure
	series  []series
	rules   int // that were looked at and held
	took    time.Duration
	broken  error // the rule that did not hold

	progress io.Writer // nil if nobody looks
	shown    int
}

// figure is one thing that was measured.
type figure struct {
	name  string
	value float64
	unit  unit
	limit float64 // 0 if there is none
	least bool    // the limit is the least that it may be
}

// series is a line of a plot.
type series struct {
	plot  string // what is drawn, and the file's name
	name  string
	x, y  string // labels
	steps []point
}

type point struct{ x, y float64 }

// stop ends a case.
type stop struct{ rule error }

// check runs the case.
func (s scenario) check(scale float64, stderr io.Writer) *check {
	c := &check{scenario: s, scale: scale}
	if f, ok := stderr.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			c.progress = stderr
		}
	}
	fmt.Fprintf(stderr, "%s: %s\n", s.name, s.what)
	began := time.Now()
	c.rescue()
	c.took = time.Since(began)
	if c.progress != nil {
		fmt.Fprint(c.progress, "\r\033[K")
	}
	verdict := "all hold"
	if c.broken != nil {
		verdict = "BROKEN: " + c.broken.Error()
	}
	fmt.Fprintf(stderr, "%s: %d rules in %.1f s, %s\n", s.name, c.rules, c.took.Seconds(), verdict)
	return c
}

// rescue runs the case up to the first rule that is broken.
func (c *check) rescue() {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			c.broken = r.rule
		default:
			panic(r)
		}
	}()
	c.run(c)
}

// at says how far the case is, 0 to 1.
func (c *check) at(done float64) {
	if percent := int(100 * done); c.progress != nil && percent != c.shown {
		c.shown = percent
		fmt.Fprintf(c.progress, "\r%s: %d%%", c.name, percent)
	}
}

// n returns a count at the run's scale, and not less than least.
func (c *check) n(full, least int) int { return max(int(float64(full)*c.scale), least) }

// must ends the case if a rule does not hold. What follows the rule is the value.
func (c *check) must(holds bool, rule string, format string, args ...any) {
	if !holds {
		panic(stop{fmt.Errorf("%s: %s: %s", c.name, rule, fmt.Sprintf(format, args...))})
	}
	c.rules++
}

// works ends the case if a call that has to succeed did not.
func (c *check) works(err error, call string) {
	if err != nil {
		c.must(false, call+" works", "%v", err)
	}
}

// equal ends the case if a value is not what a rule says.
func equal[T comparable](c *check, want, got T, rule string, args ...any) {
	if want != got {
		c.must(false, fmt.Sprintf(rule, args...), "%v, must be %v", got, want)
	}
	c.rules++
}

// shows keeps a figure that has no limit.
func (c *check) shows(name string, value float64, u unit) {
	c.figures = append(c.figures, figure{name: name, value: value, unit: u})
}

// atMost keeps a figure, and ends the case if it is above its limit.
func (c *check) atMost(limit float64, name string, value float64, u unit) {
	f := figure{name: name, value: value, unit: u, limit: limit}
	c.figures = append(c.figures, f)
	c.must(value <= limit, name, "%s, must be at most %s", u.text(value), u.text(limit))
}

// atLeast keeps a figure, and ends the case if it is below its limit.
func (c *check) atLeast(limit float64, name string, value float64, u unit) {
	f := figure{name: name, value: value, unit: u, limit: limit, least: true}
	c.figures = append(c.figures, f)
	c.must(value >= limit, name, "%s, must be at least %s", u.text(value), u.text(limit))
}

// draws keeps a line of a plot.
func (c *check) draws(s series) { c.series = append(c.series, s) }
