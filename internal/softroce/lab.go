package softroce

import (
	"errors"
	"sync"
)

// Lab is the fabric of the guest that the program runs in: the NICs of its
// [Layout] and the faults that can be made on the way between them.
//
// Every fault returns a function that undoes it. That function may be called
// more than once and from any goroutine; only the first call acts, and all
// report its result. Faults are states: to make one again changes nothing, and
// one undo ends it. Faults of different kinds, and on different NICs, combine.
//
// A Lab is safe for concurrent use. Faults outlive the program that made them,
// so a test should begin or end with Heal. Only one Lab at a time should make
// faults.
type Lab struct {
	Layout

	mu     sync.Mutex
	queues map[string]queue // what delays or drops packets, by NIC name
	drops  map[string]int   // faults that need a filter, by where it is
}

// Undo ends a fault.
type Undo func() error

// Current returns the Lab of the guest that the program runs in. Outside a
// guest it is an error.
func Current() (*Lab, error) {
	nics, err := guestNICs()
	if err != nil {
		return nil, err
	}
	layout, err := NewLayout(nics)
	if err != nil {
		return nil, err
	}
	for _, side := range [][]NIC{layout.A, layout.B} {
		for i := range side {
			if side[i].GIDIndex, err = side[i].findGID(sysfsRDMA); err != nil {
				return nil, err
			}
		}
	}
	return newLab(layout), nil
}

func newLab(layout Layout) *Lab {
	return &Lab{Layout: layout, queues: make(map[string]queue), drops: make(map[string]int)}
}

// Heal undoes every fault, also those made by other programs in the guest, and
// brings every link up. It goes on after an error and returns all of them.
func (l *Lab) Heal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var up, tc []string
	for _, n := range l.All() {
		up = append(up, l.upScript(n)...)
		tc = append(tc, queue{}.script(n)...)
		for _, dev := range []string{n.NetDev, n.port} {
			tc = append(tc, "filter del dev "+dev+" ingress", "filter del dev "+dev+" egress")
		}
	}
	clear(l.queues)
	return errors.Join(runBatch("ip", up), runBatch("tc", tc), l.dropSpares())
}

// once makes an undo function of an action.
func once(action func() error) Undo {
	return Undo(sync.OnceValue(action))
}

// check reports a NIC that is not part of the lab.
func (l *Lab) check(nics ...NIC) error {
	for _, n := range nics {
		if _, err := l.ByDevice(n.Device); err != nil {
			return err
		}
	}
	return nil
}
