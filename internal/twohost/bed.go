package twohost

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/rdmagate/rdmagate/examples/engine/fabric/verbsfabric"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/rail"
)

// NICs is how many NICs a side has.
const NICs = 5

// Bed is the two hosts in the guest. Host A posts. Its management NIC is the first
// of its list, that of host B the last: matching by position proposes two dead pairs
// among five.
type Bed struct {
	Lab     *softroce.Lab
	a, b    *verbsfabric.Host
	dead    func(i, j int) bool
	blocked bool // the dead pairs are
}

// Open opens both hosts and blocks the dead pairs, which are those of a management NIC
// with a rail NIC. The lab must have [NICs] NICs a side.
func Open(lab *softroce.Lab) (*Bed, error) {
	b, err := OpenWith(lab, management)
	if err != nil {
		return nil, err
	}
	if err := b.Block(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// OpenWith opens both hosts. dead says which pairs of an A and a B NIC [Bed.Block] makes
// dead; nothing is blocked yet.
func OpenWith(lab *softroce.Lab, dead func(i, j int) bool) (*Bed, error) {
	if len(lab.A) != NICs {
		return nil, fmt.Errorf("twohost: the guest has %d NICs a side, %d are needed; boot it with -nics %d", len(lab.A), NICs, NICs)
	}
	b := &Bed{Lab: lab, dead: dead}
	var err error
	if b.a, err = verbsfabric.Open("host a", devices(lab.A)...); err != nil {
		return nil, err
	}
	if b.b, err = verbsfabric.Open("host b", devices(lab.B)...); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func devices(nics []softroce.NIC) (names []string) {
	for _, n := range nics {
		names = append(names, n.Device)
	}
	return names
}

// Close heals the lab and closes the hosts.
func (b *Bed) Close() error {
	faults := []error{b.Lab.Heal()}
	if b.a != nil {
		faults = append(faults, b.a.Close())
	}
	if b.b != nil {
		faults = append(faults, b.b.Close())
	}
	return errors.Join(faults...)
}

// management reports whether a pair is one of a management NIC with a rail NIC.
func management(i, j int) bool { return (i == 0) != (j == NICs-1) }

// Dead reports whether a path is one that never works.
func (b *Bed) Dead(p Path) bool {
	for i, a := range b.Lab.A {
		for j, r := range b.Lab.B {
			if a.Device == p.Local && r.Device == p.Remote {
				return b.dead(i, j)
			}
		}
	}
	return false
}

// railFile lists the pairs that work.
func (b *Bed) railFile() *rail.File {
	f := &rail.File{}
	for i, a := range b.Lab.A {
		for j, r := range b.Lab.B {
			if !b.dead(i, j) {
				f.All = append(f.All, rail.FilePair{Local: a.Device, Remote: r.Device})
			}
		}
	}
	return f
}

// DeadPaths lists the paths that never work.
func (b *Bed) DeadPaths() (list []Path) {
	for i, a := range b.Lab.A {
		for j, r := range b.Lab.B {
			if b.dead(i, j) {
				list = append(list, Path{a.Device, r.Device})
			}
		}
	}
	return list
}

// Block makes the dead pairs dead, both ways, at one moment.
func (b *Bed) Block() error {
	err := b.Lab.BlockAll(b.deadWays())
	b.blocked = err == nil
	return err
}

// Lift lets the dead pairs work, from one moment on.
func (b *Bed) Lift() error {
	if !b.blocked {
		return nil
	}
	b.blocked = false
	return b.Lab.UnblockAll(b.deadWays())
}

// deadWays are the ways from NIC to NIC of the dead pairs.
func (b *Bed) deadWays() (list [][2]softroce.NIC) {
	for i, a := range b.Lab.A {
		for j, r := range b.Lab.B {
			if b.dead(i, j) {
				list = append(list, [2]softroce.NIC{a, r}, [2]softroce.NIC{r, a})
			}
		}
	}
	return list
}

// queue is how many packets wait for a shaped NIC, more than the windows let out.
const queue = 1000

// Shape limits what reaches each NIC to mbit Mbit/s, so that the NICs are the
// bottleneck, as they are on hardware, and not the processor that emulates them.
func (b *Bed) Shape(mbit float64) error {
	if mbit == 0 {
		return nil
	}
	for _, n := range b.Lab.All() {
		if _, err := b.Lab.Rate(n, mbit, queue); err != nil {
			return err
		}
	}
	return nil
}

// remotes names host B's devices by their addresses.
func (b *Bed) remotes() map[netip.Addr]string {
	names := map[netip.Addr]string{}
	for _, n := range b.Lab.B {
		names[n.Addr] = n.Device
	}
	return names
}
