package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// workerFlag starts the program as one arm.
const workerFlag = "-worker"

// job is what a worker is told first. After that each line is a round, and the end of its
// input the end of the step.
type job struct {
	Step step
	Mode cc.Mode
	Seed uint64
}

// reply is what it answers: when it is set up, after each round, and when it has taken
// everything down.
type reply struct {
	// CompiledOut: a controller cannot be turned on in this program.
	CompiledOut bool    `json:",omitempty"`
	Outcome     outcome `json:",omitzero"`
	Error       string  `json:",omitempty"`
}

// serve is a worker's life.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	answers := json.NewEncoder(out)
	fail := func(err error) error {
		return errors.Join(err, answers.Encode(reply{Error: err.Error()}))
	}
	var j job
	if !lines.Scan() {
		return errors.New("no job to do")
	}
	if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
		return fail(err)
	}
	lab, err := softroce.Current()
	if err != nil {
		return fail(err)
	}
	r, err := j.Step.kind().open(ctx, lab, j.Mode, j.Seed)
	if err != nil {
		return fail(err)
	}
	if err := answers.Encode(reply{CompiledOut: compiledOut()}); err != nil {
		return err
	}
	for lines.Scan() {
		runtime.GC() // that of the rounds before is not this one's
		o, err := r.round(ctx)
		if err != nil {
			_, failed := r.close()
			return fail(errors.Join(err, failed))
		}
		if err := answers.Encode(reply{Outcome: o}); err != nil {
			return err
		}
	}
	e, err := r.close()
	if err != nil {
		return fail(err)
	}
	return answers.Encode(reply{Outcome: outcome{End: e}})
}

// compiledOut reports whether the program was built without the library's admission.
func compiledOut() bool {
	c := cc.DefaultConfig()
	c.Mode = cc.Enforce
	ctl, err := cc.New(c)
	if err != nil {
		return false
	}
	defer ctl.Close()
	return ctl.Mode() == cc.Off
}
