// Package serial hands out the numbers that name verbs objects, real and
// scripted, for the life of the process.
package serial

import "sync/atomic"

var last atomic.Uint64

// Next returns a number that was never returned before, from 1. It is safe for
// concurrent use.
func Next() uint64 { return last.Add(1) }

// Given reports whether Next has returned n.
func Given(n uint64) bool { return n != 0 && n <= last.Load() }
