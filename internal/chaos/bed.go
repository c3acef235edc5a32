package chaos

import (
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// Bed is a fabric with its hosts, on which the dead pairs are dead.
type Bed interface {
	// Near is host A; Far is the host of a peer.
	Near() fabric.Host
	Far(peer int) fabric.Host
	// Shared says that the peers' NICs are the same ones.
	Shared() bool
	Numbers() Numbers
	// Begin makes a fault of the fabric: of a path, a NIC or a device. The undo is nil if
	// there is nothing to end.
	Begin(f Fault) (undo func() error, err error)
	Close() error
}

// Numbers suit a bed.
type Numbers struct {
	CC     cc.Config
	Engine transfer.Config
	// Slack is what the machine may add to any time that follows from other numbers.
	Slack time.Duration
	// Look is how often the routes are looked at.
	Look time.Duration
	// Build is how long an endpoint may take to be built while nothing is wrong.
	Build time.Duration
	// Lies says that the fabric has been seen to complete READs without their data.
	Lies bool
}

// jitter is the largest factor of cooldowns and probe intervals.
const jitter = 1.2

func scaled(d time.Duration) time.Duration { return time.Duration(jitter * float64(d)) }

// retries is how long a QP tries before it gives up.
func retries(ackTimeout, retry uint8) time.Duration {
	return time.Duration(1+int64(retry)) * (4096 * time.Nanosecond << ackTimeout)
}

// Evidence is how long after the end of a fault what was posted before may still fail: by
// the QP's own retries, or by the deadline and the flush that follows it.
func (n Numbers) Evidence() time.Duration {
	e := n.Engine
	return max(retries(e.AckTimeout, e.Retry), e.Deadline+e.FlushGrace) + n.Slack
}

// proofs is how many probe intervals the probes of a pair that flaps must succeed before
// the controller gives it back to users.
const proofs = 4

// Bound is how long after the end of the last fault that reaches it a route may take to
// be HEALTHY or CONGESTED again, if it is probed:
//
//   - a probe that went out during the fault fails, which doubles the cooldown once more:
//     [Numbers.Evidence];
//   - that cooldown runs: the cap, with jitter;
//   - the prober looks, finds that a trial needs an endpoint, and gets one;
//   - if the pair flaps, probes have to succeed for four probe intervals: that takes one
//     of them more, each with jitter, and the prober looks for each;
//   - one probe may prove nothing, because its endpoint was renewed meanwhile: another
//     interval;
//   - an endpoint for the prober alone is replaced by one for all workers.
func (n Numbers) Bound() time.Duration {
	look := n.Engine.ProbePause
	probe := scaled(n.CC.ProbeInterval) + look
	return n.Evidence() + scaled(n.CC.CooldownCap) + 3*look + 2*(n.Engine.BuildPause+n.Build) + (proofs+2)*probe + n.Slack
}
