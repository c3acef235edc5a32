package fabric

import (
	"math/rand/v2"
	"time"
)

// Sim is a fabric and its clock. See the package's documentation for the rules; it
// is not safe for concurrent use.
type Sim struct {
	now     Time
	agenda  agenda
	pool    *packet
	random  *rand.Rand
	stopped bool

	cfg      Config
	ports    []*Port
	links    []*Link
	switches []*Switch
	nics     []*NIC
	hosts    []*Host
	qps      []*QP
	cqs      []*CQ

	calls []func() // by the target of their events
	free  []int32  // places in calls

	totals Totals
	events uint64
	trace  uint64
}

// New builds a fabric. Its error names all that is wrong with the configuration.
func New(cfg Config) (*Sim, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	s := &Sim{cfg: cfg, random: newRandom(cfg.Seed), trace: cfg.Seed}
	for i := range cfg.Topology.nics / cfg.NICs {
		s.hosts = append(s.hosts, newHost(i))
	}
	for i := range cfg.Topology.nics {
		s.nics = append(s.nics, s.newNIC(s.hosts[i%len(s.hosts)]))
	}
	cfg.Topology.build(s)
	if cfg.Switch.Lossy {
		return s, nil
	}
	for _, p := range s.ports {
		p.headroom = p.room(cfg.MTU)
	}
	for _, w := range s.switches {
		if err := w.reserve(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Now returns the virtual time since the start in whole nanoseconds, rounded down.
func (s *Sim) Now() time.Duration { return s.now.Duration() }

// Clock returns the virtual time since the start.
func (s *Sim) Clock() Time { return s.now }

// At calls f at time t, or in this instant if t is past. Functions of one instant are
// called in the order of their scheduling.
func (s *Sim) At(t time.Duration, f func()) { s.call(picoseconds(t), f) }

// After calls f when d has passed.
func (s *Sim) After(d time.Duration, f func()) { s.call(s.now+picoseconds(d), f) }

func (s *Sim) call(t Time, f func()) {
	var place int32
	if n := len(s.free); n > 0 {
		place = s.free[n-1]
		s.free = s.free[:n-1]
		s.calls[place] = f
	} else {
		place = int32(len(s.calls))
		s.calls = append(s.calls, f)
	}
	s.agenda.push(max(t, s.now), eventCall, place)
}

// Every calls f each period, first when one period has passed, until it returns
// false. The period must be positive.
func (s *Sim) Every(period time.Duration, f func() bool) {
	if period <= 0 {
		panic("fabric: period is not positive")
	}
	next := s.Now()
	var tick func()
	tick = func() {
		if f() {
			next += period
			s.At(next, tick)
		}
	}
	next += period
	s.At(next, tick)
}

// Run carries out all that happens up to and including t, and leaves the clock there.
// After a [Sim.Stop] it returns early and the clock stays at the last event.
func (s *Sim) Run(t time.Duration) {
	end := picoseconds(t)
	for s.stopped = false; !s.stopped; {
		if s.agenda.next() > end {
			s.now = max(s.now, end)
			return
		}
		s.step()
	}
}

// Drain carries out events until there are none, or until [Sim.Stop].
func (s *Sim) Drain() {
	for s.stopped = false; !s.stopped && s.agenda.len() > 0; {
		s.step()
	}
}

// Next returns when the next event is due, in whole nanoseconds, rounded up, and false if
// there is none.
func (s *Sim) Next() (time.Duration, bool) {
	at := s.agenda.next()
	if at == never {
		return 0, false
	}
	return (at + Nanosecond - 1).Duration(), true
}

// Stop makes Run or Drain return after the event that it is called in.
func (s *Sim) Stop() { s.stopped = true }

// Events returns how many events were carried out.
func (s *Sim) Events() uint64 { return s.events }

// Trace returns a hash of the seed and of all events so far: two runs that agree in
// it did the same.
func (s *Sim) Trace() uint64 { return s.trace }

// Host returns the i-th host, from 0.
func (s *Sim) Host(i int) *Host { return s.hosts[i] }

// Hosts returns how many hosts there are.
func (s *Sim) Hosts() int { return len(s.hosts) }

// NIC returns a NIC of a host, both from 0. The topology's places are taken rail by
// rail: NIC 0 of all hosts, then NIC 1 of all hosts. So neighbours of one rail share a leaf.
func (s *Sim) NIC(host, rail int) *NIC { return s.hosts[host].NICs[rail] }

// Links returns all links: those of the NICs in their order, then those between
// switches.
func (s *Sim) Links() []*Link { return s.links }

// Switches returns all switches.
func (s *Sim) Switches() []*Switch { return s.switches }

// step carries out the next event.
func (s *Sim) step() {
	e := s.agenda.pop()
	s.now = e.at
	s.events++
	s.trace = (s.trace ^ uint64(e.at) ^ uint64(e.target)<<40 ^ uint64(e.kind())<<56) * 0x9e3779b97f4a7c15
	switch e.kind() {
	case eventArrive:
		s.ports[e.target].arrive()
	case eventTransmit:
		s.ports[e.target].transmit()
	case eventUnpause:
		s.ports[e.target].unpause()
	case eventRefresh:
		s.ports[e.target].refresh()
	case eventDrain:
		s.nics[e.target].drain()
	case eventTimeout:
		s.qps[e.target].timer()
	case eventRNR:
		s.qps[e.target].rnrOver()
	case eventCut:
		s.qps[e.target].cut()
	case eventRate:
		s.qps[e.target].rateTimer()
	case eventNotifyCQ:
		s.cqs[e.target].tell()
	case eventCall:
		f := s.calls[e.target]
		s.calls[e.target] = nil
		s.free = append(s.free, e.target)
		f()
	}
}
