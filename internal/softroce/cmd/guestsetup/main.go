// Guestsetup installs the Debian packages that the Soft-RoCE guest and
// libibverbs programs need, and those named as arguments, and prepares the
// guest. With nothing missing it needs no rights and takes a moment.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rdmagate/rdmagate/internal/softroce"
)

func main() {
	packagesOnly := flag.Bool("packages-only", false, "install packages, leave the guest for later")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := setup(ctx, *packagesOnly, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func setup(ctx context.Context, packagesOnly bool, also []string) error {
	if err := softroce.Install(ctx, os.Stderr, also...); err != nil || packagesOnly {
		return err
	}
	_, err := softroce.Prepare(ctx, os.Stderr)
	return err
}
