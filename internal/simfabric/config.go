package simfabric

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/rdmagate/rdmagate/rail"
)

// Limits of [Config].
const (
	maxHosts   = 255
	maxNICs    = 255
	maxRate    = 1e12 // bytes/s
	maxLatency = time.Minute
	maxName    = 255

	defaultMTU = 4096
)

// Config describes a fabric. Rate, Latency and MTU are what a NIC has that says
// nothing itself.
type Config struct {
	// Hosts are the machines, 1 to 255 of them, with different names.
	Hosts []HostConfig
	// Rate is what a NIC sends, and at the same time receives, in bytes per second:
	// 1 to 1e12. It has no default.
	Rate int64
	// Latency is what a NIC adds to a round trip: 0 to 1 minute. The round trip
	// between two NICs is the sum of theirs.
	Latency time.Duration
	// MTU is the payload of a packet in bytes: 256, 512, 1024, 2048 or 4096, and 0
	// means 4096. A QP uses the smaller MTU of its two sides.
	MTU int
	// Reason says why a simulated fabric was taken, for people: "asked for". It
	// becomes part of the hosts' Name.
	Reason string
}

// HostConfig describes one machine.
type HostConfig struct {
	Name string      // 1 to 255 bytes
	NICs []NICConfig // 1 to 255, with names that differ within the host
}

// NICConfig describes one NIC. A zero number means that of the [Config].
type NICConfig struct {
	Name    string // 1 to 255 bytes
	Rate    int64
	Latency time.Duration
	MTU     int
	// NUMA and Addr are what the NIC says of itself, and change nothing else: all NICs
	// reach each other. The zero Addr means 10.0.h.n, for the NIC number n of host
	// number h, both from 1.
	NUMA rail.Node
	Addr netip.Addr
}

// Validate reports every fault of c at once, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(reason, remedy string) {
		faults = append(faults, invalid("configuration", "", reason, remedy))
	}
	if n := len(c.Hosts); n < 1 || n > maxHosts {
		fault(fmt.Sprintf("%d hosts", n), fmt.Sprintf("give 1 to %d", maxHosts))
	}
	hosts := make(map[string]bool)
	for _, h := range c.Hosts {
		checkName(fault, "host", h.Name, hosts)
		if n := len(h.NICs); n < 1 || n > maxNICs {
			fault(fmt.Sprintf("host %q has %d NICs", h.Name, n), fmt.Sprintf("give it 1 to %d", maxNICs))
		}
		nics := make(map[string]bool)
		for _, nic := range h.NICs {
			checkName(fault, "NIC of "+h.Name, nic.Name, nics)
			c.fill(nic).check(fault)
		}
	}
	return errors.Join(faults...)
}

func checkName(fault func(reason, remedy string), kind, name string, seen map[string]bool) {
	switch {
	case name == "" || len(name) > maxName:
		fault(fmt.Sprintf("the name of a %s has %d bytes", kind, len(name)), fmt.Sprintf("give it 1 to %d", maxName))
	case seen[name]:
		fault(fmt.Sprintf("there are two of the name %q (%s)", name, kind), "give each its own")
	}
	seen[name] = true
}

// fill returns the NIC with the fabric's numbers in place of zeros.
func (c Config) fill(nic NICConfig) NICConfig {
	if nic.Rate == 0 {
		nic.Rate = c.Rate
	}
	if nic.Latency == 0 {
		nic.Latency = c.Latency
	}
	if nic.MTU == 0 {
		nic.MTU = c.MTU
	}
	if nic.MTU == 0 {
		nic.MTU = defaultMTU
	}
	return nic
}

func (c NICConfig) check(fault func(reason, remedy string)) {
	if c.Rate < 1 || c.Rate > maxRate {
		fault(fmt.Sprintf("NIC %q has a rate of %d bytes/s", c.Name, c.Rate), fmt.Sprintf("set Rate to 1 to %d", int64(maxRate)))
	}
	if c.Latency < 0 || c.Latency > maxLatency {
		fault(fmt.Sprintf("NIC %q has a latency of %v", c.Name, c.Latency), fmt.Sprintf("set Latency to 0 to %v", maxLatency))
	}
	switch c.MTU {
	case 256, 512, 1024, 2048, 4096:
	default:
		fault(fmt.Sprintf("NIC %q has an MTU of %d bytes", c.Name, c.MTU), "set MTU to 256, 512, 1024, 2048 or 4096")
	}
}
