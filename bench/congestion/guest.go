package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rdmagate/rdmagate/internal/softroce"
)

// agentFlag starts the program as the guest's agent, see softroce.Config.
const agentFlag = "-agent"

// guestLimit bounds a run in the guest.
const guestLimit = time.Hour

// measureInGuest runs this program with the same arguments in a guest, and returns what
// it found there.
func measureInGuest(ctx context.Context, progress io.Writer) (found findings, err error) {
	if err := softroce.Install(ctx, progress); err != nil {
		return found, err
	}
	image, err := softroce.Prepare(ctx, progress)
	if err != nil {
		return found, err
	}
	self, err := os.Executable()
	if err != nil {
		return found, fmt.Errorf("own path: %w", err)
	}
	var stdout bytes.Buffer
	status, err := softroce.Run(ctx,
		softroce.Config{Agent: self, NICs: senders, TimeLimit: guestLimit, Progress: progress},
		image,
		softroce.Command{Args: append([]string{self}, os.Args[1:]...), Dir: "/", Env: os.Environ()},
		&stdout, progress)
	if err != nil {
		return found, err
	}
	if status != 0 {
		return found, fmt.Errorf("the run in the guest ended with status %d", status)
	}
	if err := json.Unmarshal(stdout.Bytes(), &found); err != nil {
		return found, fmt.Errorf("what the run in the guest printed: %w", err)
	}
	return found, nil
}
