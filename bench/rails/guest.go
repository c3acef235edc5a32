package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// agentFlag starts the program as the guest's agent, see softroce.Config.
const agentFlag = "-agent"

// guestLimit bounds a run in the guest.
const guestLimit = time.Hour

// inGuest runs this program with the same arguments in the guest, and returns the
// steps that it reported, also when it failed afterwards.
func inGuest(ctx context.Context, args []string, stderr io.Writer) (steps []step, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("own path: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	image, err := softroce.Prepare(ctx, stderr)
	if err != nil {
		return nil, err
	}
	var stdout bytes.Buffer
	status, err := softroce.Run(ctx,
		softroce.Config{Agent: self, NICs: twohost.NICs, TimeLimit: guestLimit, Progress: stderr},
		image,
		softroce.Command{Args: append([]string{self}, args...), Dir: dir, Env: os.Environ()},
		&stdout, stderr)
	if err == nil && status != 0 {
		err = fmt.Errorf("the program in the guest ended with status %d", status)
	}
	lines := bufio.NewScanner(&stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var s step
		if bad := json.Unmarshal(lines.Bytes(), &s); bad != nil {
			return steps, fmt.Errorf("output of the program in the guest: %w", bad)
		}
		steps = append(steps, s)
	}
	return steps, err
}
