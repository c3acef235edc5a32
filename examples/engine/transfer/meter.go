package transfer

import (
	"sync"
	"time"
)

// meter measures what a rail delivers and for how long it was busy. It is safe
// for concurrent use.
type meter struct {
	mu        sync.Mutex
	inFlight  int64
	delivered int64
	busy      time.Duration // closed busy periods
	since     time.Duration // start of the open one, while inFlight > 0
}

// reading is what a meter has counted up to one moment.
type reading struct {
	inFlight, delivered int64
	busy                time.Duration
}

// posted counts n bytes that went out at now.
func (m *meter) posted(n int64, now time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inFlight == 0 {
		m.since = now
	}
	m.inFlight += n
}

// ended counts n bytes that are off the wire at now, delivered or not.
func (m *meter) ended(n int64, delivered bool, now time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight -= n
	if delivered {
		m.delivered += n
	}
	if m.inFlight == 0 {
		m.busy += max(now-m.since, 0)
	}
}

func (m *meter) read(now time.Duration) reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := reading{m.inFlight, m.delivered, m.busy}
	if m.inFlight > 0 {
		r.busy += max(now-m.since, 0)
	}
	return r
}

// rate returns the bytes a second delivered since an earlier reading, counted
// over the time in which something was under way; 0 if nothing was.
func (r reading) rate(earlier reading) float64 {
	busy := r.busy - earlier.busy
	if busy <= 0 {
		return 0
	}
	return float64(r.delivered-earlier.delivered) / busy.Seconds()
}
