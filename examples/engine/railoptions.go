package main

import (
	"fmt"
	"os"

	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/rail"
)

// railOptions say which pairs of NICs may be used.
type railOptions struct {
	name       string // of the rail file
	file       *rail.File
	ipv4, ipv6 int
}

// read reads the rail file, if there is one.
func (r *railOptions) read() error {
	if r.ipv4 < 0 || r.ipv4 > 32 || r.ipv6 < 0 || r.ipv6 > 128 {
		return fmt.Errorf("%w: -prefix %d -prefix6 %d: the first must be 0 to 32, the second 0 to 128", errUsage, r.ipv4, r.ipv6)
	}
	if r.name == "" {
		return nil
	}
	f, err := os.Open(r.name)
	if err != nil {
		return fmt.Errorf("%w: -rails: %w", errUsage, err)
	}
	defer f.Close()
	if r.file, err = rail.ParseFile(f); err != nil {
		return fmt.Errorf("%w: -rails %s: %w", errUsage, r.name, err)
	}
	return nil
}

// engineOptions returns what an engine has to know.
func (r *railOptions) engineOptions() []transfer.Option {
	return []transfer.Option{transfer.WithRails(r.file), transfer.WithPrefix(r.ipv4, r.ipv6)}
}
