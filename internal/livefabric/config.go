package livefabric

import (
	"errors"
	"fmt"
	"slices"
	"time"

	sim "github.com/rdmagate/rdmagate/internal/fabric"
)

// Limits of a [Config].
const (
	maxNICs = 255
	maxName = 255
)

// Config describes a fabric: NICs around one switch.
type Config struct {
	Seed uint64
	// Hosts are the machines, 1 to 255, with different names.
	Hosts []HostConfig
	// Rate is what each link carries each way, in bit/s: 1 to 10 Tb/s. It has no default,
	// for it says how much there is to simulate: see the package's documentation.
	Rate int64
	// Delay is the time of a link, up to 1 s; 0 means 1 us. A path has two links.
	Delay time.Duration
	// Switch is the switch; its zero fields have the defaults of package fabric.
	Switch sim.SwitchConfig
	// Crowd is how many further senders there are for [Net.Incast], 0 to 255.
	Crowd int
	// Reason says why a simulated fabric was taken, for people. It becomes part of the
	// hosts' Name.
	Reason string
}

// HostConfig describes one machine.
type HostConfig struct {
	Name string   // 1 to 255 bytes
	NICs []string // 1 to 255 names of 1 to 255 bytes that differ within the host
}

// validate reports every fault that package fabric does not.
func (c Config) validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, invalid("configuration", nil, format, args...))
		}
	}
	names := func(kind string, list []string) {
		check(len(list) >= 1 && len(list) <= maxNICs, "%d %s; give 1 to %d", len(list), kind, maxNICs)
		for i, name := range list {
			check(name != "" && len(name) <= maxName, "a name of %s has %d bytes; give it 1 to %d", kind, len(name), maxName)
			check(!slices.Contains(list[:i], name), "there are two %s of the name %q", kind, name)
		}
	}
	var hosts []string
	for _, h := range c.Hosts {
		hosts = append(hosts, h.Name)
		names(fmt.Sprintf("NICs of host %q", h.Name), h.NICs)
	}
	names("hosts", hosts)
	check(c.Rate > 0, "the rate is %d bit/s; give one", c.Rate)
	check(c.Crowd >= 0 && c.Crowd <= maxNICs, "a crowd of %d; give 0 to %d", c.Crowd, maxNICs)
	return errors.Join(faults...)
}

// fabric returns the simulator's configuration: the NICs of the hosts in their order,
// then the crowd's.
func (c Config) fabric() sim.Config {
	n := c.Crowd
	for _, h := range c.Hosts {
		n += len(h.NICs)
	}
	return sim.Config{
		Seed: c.Seed, Topology: sim.Star(n),
		Link: sim.LinkConfig{Rate: c.Rate, Delay: c.Delay}, Switch: c.Switch,
	}
}
