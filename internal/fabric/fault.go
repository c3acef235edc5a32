package fabric

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// Notice says how the NICs of a link learn that it went down or came up, by a port
// event. The zero Notice is told at once.
type Notice struct {
	Late time.Duration
	Lost bool // never told
}

// Down cuts the link. What is on the wire and in the queues of its ports is lost, and
// so is all that is sent while it is down; nothing routes around it. A link that is down
// stays down.
func (l *Link) Down(n Notice) {
	if l.A.down {
		return
	}
	for _, p := range []*Port{l.A, l.B} {
		p.down = true
		p.cut()
	}
	l.tell(n, classify.EventPortErr)
}

// Up mends the link. A link that is up stays up.
func (l *Link) Up(n Notice) {
	if !l.A.down {
		return
	}
	for _, p := range []*Port{l.A, l.B} {
		p.down = false
		p.told = false
		p.judge()
		p.kick()
	}
	l.tell(n, classify.EventPortActive)
}

// Shape gives both directions another rate in bit/s, from the next packet on. It
// panics if the rate is not one that a [LinkConfig] may have.
func (l *Link) Shape(rate int64) {
	if rate < 1 || rate > maxRate {
		panic("fabric: rate is out of range")
	}
	l.A.rate, l.B.rate = rate, rate
}

// Blackhole has all that the port sends vanish, or ends that. Nobody is told.
func (p *Port) Blackhole(on bool) {
	p.hole = on
	p.judge()
}

// Lose has each frame that the port sends vanish with that probability, pause frames
// too. Above 1 is 1.
func (p *Port) Lose(probability float64) {
	p.lose = probability
	p.judge()
}

// Block has all that the NIC sends to another one vanish, or ends that. Nobody is told,
// and no other pair is touched.
func (n *NIC) Block(to *NIC, on bool) {
	if n.blocked == nil {
		n.blocked = make(map[int32]bool)
	}
	n.blocked[to.id] = on
	if !on {
		delete(n.blocked, to.id)
	}
	n.port.judge()
}

func (p *Port) judge() {
	p.faulty = p.down || p.hole || p.lose > 0 || p.nic != nil && len(p.nic.blocked) > 0
}

// cut loses all that the port holds, and ends its pause.
func (p *Port) cut() {
	p.judge()
	for _, q := range []*fifo{&p.wire, &p.control, &p.data} {
		for q.head != nil {
			k := q.pop()
			p.stats.Lost += int64(k.wire)
			switch {
			case q == &p.data:
				p.sw.release(k)
			case q == &p.control && p.nic != nil: // it never was in the fabric
				p.sim.totals.Injected += int64(k.wire)
			}
			p.sim.discard(k)
		}
	}
	p.setPaused(false)
}

// tell raises a port event at the NICs of the link.
func (l *Link) tell(n Notice, event classify.EventType) {
	if n.Lost {
		return
	}
	for _, p := range []*Port{l.A, l.B} {
		if nic := p.nic; nic != nil {
			l.sim.After(n.Late, func() { nic.Raise(Event{Type: event, Port: 1}) })
		}
	}
}
