package fabric

import (
	"errors"
	"fmt"
	"time"
)

// Config describes a fabric. Its zero fields have the defaults that are named at
// each; only the topology has none.
type Config struct {
	Seed     uint64
	Topology Topology
	NICs     int           // of each host; 1. The topology's NICs are dealt out rail by rail, see [Sim.NIC]
	MTU      int           // payload bytes of a packet, 256 to 16384; 4096
	Link     LinkConfig    // between NIC and switch
	Trunk    LinkConfig    // between switches; as Link
	Switch   SwitchConfig  // all switches
	Receiver ReceiveConfig // all NICs; [NIC.Drain] changes one
	DCQCN    *DCQCN        // nil is off
}

// LinkConfig describes a link, the same in both directions.
type LinkConfig struct {
	Rate  int64         // bit/s, up to 10 Tb/s; 100e9
	Delay time.Duration // propagation, up to 1 s; 1 us. Use 1 ns for next to none
}

// SwitchConfig describes a switch.
type SwitchConfig struct {
	Buffer int64   // bytes shared by all ports; 16 MiB for each 50 Gb/s of the fastest port, as in HPCC's public ns-3 runs
	Lossy  bool    // drop instead of pausing
	Alpha  float64 // share of the free buffer that a port may hold; 1/8 (HPCC's ns-3 switch), 1 if Lossy
	XOFF   int64   // a fixed limit of each ingress port in bytes instead of Alpha; 0 is none
	XON    int64   // resume below this many bytes of the port, with XOFF; XOFF - 2 packets
	ECN    *ECN    // nil is off
}

// ReceiveConfig describes how fast a host takes what its NIC receives.
type ReceiveConfig struct {
	Drain  int64 // bit/s that the host takes, counted as on the wire; 0 is at once
	Buffer int64 // bytes of the NIC's receive buffer, above its headroom; 256 KiB
}

// maxRate keeps a transmission time computable in 64 bits.
const maxRate = 10e12

// complete returns c with its defaults filled in, or all that is wrong with it.
func (c Config) complete() (Config, error) {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("fabric: "+format, args...))
		}
	}
	setDefault(&c.NICs, 1)
	setDefault(&c.MTU, 4096)
	setDefault(&c.Link.Rate, 100e9)
	setDefault(&c.Link.Delay, time.Microsecond)
	setDefault(&c.Trunk.Rate, c.Link.Rate)
	setDefault(&c.Trunk.Delay, c.Link.Delay)
	setDefault(&c.Receiver.Buffer, 256<<10)
	check(c.Topology.build != nil, "no topology")
	check(c.NICs >= 1 && c.Topology.nics%max(c.NICs, 1) == 0, "%d NICs do not make hosts of %d each", c.Topology.nics, c.NICs)
	check(c.MTU >= 256 && c.MTU <= 16384, "MTU %d is not 256 to 16384", c.MTU)
	for _, l := range []LinkConfig{c.Link, c.Trunk} {
		check(l.Rate >= 1 && l.Rate <= maxRate, "rate %d is not 1 to %d bit/s", l.Rate, int64(maxRate))
		check(l.Delay > 0 && l.Delay <= time.Second, "delay %v is not up to 1s", l.Delay)
	}
	check(c.Receiver.Drain >= 0 && c.Receiver.Drain <= maxRate, "drain %d is not 0 to %d bit/s", c.Receiver.Drain, int64(maxRate))
	check(c.Receiver.Buffer >= 2*int64(c.MTU+dataOverhead), "receive buffer %d does not hold two packets", c.Receiver.Buffer)

	w := &c.Switch
	setDefault(&w.Buffer, max(c.Link.Rate, c.Trunk.Rate)/1e6*(16<<20)/50e3)
	if w.Lossy {
		setDefault(&w.Alpha, 1)
	}
	setDefault(&w.Alpha, 1./8)
	if w.XOFF > 0 {
		setDefault(&w.XON, w.XOFF-2*int64(c.MTU+dataOverhead))
	}
	check(w.Buffer > 0, "switch buffer %d is not positive", w.Buffer)
	check(w.Alpha > 0, "alpha %v is not positive", w.Alpha)
	check(w.XOFF == 0 || w.XON > 0 && w.XON <= w.XOFF, "XON %d and XOFF %d are not 0 < XON <= XOFF", w.XON, w.XOFF)
	if e := w.ECN; e != nil {
		check(e.KMin >= 0 && e.KMin <= e.KMax && e.PMax >= 0 && e.PMax <= 1, "ECN %+v is not KMin <= KMax, PMax 0 to 1", *e)
	}
	if c.DCQCN != nil {
		faults = append(faults, c.DCQCN.validate())
	}
	return c, errors.Join(faults...)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
