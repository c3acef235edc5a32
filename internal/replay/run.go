package replay

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// Options say how to run.
type Options struct {
	// Set changes the configuration after all that the file says: a set statement, see
	// [ParseSet]. What the file expects is compared then, and a difference has an excuse.
	Set *scenario.Statement
	// Tracer is told of every statement. Nil: nobody is.
	Tracer Tracer
	// Patience is how long, by the real clock, a goroutine that waits may take to do what
	// it has to do at once; 10 s if 0. Each time that it is exhausted the run has a tenth of
	// it left, so that many mistakes take no longer than one.
	Patience time.Duration
}

// ParseSet reads fields of the configuration as a set statement has them, such as
// "mode=observe cooldown=10s".
func ParseSet(text string) (*scenario.Statement, error) {
	list, err := scenario.Parse("scenario 1\nset " + text + "\n")
	var fault *scenario.Fault
	switch {
	case errors.As(err, &fault):
		return nil, fmt.Errorf("replay: set %s: %s", text, fault.Text)
	case len(list) != 1 || list[0].Kind != scenario.Set:
		return nil, fmt.Errorf("replay: set %.40q: give one line of fields, such as mode=observe cooldown=10s", text)
	}
	return &list[0], nil
}

// maxHead is how many statements may stand before the first case: they are kept.
const maxHead = 1 << 16

// Run runs what it reads. The error is of the reader: the faults of a text, and then
// nothing is known, or the damage of a binary file, and then the result is that of what
// could be read.
func Run(r *scenario.Reader, o Options) (*Result, error) {
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	run := &run{in: r, options: o, result: &Result{}}
	run.watcher, _ = o.Tracer.(Watcher)
	err := run.all()
	if err == io.EOF {
		err = nil
	}
	return run.result, err
}

type run struct {
	in      *scenario.Reader
	options Options
	watcher Watcher // the tracer, if it is one
	result  *Result
	next    scenario.Statement
}

// read reads the next statement. When there is a fault it reads on, so that all are told.
func (r *run) read() error {
	err := r.in.Next(&r.next)
	if err == nil || err == io.EOF || r.in.Format() == scenario.Binary {
		return err
	}
	var faults scenario.Faults
	faults.Add(err)
	for {
		switch err := r.in.Next(&r.next); {
		case err == io.EOF:
			return faults.Err()
		case err != nil:
			faults.Add(err)
		}
	}
}

// all runs the file: what stands before the first case, and each case with that before it.
func (r *run) all() error {
	var head []scenario.Statement
	err := r.read()
	for ; err == nil && r.next.Kind != scenario.Case; err = r.read() {
		head = append(head, clone(&r.next))
		if r.next.Kind == scenario.Recording || len(head) == maxHead {
			return r.world(head, "", nil)
		}
	}
	if err != nil && err != io.EOF {
		return err
	}
	if err == io.EOF {
		return r.world(head, "", nil)
	}
	for err == nil {
		c := clone(&r.next)
		err = r.world(head, c.Text("name"), &c)
	}
	return err
}

// world runs a head and what follows it up to the next case, or to the end.
func (r *run) world(head []scenario.Statement, name string, c *scenario.Statement) error {
	w := newWorld(r, name)
	if c != nil {
		r.result.Cases = append(r.result.Cases, name)
		w.overrides = append(w.overrides, c.Args...)
	}
	if r.options.Set != nil {
		w.overrides = append(w.overrides, r.options.Set.Args...)
		w.excuse = "the configuration was changed"
	}
	for i := range head {
		w.run(&head[i])
	}
	if c != nil {
		w.run(c)
	}
	err := r.read()
	for ; err == nil && (r.next.Kind != scenario.Case || c == nil); err = r.read() {
		w.run(&r.next)
	}
	if err == nil || err == io.EOF || r.in.Format() == scenario.Binary {
		if err != nil && err != io.EOF { // the call of what was told is cut off
			w.expects = nil
		}
		w.finish()
	} else {
		w.releaseWaiters(func(*permit) {})
	}
	return err
}

func clone(s *scenario.Statement) scenario.Statement {
	c := *s
	c.Args, c.Answer = slices.Clone(s.Args), slices.Clone(s.Answer)
	return c
}
