package cc

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// A port, or a whole device, has no usable route when all its routes are barred and
// those led to at least two peers: one dead peer says nothing about the port. New
// routes there are then limited to the probe window until a success there, so that
// they do not repeat the lesson with a whole window each. Nothing is refused for it.
//
// Specification: recovery escalation, "no usable route on the device".

// checkUsable looks whether the port and the device of a route that has just been
// barred are left without a usable route, and gives notice of it once. The caller
// holds the lock.
func (d *device) checkUsable(r *Route, v classify.Verdict, now time.Duration) {
	if !r.state().barred() {
		return
	}
	for _, port := range []uint8{r.pair.Port, 0} {
		if d.exhausted[port] || d.usable(port) {
			continue
		}
		if d.exhausted == nil {
			d.exhausted = map[uint8]bool{}
		}
		d.exhausted[port] = true
		notice := PortExhausted
		if port == 0 {
			notice = DeviceExhausted
		}
		r.note(Transition{From: r.state(), To: r.state(), Notice: notice, Reason: v.Reason(), Verdict: v, At: now})
	}
}

// usable reports whether a route of the port, or of any port for 0, is usable, or
// too few peers failed there to say.
func (d *device) usable(port uint8) bool {
	var first peerName
	several := false
	begin := d.usableAt[port]
	for i := range d.routes {
		at := (begin + i) % len(d.routes)
		r := d.routes[at]
		if port != 0 && port != r.pair.Port {
			continue
		}
		if !r.state().barred() {
			if d.usableAt == nil {
				d.usableAt = map[uint8]int{}
			}
			d.usableAt[port] = at
			return true
		}
		p := peerOf(r.pair)
		if first.peer == "" {
			first = p
		}
		several = several || p.peer != first.peer
	}
	return !several
}

// revive ends the lack of usable routes on a port, and so on the device: there was
// a success. The caller holds the lock.
func (d *device) revive(port uint8, now time.Duration) {
	if !d.exhausted[port] && !d.exhausted[0] {
		return
	}
	delete(d.exhausted, port)
	delete(d.exhausted, 0)
	for _, r := range d.routes {
		if r.health.limited && !d.exhausted[r.pair.Port] {
			r.health.limited = false
			r.reconsider(now, cause{})
			r.applyWindow()
		}
	}
}

// limits reports whether new routes of a port are limited to the probe window.
func (d *device) limits(port uint8) bool { return d.exhausted[port] || d.exhausted[0] }

// forgetExhausted ends the lack of usable routes where no route is left. The caller
// holds the lock.
func (d *device) forgetExhausted() {
	for port := range d.exhausted {
		if !slices.ContainsFunc(d.routes, func(r *Route) bool { return port == 0 || r.pair.Port == port }) {
			delete(d.exhausted, port)
		}
	}
}
