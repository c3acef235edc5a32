//go:build unix

package main

import "syscall"

// dump is the signal after which a Go program prints its goroutines and ends.
const dump = syscall.SIGQUIT
