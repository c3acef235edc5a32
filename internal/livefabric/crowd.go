package livefabric

import (
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	sim "github.com/rdmagate/rdmagate/internal/fabric"
)

// What a member of the crowd has on its way at once: 1 MiB that nobody has admitted.
const (
	crowdMessage = 64 << 10
	crowdDepth   = 16
)

// incast is traffic of the crowd, which asks nobody. Its bytes are counted, not real.
type incast struct {
	net     *Net
	senders []*sender
	on      bool
}

// sender is one of the crowd.
type sender struct {
	*incast
	from, to *sim.NIC
	q        *sim.QP
}

// Incast has the crowd write to a NIC for a while, over and over, with a pause as long
// before each time.
func (n *Net) Incast(to fabric.NIC, while time.Duration) (Undo, error) {
	const call = "incast"
	if while <= 0 {
		return nil, invalid(call, nil, "the time is %v; give one above 0", while)
	}
	traffic, over := &incast{net: n}, false
	err := n.change(call, to, func(p *NIC) {
		for _, member := range n.crowd {
			traffic.senders = append(traffic.senders, &sender{incast: traffic, from: member, to: p.sim})
		}
		n.sim.Every(while, func() bool {
			traffic.on = !traffic.on && !over
			for _, s := range traffic.senders {
				s.send()
			}
			return !over
		})
	})
	if err != nil {
		return nil, err
	}
	return sync.OnceValue(func() error {
		return n.change(call, to, func(*NIC) { traffic.on, over = false, true })
	}), nil
}

// send posts as much as may be on its way. A QP that has failed is replaced.
func (s *sender) send() {
	for s.on {
		if s.q == nil || s.q.Failed() {
			s.connect()
		}
		if s.q.Post(sim.WR{Bytes: crowdMessage}) != nil {
			return // it has enough to do
		}
	}
}

func (s *sender) connect() {
	cq := s.net.sim.NewCQ()
	cq.Notify(func() {
		var batch [crowdDepth]sim.Completion
		for cq.Poll(batch[:]) > 0 {
		}
		s.send()
	})
	cfg := sim.DefaultQP()
	cfg.SendDepth = crowdDepth
	q, _, err := s.net.sim.Connect(sim.Endpoint{NIC: s.from, Send: cq}, sim.Endpoint{NIC: s.to}, cfg)
	if err != nil {
		panic(err) // both ends are of this fabric, and the numbers are constants
	}
	s.q = q
}
