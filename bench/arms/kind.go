package main

import (
	"context"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// kind is a kind of load with its numbers.
type kind interface {
	// Setup says in words what is run, with all settings of windows.
	Setup() string
	// Figures are what comes out, in the order in which a report has them.
	Figures() []figure
	// open sets an arm up, in its own process.
	open(ctx context.Context, lab *softroce.Lab, mode cc.Mode, seed uint64) (runner, error)
}

// runner is an arm that is set up. One round at a time runs, of one arm.
type runner interface {
	round(ctx context.Context) (outcome, error)
	// close takes everything down. It returns what the controller held before that,
	// if the rounds did not.
	close() (*end, error)
}

// figure is the name of a number and its unit.
type figure struct{ Name, Unit string }

// The figures.
const (
	throughput   = "throughput"
	goodput      = "goodput"
	cpuByGB      = "CPU by GB"
	cpuBySlice   = "CPU by slice"
	guestByGB    = "CPU of the whole guest by GB"
	p50          = "slice time, median"
	p99          = "slice time, 99%"
	meanDelay    = "mean time from post to completion"
	queuePeak    = "queue, peak"
	dropped      = "dropped by the queue"
	sentAgain    = "times a sender went back"
	failedQPs    = "QPs that failed"
	stalledShare = "time that the machine stood still"

	goodputBefore    = "goodput before"
	goodputDuring    = "goodput while pairs are dead"
	goodputAfter     = "goodput after"
	useAgain         = "until all pairs are used again"
	stalledTransfers = "stalled transfers"
	longest          = "longest transfer"
	lostSlices       = "slices lost on dead pairs"
	lostKnowing      = "of them posted when a failure was known"
	lastError        = "last error, after the failure"
)
