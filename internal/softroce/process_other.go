//go:build !linux

package softroce

import (
	"errors"
	"os"
	"os/exec"
)

var errNotLinux = errors.New("softroce: the guest needs a Linux host")

func runBound(*exec.Cmd) error { return errNotLinux }

func lockFile(string) (*os.File, error) { return nil, errNotLinux }
