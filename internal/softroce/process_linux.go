package softroce

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// runBound runs a command that the kernel kills if this process dies, however
// that happens. The error carries what the command wrote to its standard error.
func runBound(cmd *exec.Cmd) error {
	// The signal comes at the end of the thread that started the command.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = outputGrace
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Path, err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// lockFile takes an exclusive lock on the file, creating it, and waits until
// no other process holds it. The lock ends with the returned file's Close.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, &os.PathError{Op: "flock", Path: path, Err: err}
	}
	return f, nil
}
