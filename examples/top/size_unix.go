//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/rdmagate/rdmagate/examples/top/screen"
)

// sizeSignals tell that a terminal has another size.
var sizeSignals = []os.Signal{unix.SIGWINCH}

// windowSize returns a terminal's size, and whether f is one.
func windowSize(f *os.File) (screen.Size, bool) {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return screen.Size{}, false
	}
	return screen.Size{Columns: int(w.Col), Rows: int(w.Row)}, true
}
