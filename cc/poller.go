package cc

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/rail"
)

// Poller stands for the thread that polls some completion queues, so that a thread
// that did not run is not mistaken for a network that did not deliver.
//
// Register it before the endpoints that use its CQs are renewed, and beat before
// each poll batch is settled, also when the batch is empty:
//
//	poller, err := ctl.NewPoller("mlx5_0", cq.ID())
//	for {
//		n := cq.Poll(batch)
//		now := ctl.Now()
//		poller.Beat(now)
//		for _, c := range batch[:n] { ... permit.Settle(use, outcome, now) }
//	}
//
// One that sleeps on a completion channel wakes at least once in a StallGap for
// that: who does not beat does not look.
//
// Two beats that are further apart than Config.StallGap are a stall. A control
// epoch that it touched, and the poll batch that ends it, are void for the routes
// that have a QP on the poller's CQs: they give no pressure, no window moves, and
// a deadline with [classify.SignalDeadlineProgressing] is taken for one with
// [classify.SignalDeadlineStalled]. Other routes are not touched. Without a poller
// the caller is trusted to tell the two signals apart.
//
// Specification: "software timeouts observed while the poller is stalled are
// suppressed for that control epoch".
type Poller struct {
	ctl    *Controller
	cqs    []cqKey
	number uint32 // in recordings
	gap    uint64 // what is longer after the last beat needs a closer look

	last    atomic.Int64 // the latest beat
	resumed atomic.Int64 // the beat that ended the latest stall
	closed  atomic.Bool
}

// cqKey names a CQ.
type cqKey struct {
	device string
	id     uint64
}

// never is before every reading of a clock.
const never = math.MinInt64

// NewPoller registers who polls these CQs of a local device, with the numbers that
// [QP] has for them. A CQ has one poller at a time.
func (c *Controller) NewPoller(device string, cqs ...uint64) (*Poller, error) {
	if c.rec != nil {
		return c.recordNewPoller(device, cqs)
	}
	return c.newPoller(device, cqs)
}

func (c *Controller) newPoller(device string, cqs []uint64) (*Poller, error) {
	p := &Poller{ctl: c, gap: uint64(c.cfg.StallGap)}
	if device == "" || len(device) > rail.MaxName || len(cqs) == 0 {
		return nil, fmt.Errorf("cc: NewPoller of %d CQs of device %.16q, a name of %d bytes: name the device with 1 to %d bytes, and at least one CQ",
			len(cqs), device, len(device), rail.MaxName)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("cc: NewPoller: %w", ErrClosed)
	}
	for i, id := range cqs {
		key := cqKey{device, id}
		if id == 0 {
			return nil, fmt.Errorf("cc: NewPoller: CQ %d of %d of %s has number 0; give each CQ a number of its own, from 1", i+1, len(cqs), device)
		}
		if slices.Contains(p.cqs, key) {
			return nil, fmt.Errorf("cc: NewPoller: CQ %d of %s is named twice; name each CQ once", id, device)
		}
		if c.pollers[key] != nil {
			return nil, fmt.Errorf("cc: NewPoller: CQ %d of %s has a poller already; close that one first", id, device)
		}
		p.cqs = append(p.cqs, key)
	}
	p.last.Store(int64(c.now()))
	p.resumed.Store(never)
	for _, key := range p.cqs {
		c.pollers[key] = p
	}
	return p, nil
}

// Beat says that the poller runs, with the time of the poll batch that is about to
// be settled. It costs a comparison and a store. One goroutine at a time may call
// it. A time before the last one counts as the last one.
func (p *Poller) Beat(now time.Duration) {
	if uint64(int64(now)-p.last.Load()) > p.gap {
		p.beatOtherwise(now) // also if it is before the last one
		return
	}
	p.last.Store(int64(now))
}

// beatOtherwise is Beat for a time long after the last one, or before it, or with a
// recorder.
func (p *Poller) beatOtherwise(now time.Duration) {
	if p.ctl.rec != nil {
		p.recordBeat(now)
		return
	}
	p.beat(now)
}

func (p *Poller) beat(now time.Duration) {
	last := p.last.Load()
	at := max(int64(now), last)
	if at-last > int64(p.ctl.cfg.StallGap) {
		p.resumed.Store(at)
	}
	p.last.Store(at)
}

// Close says that nobody polls for it any more; its CQs may get another poller.
// Endpoints that were renewed under it trust the caller from now on.
func (p *Poller) Close() {
	if p.ctl.rec != nil {
		p.recordClose()
		return
	}
	p.close()
}

func (p *Poller) close() {
	p.ctl.mu.Lock()
	defer p.ctl.mu.Unlock()
	p.closed.Store(true)
	for _, key := range p.cqs {
		if p.ctl.pollers[key] == p {
			delete(p.ctl.pollers, key)
		}
	}
}

// stalledAt reports whether a stall runs at now, or ended with the poll batch that
// is being settled. A nil poller never stalls.
func (p *Poller) stalledAt(now time.Duration) bool {
	if p == nil || p.closed.Load() {
		return false
	}
	last := p.last.Load()
	return int64(now)-last > int64(p.ctl.cfg.StallGap) || p.resumed.Load() == last
}

// stalledSince reports whether a stall touched the time from then to now.
func (p *Poller) stalledSince(then, now time.Duration) bool {
	return p.stalledAt(now) || p != nil && !p.closed.Load() && p.resumed.Load() >= int64(then)
}

// voids reports whether a deadline at now says nothing about the network: a stall
// touched its control epoch.
func (p *Poller) voids(now time.Duration) bool {
	if p == nil {
		return false
	}
	return p.stalledSince(now-now%p.ctl.cfg.Epoch, now)
}

// beatSince reports whether the poller has run since then.
func (p *Poller) beatSince(then time.Duration) bool {
	return p == nil || p.closed.Load() || p.last.Load() >= int64(then)
}

// meetPollers lets the QPs of a generation know who polls for them. The controller's
// lock is held.
func (c *Controller) meetPollers(g *generation) {
	for i := range g.qps {
		q := &g.qps[i]
		if q.poller = c.pollers[cqKey{g.route.pair.Local, q.CQ}]; q.poller == nil {
			q.poller = c.nobody
		}
	}
}

// stalledSince reports whether a poller of the generation stalled between then and
// now.
func (g *generation) stalledSince(then, now time.Duration) bool {
	for i := range g.qps {
		if g.qps[i].poller.stalledSince(then, now) {
			return true
		}
	}
	return false
}

// beatSince reports whether all pollers of the generation have run since then.
func (g *generation) beatSince(then time.Duration) bool {
	for i := range g.qps {
		if !g.qps[i].poller.beatSince(then) {
			return false
		}
	}
	return true
}
