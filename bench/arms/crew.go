package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// crew is a worker for each arm of a step.
type crew []*worker

// worker is the process of an arm, seen from the one that gives out turns.
type worker struct {
	arm   arm
	cmd   *exec.Cmd
	stop  context.CancelFunc
	lines io.WriteCloser
	out   *bufio.Reader
}

// patience is how long an answer may take.
const patience = 3 * time.Minute

// hire starts the workers of a step in the given order, one after the other. The crew has
// the order of the step.
func hire(ctx context.Context, programs string, s step, places []int, seed uint64) (c crew, err error) {
	c = make(crew, len(s.Arms))
	defer func() {
		if err != nil {
			c.kill()
		}
	}()
	for _, i := range places {
		a := s.Arms[i]
		if c[i], err = start(ctx, program(programs, a.CompiledOut), a); err != nil {
			return c, fmt.Errorf("%s: %w", a.Name, err)
		}
		if err := c[i].begin(job{Step: s, Mode: a.Mode, Seed: seed}); err != nil {
			return c, fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	return c, nil
}

// begin gives a worker its job, and returns when it is set up.
func (w *worker) begin(j job) error {
	if err := json.NewEncoder(w.lines).Encode(j); err != nil {
		return err
	}
	r, err := w.answer()
	if err == nil && r.CompiledOut != w.arm.CompiledOut {
		err = fmt.Errorf("compiled out is %v in %s; build it with the other tags", r.CompiledOut, w.cmd.Path)
	}
	return err
}

func start(ctx context.Context, path string, a arm) (*worker, error) {
	ctx, stop := context.WithCancel(ctx)
	w := &worker{arm: a, cmd: exec.CommandContext(ctx, path, workerFlag), stop: stop}
	w.cmd.Stderr = os.Stderr
	var err error
	if w.lines, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	return w, w.cmd.Start()
}

// answer reads what a worker says. One that says nothing for too long is killed.
func (w *worker) answer() (r reply, err error) {
	timer := time.AfterFunc(patience, w.stop)
	defer timer.Stop()
	line, err := w.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("no answer, or not within %s: %w", patience, err)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("an answer that cannot be read: %w", err)
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

// turn has a worker do one round.
func (w *worker) turn() (outcome, error) {
	if _, err := io.WriteString(w.lines, "\n"); err != nil {
		return outcome{}, fmt.Errorf("%s: %w", w.arm.Name, err)
	}
	r, err := w.answer()
	if err != nil {
		return outcome{}, fmt.Errorf("%s: %w", w.arm.Name, err)
	}
	return r.Outcome, nil
}

// dismiss has everything taken down, one after the other, and returns what each
// controller held at the end.
func (c crew) dismiss() (ends []*end, err error) {
	defer c.kill()
	for _, w := range c {
		if err := w.lines.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", w.arm.Name, err)
		}
		r, err := w.answer()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.arm.Name, err)
		}
		ends = append(ends, r.Outcome.End)
	}
	return ends, nil
}

// kill ends the processes that are left.
func (c crew) kill() {
	for _, w := range c {
		if w == nil {
			continue
		}
		w.stop()
		_ = w.cmd.Wait() // it may well have been killed
	}
}
