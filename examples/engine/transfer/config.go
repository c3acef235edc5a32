package transfer

import (
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// Config holds the numbers of an [Engine]. Start from [DefaultConfig].
type Config struct {
	// Workers is the number of goroutines that post and poll. 1 to 256.
	Workers int
	// QPsPerWorker is how many QPs each worker has in every endpoint, so that one
	// failed QP does not take along all that the worker has under way. 1 to 64.
	QPsPerWorker int
	// SliceBytes is the length of a slice, which is one work request; the last
	// slice of a transfer may be shorter. 1 to 1 GiB.
	SliceBytes int
	// SendDepth is the length of a QP's send queue, in work requests. 1 to 16384.
	SendDepth int
	// CQDepth is the length of a completion queue. A worker has at most that many
	// work requests under way on one NIC. 1 to 65536.
	CQDepth int
	// PollBatch is how many completions one poll takes, PostBatch how many work
	// requests one post hands over. At least 1.
	PollBatch, PostBatch int
	// AckTimeout is the QP timeout code t: 4.096 us x 2^t a try. 1 to 31.
	AckTimeout uint8
	// Retry and RNRRetry are the QP's retry counts. 0 to 7; an RNRRetry of 7
	// never ends.
	Retry, RNRRetry uint8
	// ProbeAckTimeout and ProbeRetry are the same for the QPs of the prober. Choose them
	// so that a probe fails within a fifth of the controller's probe interval, which a
	// path must be well able to answer in when its queues are full.
	ProbeAckTimeout, ProbeRetry uint8
	// MaxAttempts is how often a slice is posted before its transfer fails. At
	// least 1.
	MaxAttempts int
	// Deadline is how long a work request may stay without a completion. Choose it
	// well above the time that the QP itself retries.
	Deadline time.Duration
	// FlushGrace is how long the work requests of a failed QP may take to flush
	// before the QP is destroyed.
	FlushGrace time.Duration
	// StallGap is the pause between two polls of a worker that makes its deadlines
	// void: the completions may have waited in the CQ.
	StallGap time.Duration
	// BuildPause is the least time between two endpoints of one rail, so that a
	// dead path does not become a storm of handshakes.
	BuildPause time.Duration
	// ProbePause is how often the prober asks the controller which routes are due, which
	// makes probes late by as much. A tenth of the controller's probe interval or less.
	ProbePause time.Duration
	// Patience is how long a transfer waits while no rail to the peer admits
	// anything.
	Patience time.Duration
}

// DefaultConfig returns the defaults: two workers, two QPs for each of them in an
// endpoint, slices of 64 KiB, send queues of 128 and poll batches of 64.
func DefaultConfig() Config {
	return Config{
		Workers:      2,
		QPsPerWorker: 2,
		SliceBytes:   64 << 10,
		SendDepth:    128,
		CQDepth:      4096,
		PollBatch:    64,
		PostBatch:    32,
		AckTimeout:   14,
		Retry:        7,
		RNRRetry:     3,

		ProbeAckTimeout: 14,
		ProbeRetry:      2,

		MaxAttempts: 16,
		Deadline:    5 * time.Second,
		FlushGrace:  time.Second,
		StallGap:    time.Second,
		BuildPause:  50 * time.Millisecond,
		ProbePause:  50 * time.Millisecond,
		Patience:    20 * time.Second,
	}
}

// Validate reports every fault of the configuration, joined into one error, or
// nil.
func (c Config) Validate() error {
	var faults []error
	within := func(field string, v, low, high int) {
		if v < low || v > high {
			faults = append(faults, fmt.Errorf("transfer: %s is %d, must be %d to %d; start from DefaultConfig", field, v, low, high))
		}
	}
	within("Workers", c.Workers, 1, 256)
	within("QPsPerWorker", c.QPsPerWorker, 1, 64)
	within("SliceBytes", c.SliceBytes, 1, 1<<30)
	within("SendDepth", c.SendDepth, 1, 16384)
	within("CQDepth", c.CQDepth, 1, 65536)
	within("PollBatch", c.PollBatch, 1, c.CQDepth)
	within("PostBatch", c.PostBatch, 1, c.SendDepth)
	within("AckTimeout", int(c.AckTimeout), 1, 31)
	within("Retry", int(c.Retry), 0, 7)
	within("RNRRetry", int(c.RNRRetry), 0, 7)
	within("ProbeAckTimeout", int(c.ProbeAckTimeout), 1, 31)
	within("ProbeRetry", int(c.ProbeRetry), 0, 7)
	within("MaxAttempts", c.MaxAttempts, 1, 1<<20)
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"Deadline", c.Deadline}, {"FlushGrace", c.FlushGrace}, {"StallGap", c.StallGap},
		{"BuildPause", c.BuildPause}, {"ProbePause", c.ProbePause}, {"Patience", c.Patience},
	} {
		if d.value <= 0 {
			faults = append(faults, fmt.Errorf("transfer: %s is %v, must be above 0; start from DefaultConfig", d.field, d.value))
		}
	}
	return errors.Join(faults...)
}

// qp returns what a worker's QP is made with.
func (c Config) qp() fabric.QPConfig {
	return fabric.QPConfig{
		SendDepth: c.SendDepth, RecvDepth: 1,
		Timeout: c.AckTimeout, Retry: c.Retry, RNRRetry: c.RNRRetry,
	}
}

// probeQP returns what a QP of the prober is made with.
func (c Config) probeQP() fabric.QPConfig {
	q := c.qp()
	q.SendDepth, q.Timeout, q.Retry = 1, c.ProbeAckTimeout, c.ProbeRetry
	return q
}
