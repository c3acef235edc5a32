package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/internal/chaos"
)

// bubbleFlag starts the program as one that simulates: it reads schedules and writes what
// came out, a line of JSON each.
const bubbleFlag = "-bubble"

// outcome is what a simulation tells.
type outcome struct {
	Result chaos.Result
	Error  string // it could not be run
}

// simulate serves schedules, each in a bubble of fake time of its own. A bubble needs a
// test, and this is how a program becomes one; it exits at the end of the input.
func simulate(in io.Reader, out io.Writer) {
	runtime.GOMAXPROCS(1)
	testing.Init()
	_ = flag.CommandLine.Parse(nil)
	testing.Main(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "Simulate", F: func(t *testing.T) {
			schedules, answers := json.NewDecoder(in), json.NewEncoder(out)
			for {
				var s chaos.Schedule
				if err := schedules.Decode(&s); err != nil {
					return
				}
				var o outcome
				synctest.Test(t, func(t *testing.T) {
					r, err := chaos.Simulate(t.Context(), s)
					o.Result = r
					if err != nil {
						o.Error = err.Error()
					}
				})
				_ = answers.Encode(o)
			}
		}}}, nil, nil)
}

// bubble is a process that simulates. One that crashes or hangs is a broken invariant of
// the schedule that it ran, and the next one starts anew.
type bubble struct {
	ctx     context.Context
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  *head
	started bool // and not closed since
}

// patience is how long a simulated round may take, by the clock on the wall. Fake time
// does not go on while a goroutine spins.
const patience = 5 * time.Minute

func (b *bubble) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b.cmd = exec.CommandContext(b.ctx, self, bubbleFlag)
	b.stderr = &head{}
	b.cmd.Stderr = b.stderr
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	b.out = bufio.NewReaderSize(out, 1<<20)
	b.started = true
	return b.cmd.Start()
}

// run simulates a schedule.
func (b *bubble) run(s chaos.Schedule) (chaos.Result, error) {
	if !b.started {
		if err := b.start(); err != nil {
			return chaos.Result{}, err
		}
	}
	if err := json.NewEncoder(b.in).Encode(s); err != nil {
		return b.crashed(s, "")
	}
	// It prints its goroutines and ends.
	hung := time.AfterFunc(patience, func() { _ = b.cmd.Process.Signal(syscall.SIGQUIT) })
	line, err := b.out.ReadBytes('\n')
	if !hung.Stop() {
		return b.crashed(s, fmt.Sprintf("no end after %v; ", patience))
	}
	var o outcome
	if err != nil || json.Unmarshal(line, &o) != nil {
		return b.crashed(s, strings.TrimSpace(string(line)))
	}
	if o.Error != "" {
		err = errors.New(o.Error)
	}
	o.Result.Schedule = s
	return o.Result, err
}

func (b *bubble) crashed(s chaos.Schedule, how string) (chaos.Result, error) {
	b.close()
	if err := b.ctx.Err(); err != nil {
		return chaos.Result{}, context.Cause(b.ctx)
	}
	return chaos.Result{Schedule: s, Broken: []chaos.Broken{{
		Invariant: chaos.Crash, Text: how + b.stderr.String(),
	}}}, nil
}

func (b *bubble) close() {
	if b.started {
		b.started = false
		b.in.Close()
		_ = b.cmd.Wait() // its status says no more than its output
	}
}

// head keeps the beginning of what is written to it, where a crash says why.
type head struct{ text []byte }

const maxHead = 32 << 10

func (t *head) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), maxHead-len(t.text))]...)
	return len(p), nil
}

func (t *head) String() string { return string(t.text) }
