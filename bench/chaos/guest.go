package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rdmagate/rdmagate/internal/chaos"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// agentFlag starts the program as the guest's agent, see softroce.Config.
const agentFlag = "-agent"

// inGuest has this program run the rounds in the guest, and returns what it reported, also
// when it failed afterwards.
func (o *options) inGuest(ctx context.Context, args []string, plans []chaos.Schedule) (results []chaos.Result, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("own path: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	image, err := softroce.Prepare(ctx, o.stderr)
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	read := make(chan error, 1)
	go func() {
		lines := bufio.NewReader(out)
		for d := json.NewDecoder(lines); ; {
			var r chaos.Result
			if err := d.Decode(&r); err != nil {
				_, _ = io.Copy(io.Discard, out)
				if errors.Is(err, io.EOF) {
					err = nil
				}
				read <- err
				return
			}
			results = append(results, r)
		}
	}()
	status, err := softroce.Run(ctx,
		softroce.Config{Agent: self, NICs: plans[0].Setup.NICs, MemoryMiB: 3072, TimeLimit: o.run + 5*time.Minute, Tries: 2, Progress: o.stderr}, image,
		softroce.Command{Args: append([]string{self}, args...), Dir: dir, Env: os.Environ()}, in, o.stderr)
	in.Close()
	if bad := <-read; bad != nil {
		err = errors.Join(err, fmt.Errorf("output of the program in the guest: %w", bad))
	}
	if err == nil && status != 0 {
		err = fmt.Errorf("the program in the guest ended with status %d", status)
	}
	return results, err
}

// warm is how long the load runs in the guest before the first fault.
const warm = 15 * time.Second

// rounds runs one round after the other on one site, and writes the result of each as
// JSON. With a time to run, the last round ends before it is over.
func (o *options) rounds(ctx context.Context, plans []chaos.Schedule, stdout io.Writer) (err error) {
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(o.stderr, "chaos: %4.0f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	bed, err := chaos.OpenGuestBed(plans[0].Setup)
	if err != nil {
		return err
	}
	s, err := chaos.Start(ctx, bed, plans[0].Setup, chaos.Options{Seed: plans[0].Seed})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	say("all endpoints are up")
	if err := s.Warm(ctx, plans[0], warm); err != nil {
		return err
	}
	say("warm")
	out := json.NewEncoder(stdout)
	for _, plan := range plans {
		r, err := s.Round(ctx, plan)
		if err != nil {
			return err
		}
		say("seed %d: %d faults, %d transfers, slowest recovery %v of %v, %d broken", plan.Seed, len(plan.Faults),
			r.Done.Puts+r.Done.Gets, r.Slowest, r.Bound, len(r.Broken))
		for _, b := range r.Broken {
			say("%v", b)
		}
		if err := out.Encode(r); err != nil {
			return err
		}
		if o.run > 0 && time.Since(began)+time.Duration(r.Took) > o.run {
			break
		}
	}
	return nil
}
