// Package weak has tests that tell some of its mutants, and not others.
package weak

import "runtime"

// Full and Crowded are the same; the tests ask Crowded less.
func Full(n, limit int) bool { return n >= limit }

func Crowded(n, limit int) bool { return n >= limit }

// Untested is called by no test.
func Untested(n int) int { return n + 1 }

// Same has a mutant that is no other program: at 0 both ways give 0.
func Same(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// Down counts down to 0.
func Down(n int) {
	for n != 0 {
		n--
	}
}

// Waits gets what it sent.
func Waits() int {
	c := make(chan int, 1)
	c <- 3
	return <-c
}

// Depth is how deep in calls it is itself.
func Depth() int { return callers() - 1 }

func callers() int { return runtime.Callers(0, make([]uintptr, 100)) }
