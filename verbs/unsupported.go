//go:build !linux || !cgo || 386 || arm || mips || mipsle

package verbs

import (
	"errors"
	"runtime"
)

// unsupported is the error of a build that cannot reach libibverbs.
func unsupported(call string) error {
	return &Error{
		Call:   call,
		Reason: "this program was built for " + runtime.GOOS + "/" + runtime.GOARCH + " without libibverbs",
		Remedy: "build it for 64-bit Linux with CGO_ENABLED=1 and the headers of rdma-core (libibverbs-dev)",
		Err:    errors.ErrUnsupported,
	}
}
