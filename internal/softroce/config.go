package softroce

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// Defaults of [Config].
const (
	DefaultNICs      = 2
	DefaultMemoryMiB = 2048
	DefaultCPUs      = 2
	DefaultBootLimit = 3 * time.Minute
	DefaultTimeLimit = 10 * time.Minute
)

// Config says how a guest is booted. A zero number stands for its default.
type Config struct {
	// Agent is the absolute path of the program that lays out the NICs and
	// runs the command inside the guest, and is called there as "Agent -agent".
	// It must end in a call of [ServeAgent]. Required.
	Agent string

	// NICs is the number of NICs on each of the two sides, 1 to [MaxNICs].
	NICs int

	// MemoryMiB is the guest's memory in MiB, at least 512. Files written in
	// the guest live there too.
	MemoryMiB int

	// CPUs is the number of virtual processors, 1 to 64.
	CPUs int

	// BootLimit bounds the time from start to the start of the command.
	BootLimit time.Duration

	// TimeLimit bounds the run of the command.
	TimeLimit time.Duration

	// Tries is the number of guests to boot, one after the other, where one is lost
	// before the command ends. A command that ended is not run again, whatever its
	// status. 0 stands for 1.
	Tries int

	// Share is an absolute host directory in which the guest's writes reach
	// the host, under the same path. Empty means that no write does.
	Share string

	// QEMU is the emulator to run; empty means qemu-system-x86_64 in PATH.
	QEMU string

	// Progress receives one line for each slow step; nil means silence.
	Progress io.Writer

	// powerOffGrace is how long a guest whose command has ended may take to
	// power off before it is killed.
	powerOffGrace time.Duration
}

// withDefaults returns c with the defaults in place of zero numbers.
func (c Config) withDefaults() Config {
	setDefault(&c.NICs, DefaultNICs)
	setDefault(&c.MemoryMiB, DefaultMemoryMiB)
	setDefault(&c.CPUs, DefaultCPUs)
	setDefault(&c.BootLimit, DefaultBootLimit)
	setDefault(&c.TimeLimit, DefaultTimeLimit)
	setDefault(&c.Tries, 1)
	setDefault(&c.powerOffGrace, 3*time.Second)
	setDefault(&c.QEMU, "qemu-system-x86_64")
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate reports every fault of c at once, or nil.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("softroce: "+format, args...))
	}
	if err := checkNICs(c.NICs); err != nil {
		faults = append(faults, err)
	}
	if c.MemoryMiB < 512 {
		fault("memory of %d MiB is too small for the guest: give at least 512", c.MemoryMiB)
	}
	if c.CPUs < 1 || c.CPUs > 64 {
		fault("%d processors asked for: give 1 to 64", c.CPUs)
	}
	if c.Tries < 1 {
		fault("%d tries asked for: give at least 1", c.Tries)
	}
	if c.BootLimit < 0 || c.TimeLimit < 0 {
		fault("time limits of %v (boot) and %v (command): give positive ones", c.BootLimit, c.TimeLimit)
	}
	if !filepath.IsAbs(c.Agent) || strings.ContainsAny(c.Agent, "\"\n") {
		fault("agent path %q: give an absolute path without quotes and line ends", c.Agent)
	}
	if c.Share != "" && (!filepath.IsAbs(c.Share) || strings.Contains(c.Share, ",")) {
		fault("shared directory %q: give an absolute path without commas", c.Share)
	}
	return errors.Join(faults...)
}

func (c Config) progress(format string, args ...any) {
	fmt.Fprintf(c.Progress, "softroce: "+format+"\n", args...)
}
