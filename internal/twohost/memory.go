package twohost

import (
	"errors"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// memory is registered with every NIC of a host.
type memory struct {
	host    fabric.Host
	mem     []byte
	regions []fabric.Region
}

func (m *memory) alloc(h fabric.Host, bytes int) (err error) {
	m.host = h
	if m.mem, err = h.Alloc(bytes); err != nil {
		return err
	}
	for _, nic := range h.NICs() {
		r, err := nic.Register(m.mem)
		if err != nil {
			return err
		}
		m.regions = append(m.regions, r)
	}
	return nil
}

// object is the memory as a peer reads and writes it.
func (m *memory) object() transfer.Object {
	o := transfer.Object{Name: "memory", Bytes: int64(len(m.mem)), Keys: map[string]transfer.Key{}}
	for i, nic := range m.host.NICs() {
		o.Keys[nic.Name()] = transfer.Key{Addr: m.regions[i].Addr(), RKey: m.regions[i].RKey()}
	}
	return o
}

func (m *memory) close() error {
	var faults []error
	for _, r := range m.regions {
		faults = append(faults, r.Close())
	}
	if m.mem != nil {
		faults = append(faults, m.host.Free(m.mem))
	}
	return errors.Join(faults...)
}
