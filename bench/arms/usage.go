package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// cost is processor time.
type cost struct {
	// Process is user and system time of the process. What the devices are emulated with is in
	// it as far as it happened to run in its place.
	Process time.Duration
	// Guest is what all processors of the machine were busy, whoever for.
	Guest time.Duration
}

// spent returns the processor time so far.
func spent() (c cost, err error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return c, os.NewSyscallError("getrusage", err)
	}
	c.Process = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return c, fmt.Errorf("processor time of the machine: %w", err)
	}
	c.Guest, err = busy(stat)
	return c, err
}

// tick is the unit of /proc/stat.
const tick = 10 * time.Millisecond

// busy reads from /proc/stat how long the processors worked, all together.
func busy(stat []byte) (time.Duration, error) {
	first, _, _ := bytes.Cut(stat, []byte("\n"))
	var user, nice, system, idle, wait, hard, soft int64
	if _, err := fmt.Fscanf(strings.NewReader(string(first)), "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &hard, &soft); err != nil {
		return 0, fmt.Errorf("processor time of the machine: %q: %w", first, err)
	}
	return time.Duration(user+nice+system+hard+soft) * tick, nil
}

// costing returns how much processor time a function took, in all threads.
func costing(f func() error) (cost, error) {
	before, err := spent()
	if err != nil {
		return cost{}, err
	}
	if err := f(); err != nil {
		return cost{}, err
	}
	after, err := spent()
	return cost{after.Process - before.Process, after.Guest - before.Guest}, err
}

// figures are the cost of so many bytes in slices.
func (c cost) figures(bytes float64, slice int) map[string]float64 {
	if bytes == 0 {
		return map[string]float64{}
	}
	return map[string]float64{
		cpuByGB:    c.Process.Seconds() / (bytes / 1e9),
		cpuBySlice: c.Process.Seconds() * 1e6 / (bytes / float64(slice)),
		guestByGB:  c.Guest.Seconds() / (bytes / 1e9),
	}
}
