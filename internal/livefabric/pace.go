package livefabric

import (
	"math"
	"sync/atomic"
	"time"
)

const (
	// step is the least time between two timers. Whoever polls more often finds what
	// happened meanwhile sooner.
	step = 50 * time.Microsecond
	// hold is how long one caller simulates for all others before it lets them have the
	// lock, looking at the clock each stretch of virtual time.
	hold    = time.Millisecond
	stretch = 100 * time.Microsecond
	// slack is how far virtual time may be behind the clock before it gives up catching
	// up with it.
	slack = 20 * time.Millisecond

	never = time.Duration(math.MaxInt64)
)

// pace says how virtual time follows the clock. Net's lock guards all of it but due.
type pace struct {
	start time.Time
	lost  time.Duration // of the clock's time, given up
	armed time.Duration // when the timer goes off, since start, or never
	timer *time.Timer
	due   atomic.Int64 // time of the next event, since start
}

func (p *pace) begin(tick func()) {
	p.start = time.Now()
	p.armed = never
	p.due.Store(int64(never))
	p.timer = time.AfterFunc(never, tick)
	p.timer.Stop()
}

func (p *pace) overdue() bool { return int64(time.Since(p.start)) >= p.due.Load() }

// lock takes the lock and brings the simulation up to the clock, if it can.
func (n *Net) lock() {
	n.mu.Lock()
	n.advance()
}

// unlock carries out what the caller caused in this instant, plans the timer for what
// comes next, and gives the lock back.
func (n *Net) unlock() {
	n.sim.Run(n.sim.Now())
	n.arm()
	n.mu.Unlock()
}

// advance simulates until now. What would take too long is left to the next call; what
// has piled up beyond the slack is time that the fabric stands still.
func (n *Net) advance() {
	if n.closed {
		return
	}
	began := time.Since(n.start)
	now := began - n.lost
	for n.sim.Now() < now {
		next, ok := n.sim.Next()
		if !ok || next > now {
			n.sim.Run(now)
			return
		}
		n.sim.Run(min(now, next+stretch))
		if time.Since(n.start)-began > hold {
			break
		}
	}
	n.lost += max(0, now-n.sim.Now()-slack)
}

// arm has the timer go off when something is due. One that goes off sooner is left.
func (n *Net) arm() {
	next, ok := n.sim.Next()
	if n.closed || !ok {
		n.due.Store(int64(never))
		return
	}
	due := next + n.lost
	n.due.Store(int64(due))
	now := time.Since(n.start)
	if at := max(due, now+step); at < n.armed {
		n.armed = at
		n.timer.Reset(at - now)
	}
}

// tick is the timer.
func (n *Net) tick() {
	n.lock()
	n.armed = never
	n.unlock()
}

// look is for pollers: it simulates what is due, unless somebody does so already.
func (n *Net) look() bool {
	if !n.overdue() || !n.mu.TryLock() {
		return false
	}
	n.advance()
	n.unlock()
	return true
}

// Behind returns how much of the time since the start the fabric stood still because this
// machine was too slow, and that time. Nothing is wrong then but the picture: rates
// and delays by the clock are not those of the configuration.
func (n *Net) Behind() (behind, of time.Duration) {
	n.lock()
	defer n.unlock()
	return n.lost, time.Since(n.start)
}
