package fabric

// Port is one direction of a link: the queues of the node that sends, and the
// wire. It also keeps what its node has received from the other direction and not
// yet passed on, which is what pauses are about.
type Port struct {
	sim  *Sim
	id   int32
	link *Link
	peer *Port   // the other direction
	sw   *Switch // the node that sends: a switch,
	nic  *NIC    // or a NIC
	name string

	rate  int64 // bit/s
	delay Time

	busy    Time // it sends until then
	wake    Time // time of the transmit event that counts, or never
	data    fifo
	control fifo
	wire    fifo // sent and not yet at the other end

	paused      bool // by the other end
	pausedAt    Time
	pausedUntil Time
	unpausing   bool // an unpause event is scheduled

	wanted     bool // the other end should be paused
	told       bool // it was told so
	toldAt     Time
	refreshing bool // a refresh event is scheduled

	held     int64 // bytes received here that are in the node's shared buffer
	over     int64 // and in the headroom of this port
	headroom int64

	down   bool
	hole   bool
	lose   float64
	faulty bool // any of the three, or the NIC is blocked towards another one

	stats PortStats
}

func (s *Sim) newPort(l *Link, cfg LinkConfig, name string) *Port {
	p := &Port{
		sim: s, id: int32(len(s.ports)), link: l, name: name,
		rate: cfg.Rate, delay: picoseconds(cfg.Delay), wake: never,
	}
	s.ports = append(s.ports, p)
	return p
}

// Name says which node sends to which, such as "h3n0>edge1".
func (p *Port) Name() string { return p.name }

// Link returns the link that the port is a direction of.
func (p *Port) Link() *Link { return p.link }

// Queue returns the data bytes that wait in the port's queue, as on the wire. A
// NIC's port has no such queue: its data waits in its QPs.
func (p *Port) Queue() int64 { return p.data.bytes }

// Paused says whether the other end pauses the port's data now.
func (p *Port) Paused() bool { return p.paused }

// wakeAt has the port look for a packet at t. An earlier wake takes the place of a
// later one.
func (p *Port) wakeAt(t Time) {
	if t < p.wake {
		p.wake = t
		p.sim.agenda.push(t, eventTransmit, p.id)
	}
}

// transmit is a wake.
func (p *Port) transmit() {
	if p.sim.now == p.wake {
		p.wake = never
		p.kick()
	}
}

// kick sends the next packet if the port is free, or sees to it that it is sent
// when it is. Whoever adds a reason to send calls it.
func (p *Port) kick() {
	if p.busy > p.sim.now {
		p.wakeAt(p.busy)
		return
	}
	if k := p.next(); k != nil {
		p.send(k)
		if p.waiting() {
			p.wakeAt(p.busy)
		}
	}
}

// waiting says whether there may be something to send.
func (p *Port) waiting() bool {
	return p.control.head != nil || p.wanted != p.told ||
		!p.paused && (p.data.head != nil || p.nic != nil && len(p.nic.ready) > 0)
}

// next takes the packet to send now, or nil.
func (p *Port) next() *packet {
	s := p.sim
	if p.wanted != p.told {
		return p.pauseFrame()
	}
	if p.control.head != nil {
		k := p.control.pop()
		if p.nic != nil {
			s.totals.Injected += int64(k.wire)
		}
		return k
	}
	if p.paused {
		return nil
	}
	if p.nic != nil {
		k := p.nic.next()
		if k != nil {
			s.totals.Injected += int64(k.wire)
		}
		return k
	}
	if p.data.head == nil {
		return nil
	}
	queue := p.data.bytes
	k := p.data.pop()
	p.sw.mark(k, queue)
	p.sw.release(k)
	return k
}

// send puts a packet on the wire.
func (p *Port) send(k *packet) {
	s := p.sim
	p.busy = s.now + transmission(int64(k.wire), p.rate)
	p.stats.Sent += int64(k.wire)
	if p.faulty && (p.down || p.hole || p.nic != nil && p.nic.blocked[k.dst] || s.random.Float64() < p.lose) {
		p.stats.Lost += int64(k.wire)
		s.discard(k)
		return
	}
	k.at = p.busy + p.delay
	if p.wire.head == nil {
		s.agenda.push(k.at, eventArrive, p.id)
	}
	p.wire.push(k)
}

// arrive hands the first packet of the wire to the other end. An event of a wire
// that was cut in between finds another packet or none.
func (p *Port) arrive() {
	s := p.sim
	if p.wire.head == nil || p.wire.head.at != s.now {
		return
	}
	k := p.wire.pop()
	if next := p.wire.head; next != nil {
		s.agenda.push(next.at, eventArrive, p.id)
	}
	to := p.peer
	switch {
	case k.kind >= packetPause:
		pause := k.kind == packetPause
		s.give(k)
		to.setPaused(pause)
	case to.sw != nil:
		to.sw.receive(k, to)
	default:
		to.nic.receive(k)
	}
}

// discard ends a packet that does not arrive. Pause frames are no traffic.
func (s *Sim) discard(k *packet) {
	if k.kind < packetPause {
		s.totals.Dropped += int64(k.wire)
	}
	s.give(k)
}
