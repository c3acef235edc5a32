package main

import (
	"os"
	"syscall"
	"time"
)

// cpuTime returns the user and system time of the process so far. What the devices are
// emulated with is in it as far as it runs in system calls of the process.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, os.NewSyscallError("getrusage", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// costing returns how much processor time a function took, in all threads.
func costing(f func() error) (time.Duration, error) {
	before, err := cpuTime()
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := cpuTime()
	return after - before, err
}
