package fabric

// Link joins two nodes. A and B are its directions; for the link of a NIC, A is what
// the NIC sends.
type Link struct {
	sim  *Sim
	A, B *Port
}

func (s *Sim) newLink(cfg LinkConfig, a, b string) *Link {
	l := &Link{sim: s}
	l.A = s.newPort(l, cfg, a+">"+b)
	l.B = s.newPort(l, cfg, b+">"+a)
	l.A.peer, l.B.peer = l.B, l.A
	s.links = append(s.links, l)
	return l
}

// attach joins a NIC and a switch.
func (s *Sim) attach(n *NIC, w *Switch) *Port {
	l := s.newLink(s.cfg.Link, n.Name, w.name)
	l.A.nic, l.B.sw = n, w
	n.port = l.A
	w.ports = append(w.ports, l.B)
	return l.B
}

// trunk joins two switches and returns the port of each.
func (s *Sim) trunk(a, b *Switch) (*Port, *Port) {
	l := s.newLink(s.cfg.Trunk, a.name, b.name)
	l.A.sw, l.B.sw = a, b
	a.ports = append(a.ports, l.A)
	b.ports = append(b.ports, l.B)
	return l.A, l.B
}

// room returns the headroom that a lossless receiver needs behind a port: what may
// come after the packet that asked for the pause. The frame waits for one packet,
// takes its own time and the link's, and the other end finishes the packet that it has
// begun.
func (p *Port) room(mtu int) int64 {
	packet := int64(mtu + dataOverhead)
	inFlight := 2 * int64(float64(p.delay)*float64(p.rate)/(8*float64(Second)))
	return inFlight + 3*packet + 2*pauseWire
}
