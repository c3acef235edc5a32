package fabric

import "fmt"

// Switch is a shared-buffer switch.
type Switch struct {
	sim    *Sim
	name   string
	salt   uint64
	ports  []*Port
	groups [][]*Port // equal next hops
	to     []uint16  // number of a NIC -> index of its group

	lossy   bool
	alpha   float64
	xoff    int64
	xon     int64
	ecn     *ECN
	shared  int64 // bytes of buffer beside the headrooms
	used    int64 // of shared
	hystere int64
}

// Name returns the switch's name: "switch", or "leaf", "spine", "edge", "agg" or "core"
// and a number from 0.
func (w *Switch) Name() string { return w.name }

// Used returns the data bytes in the switch, as on the wire.
func (w *Switch) Used() int64 {
	sum := w.used
	for _, p := range w.ports {
		sum += p.over
	}
	return sum
}

// Ports returns what the switch sends by: to its NICs in their order, then to other
// switches.
func (w *Switch) Ports() []*Port { return w.ports }

func (s *Sim) newSwitch(name string) *Switch {
	c := s.cfg.Switch
	w := &Switch{
		sim: s, name: name, salt: hash(s.cfg.Seed, uint64(len(s.switches))),
		lossy: c.Lossy, alpha: c.Alpha, xoff: c.XOFF, xon: c.XON, ecn: c.ECN,
		shared: c.Buffer, hystere: 3 << 10, // HPCC's ns-3 switch
		to: make([]uint16, s.cfg.Topology.nics),
	}
	s.switches = append(s.switches, w)
	return w
}

// group adds a set of equal next hops and returns its index.
func (w *Switch) group(ports ...*Port) uint16 {
	w.groups = append(w.groups, ports)
	return uint16(len(w.groups) - 1)
}

// reserve takes the headrooms of all ports out of the shared buffer.
func (w *Switch) reserve() error {
	for _, p := range w.ports {
		w.shared -= p.headroom
	}
	if w.shared <= 0 {
		return fmt.Errorf("fabric: switch %s: buffer of %d bytes has no room beside the headroom of %d ports",
			w.name, w.sim.cfg.Switch.Buffer, len(w.ports))
	}
	return nil
}

// route returns the port to a packet's next hop.
func (w *Switch) route(k *packet) *Port {
	g := w.groups[w.to[k.dst]]
	if len(g) == 1 {
		return g[0]
	}
	h := mix(uint64(k.path) ^ w.salt)
	return g[(h>>32)*uint64(len(g))>>32]
}

// receive takes a packet that came in by a port.
func (w *Switch) receive(k *packet, in *Port) {
	out := w.route(k)
	if out.down {
		out.stats.Lost += int64(k.wire)
		w.sim.discard(k)
		return
	}
	if k.kind.control() {
		out.control.push(k)
		out.kick()
		return
	}
	if !w.admit(k, in, out) {
		out.stats.Dropped += int64(k.wire)
		w.sim.discard(k)
		return
	}
	out.data.push(k)
	if out.data.bytes > out.stats.Peak {
		out.stats.Peak = out.data.bytes
	}
	out.kick()
}
