package chaos

import (
	"math"
	"slices"
	"sync"
	"time"
)

// route is a pair of NICs to a peer, by number.
type route struct{ peer, local, remote int }

// cause is a fault that was made, and when.
type cause struct {
	fault    Fault
	from, to time.Duration // to is forever while it lasts
}

const forever = time.Duration(math.MaxInt64)

// ledger knows which faults reach a route, and when. It is safe for concurrent use.
type ledger struct {
	shared  bool // the peers' NICs are the same
	setup   Setup
	numbers Numbers

	mu     sync.Mutex
	causes []*cause
}

// begin notes a fault just before it is made. The result ends it, just after it was
// undone.
func (l *ledger) begin(f Fault, now time.Duration) (end func(now time.Duration)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &cause{f, now, forever}
	l.causes = append(l.causes, c)
	return func(now time.Duration) {
		l.mu.Lock()
		defer l.mu.Unlock()
		c.to = now
	}
}

// queued is how long after the end of a fault there may be a queue from its time: what
// waits for a slow NIC goes on as fast as it would have gone, and that is what the windows
// of all who send there let out.
func (l *ledger) queued(f Fault) time.Duration {
	if f.Kind != Rate {
		return 0
	}
	window := l.numbers.CC.DeviceWindowBytes
	if f.Far {
		window = min(window, l.numbers.CC.MaxWindowBytes*int64(l.setup.Peers)) * int64(l.setup.NICs)
	}
	return time.Duration(float64(window) / f.Amount * float64(time.Second))
}

// clear forgets the faults that are over.
func (l *ledger) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.causes = slices.DeleteFunc(l.causes, func(c *cause) bool { return c.to < forever })
}

// reaches reports whether a fault can be felt on a route.
func (l *ledger) reaches(f Fault, r route) bool {
	samePeer := l.shared && traits[f.Kind].at != onRoute || f.Peer == r.peer
	switch traits[f.Kind].at {
	case onPair, onRoute:
		return samePeer && f.Local == r.local && f.Remote == r.remote
	case onNIC:
		if f.Far {
			return samePeer && f.Remote == r.remote
		}
		return f.Local == r.local
	case onDevice:
		return f.Local == r.local
	case onPeer:
		return f.Peer == r.peer
	case onWorker:
		return true // it polls for all
	}
	return false
}

// blamed returns the kinds of faults that may have caused a verdict on a route at a time.
// Evidence comes up to late after the end of a fault. What isolates a port or device does
// so with routes that are made before it has recovered, which takes up to bound.
func (l *ledger) blamed(r route, at, late, bound time.Duration) (list []Kind, explained bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.causes {
		last := late
		if c.fault.Kind == DeviceFatal || c.fault.Kind == LinkDown && !c.fault.Far {
			last = bound
		}
		if c.from > at || c.to < at-last-l.queued(c.fault) || !l.reaches(c.fault, r) {
			continue
		}
		if !slices.Contains(list, c.fault.Kind) {
			list = append(list, c.fault.Kind)
		}
		explained = explained || c.fault.Kind.Blames()
	}
	return list, explained
}

// touched returns when a route was last reached by a fault, which is now while one lasts;
// never if it was not.
func (l *ledger) touched(r route, now time.Duration) (last time.Duration, ever bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.causes {
		if c.from <= now && l.reaches(c.fault, r) {
			to := c.to
			if to < forever {
				to += l.queued(c.fault)
			}
			last, ever = max(last, min(to, now)), true
		}
	}
	return last, ever
}
