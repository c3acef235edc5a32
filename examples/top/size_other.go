//go:build !unix

package main

import (
	"os"

	"github.com/rdmagate/rdmagate/examples/top/screen"
)

var sizeSignals []os.Signal

// windowSize knows no terminal here: frames follow each other.
func windowSize(*os.File) (screen.Size, bool) { return screen.Size{}, false }
