package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// agentFlag starts the program as the guest's agent, see softroce.Config.
const agentFlag = "-agent"

// inGuest builds the programs, runs this command with the same arguments in the guest,
// and returns the steps that it reported, also when it failed afterwards.
func inGuest(ctx context.Context, length time.Duration, args []string, log io.Writer) (found findings, err error) {
	if err := softroce.Install(ctx, log); err != nil {
		return found, err
	}
	folder, err := os.MkdirTemp("", "arms-")
	if err != nil {
		return found, fmt.Errorf("folder of the programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fmt.Fprintln(log, "arms: building the engine with and without", offTag)
	if err := build(ctx, folder); err != nil {
		return found, err
	}
	image, err := softroce.Prepare(ctx, log)
	if err != nil {
		return found, err
	}
	self := program(folder, false)
	var stdout bytes.Buffer
	status, err := softroce.Run(ctx,
		softroce.Config{Agent: self, NICs: twohost.NICs, TimeLimit: length + length/2 + 10*time.Minute, Progress: log},
		image,
		softroce.Command{Args: append([]string{self, "-programs", folder}, args...), Dir: "/", Env: os.Environ()},
		&stdout, log)
	if err == nil && status != 0 {
		err = fmt.Errorf("the program in the guest ended with status %d", status)
	}
	lines := bufio.NewScanner(&stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l line
		if bad := json.Unmarshal(lines.Bytes(), &l); bad != nil {
			return found, errors.Join(err, fmt.Errorf("output of the program in the guest: %w", bad))
		}
		if found.Kernel = l.Kernel; l.Result != nil {
			found.Results = append(found.Results, *l.Result)
		}
	}
	return found, err
}

// line is one of what the guest prints.
type line struct {
	Kernel string
	Result *result
}

// findings is what was measured.
type findings struct {
	Kernel  string
	Results []result
}
