package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/internal/softroce"
)

// agentFlag starts the program as the guest's agent, see softroce.Config.
const agentFlag = "-agent"

// guestLimit bounds a run in the guest.
const guestLimit = 5 * time.Minute

// guestReady returns nil if this machine can run the guest, after installing what
// is missing where that is possible, and else why not.
func guestReady(ctx context.Context, stderr io.Writer) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("this is %s, the guest needs Linux", runtime.GOOS)
	}
	missing, err := softroce.MissingPackages(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 && os.Geteuid() != 0 {
		return fmt.Errorf("packages are missing and only root can install them: %s", strings.Join(missing, " "))
	}
	if err := softroce.Install(ctx, stderr); err != nil {
		return err
	}
	_, err = softroce.Prepare(ctx, stderr)
	return err
}

// runInGuest runs this program with the same arguments in the guest. started says
// whether it wrote anything there: if not, something else may be tried. What it records
// there gets to this machine.
func runInGuest(ctx context.Context, args []string, record recordOptions, stdout, stderr io.Writer) (started bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, fmt.Errorf("own path: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return false, fmt.Errorf("working directory: %w", err)
	}
	image, err := softroce.Prepare(ctx, stderr)
	if err != nil {
		return false, err
	}
	recorded, err := record.inGuest()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, recorded.end()) }()
	args = append(args, recorded.args()...)
	fmt.Fprintln(stderr, "engine: booting a guest with Soft-RoCE devices, about 20 s")
	out := &watched{w: stdout}
	status, err := softroce.Run(ctx,
		softroce.Config{Agent: self, NICs: 2, TimeLimit: guestLimit, Share: recorded.dir, Progress: stderr},
		image,
		softroce.Command{Args: append([]string{self}, args...), Dir: dir, Env: os.Environ()},
		out, stderr)
	switch {
	case err != nil:
		return out.written, err
	case status != 0:
		return true, exitStatus(status)
	}
	return true, nil
}

// watched remembers whether anything was written.
type watched struct {
	w       io.Writer
	written bool
}

func (o *watched) Write(p []byte) (int, error) {
	o.written = true
	return o.w.Write(p)
}
