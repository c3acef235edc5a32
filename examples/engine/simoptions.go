package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// incastTime is how long the senders of -incast write, and then pause.
const incastTime = 3 * time.Second

// simOptions change the simulated fabric, so that windows have more to do.
type simOptions struct {
	incast int
	buffer size
}

func (s *simOptions) flags(f *flag.FlagSet) {
	f.IntVar(&s.incast, "incast", 0, "`senders` that write to the peer's first NIC 3 s of every 6 s without asking, with -fabric sim")
	f.Var(&s.buffer, "buffer", "`bytes` of buffer of a switch that drops what it has no room for, with -fabric sim; 0 is one that pauses the senders")
}

// maxIncast is more than a demonstration can be watched with.
const maxIncast = 64

// validate checks the flags, given the kind of fabric that was asked for.
func (s *simOptions) validate(fabric string) error {
	switch {
	case *s != simOptions{} && fabric != "sim":
		return fmt.Errorf("%w: -incast and -buffer are for -fabric sim", errUsage)
	case s.incast < 0 || s.incast > maxIncast:
		return fmt.Errorf("%w: -incast %d: must be 0 to %d", errUsage, s.incast, maxIncast)
	case s.buffer > 1<<30 || s.buffer > 0 && s.buffer < 16<<10:
		return fmt.Errorf("%w: -buffer %d: must be 0, or 16K to 1G", errUsage, s.buffer)
	}
	return nil
}

// config returns the switch: with pauses and 1 MiB, or lossy with what was asked for.
func (s *simOptions) config() fabric.SwitchConfig {
	if s.buffer == 0 {
		return fabric.SwitchConfig{Buffer: 1 << 20}
	}
	return fabric.SwitchConfig{Buffer: int64(s.buffer), Lossy: true}
}

// paceText says that the fabric was slower than the clock, if it was by much.
func paceText(behind, of time.Duration) string {
	if behind*20 < of {
		return ""
	}
	return fmt.Sprintf("stood still for %s of %s: too slow a machine; read the rates with care", timeText(behind), timeText(of))
}
