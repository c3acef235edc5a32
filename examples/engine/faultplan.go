package main

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// When the pair is blocked, and when it may be unblocked, as shares of the bytes to
// move.
const (
	blockAt   = 0.25
	unblockAt = 0.50
)

// faultPlan blocks the first NIC pair on the way and unblocks it later. Without
// fault injection it does nothing.
type faultPlan struct {
	stage   *stage
	unblock func() error
	sampler *transfer.Sampler

	rail            int // of the blocked pair
	start, stop     time.Duration
	before, blocked transfer.RailSample // of that rail, at start and at stop
	timeouts        uint64              // before start
	barred          bool                // the pair was quarantined meanwhile
	phase           phase
}

type phase uint8

const (
	waiting phase = iota
	blocking
	over
)

func newFaultPlan(s *stage, p *transfer.Peer) *faultPlan {
	return &faultPlan{stage: s, sampler: p.NewSampler()}
}

// step does what is due.
func (p *faultPlan) step(d *demonstration) error {
	if p.stage.faults == nil || p.phase == over {
		return nil
	}
	rails := p.sampler.Sample()
	share := float64(moved(rails)) / float64(2*d.total)
	now := d.ctl.Now()
	felt := rails[p.rail].Builds > p.before.Builds
	if d.ctl.Mode() != cc.Off { // where nobody keeps a state, a new endpoint is all there is to see
		p.barred = p.barred || p.phase == blocking && rails[p.rail].Route.Health.State >= cc.Quarantined
		felt = felt && p.barred
	}
	switch {
	case p.phase == waiting && share >= blockAt:
		pair := rails[p.rail].Route.Pair
		local, remote := named(p.stage.a, pair.Local), named(p.stage.b, pair.Remote)
		unblock, err := p.stage.faults.Block(local, remote)
		if err != nil {
			return fmt.Errorf("blocking %s -> %s: %w", local.Name(), remote.Name(), err)
		}
		p.unblock, p.phase, p.start, p.before = unblock, blocking, now, rails[p.rail]
		p.timeouts = timeouts(d.engine)
		d.table.note(fmt.Sprintf("--- %s is blocked now", pairText(p.before.Route.Pair)))
	case p.phase == blocking && share >= unblockAt && felt:
		if err := p.unblock(); err != nil {
			return fmt.Errorf("unblocking %s: %w", pairText(p.before.Route.Pair), err)
		}
		p.phase, p.stop, p.blocked = over, now, rails[p.rail]
		d.table.note(fmt.Sprintf("--- %s is unblocked again", pairText(p.before.Route.Pair)))
	}
	return nil
}

// named returns the NIC of that name.
func named(host fabric.Host, name string) fabric.NIC {
	for _, nic := range host.NICs() {
		if nic.Name() == name {
			return nic
		}
	}
	return nil
}

// end unblocks the pair if the run ended before.
func (p *faultPlan) end() error {
	if p.phase != blocking {
		return nil
	}
	return p.unblock()
}

func (p *faultPlan) status() string {
	if p.phase != blocking {
		return ""
	}
	return "[" + pairText(p.before.Route.Pair) + " blocked]"
}

// timeouts returns how many work requests of an engine timed out so far.
func timeouts(e *transfer.Engine) uint64 {
	for _, c := range e.Totals().Classes {
		if c.Class == classify.ClassRouteTimeout {
			return c.Count
		}
	}
	return 0
}

// story tells what happened to the pair, given how its rail ended up and how many
// work requests timed out in the whole run.
func (p *faultPlan) story(end transfer.RailSample, timeouts uint64) string {
	pair := pairText(p.before.Route.Pair)
	switch {
	case p.stage.faults == nil:
		return "none was injected"
	case p.phase == waiting:
		return "none: the run was over too soon"
	case p.phase == blocking:
		return pair + " was blocked until the run ended"
	}
	return fmt.Sprintf("%s was blocked for %s and cost %d timeouts:\n             %s carried before, %s meanwhile, %s after;\n             %d endpoints built, generation %d to %d",
		pair, timeText(p.stop-p.start), timeouts-p.timeouts,
		bytesText(p.before.Delivered), bytesText(p.blocked.Delivered-p.before.Delivered), bytesText(end.Delivered-p.blocked.Delivered),
		end.Builds, p.before.Route.Generation, end.Route.Generation)
}
