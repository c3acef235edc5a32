package transfer

import (
	"errors"
	"fmt"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// Buffer is memory that every NIC of a host has registered, so that a slice can
// change rails without being copied.
type Buffer struct {
	host    fabric.Host
	mem     []byte
	regions []fabric.Region // by index of the NIC
}

// Key is what a remote NIC needs to reach a buffer through one of its own NICs.
type Key struct {
	Addr uint64 `json:"addr"`
	RKey uint32 `json:"rkey"`
}

// NewBuffer allocates memory and registers it with the given NICs of the host.
func NewBuffer(host fabric.Host, nics []fabric.NIC, bytes int) (*Buffer, error) {
	if bytes <= 0 {
		return nil, fmt.Errorf("transfer: buffer of %d bytes: must be at least 1; there is nothing to move otherwise", bytes)
	}
	mem, err := host.Alloc(bytes)
	if err != nil {
		return nil, fmt.Errorf("transfer: buffer of %d bytes: %w", bytes, err)
	}
	b := &Buffer{host: host, mem: mem}
	for _, nic := range nics {
		r, err := nic.Register(mem)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("transfer: registering %d bytes with %s: %w", bytes, nic.Name(), err), b.Close())
		}
		b.regions = append(b.regions, r)
	}
	return b, nil
}

// Bytes returns the memory. While a transfer uses it, a Write may be read and
// nothing else; a Read must be left alone.
func (b *Buffer) Bytes() []byte { return b.mem }

// Len returns the length in bytes.
func (b *Buffer) Len() int64 { return int64(len(b.mem)) }

// Close deregisters and frees the memory. No transfer may use it any more. A
// second Close does nothing.
func (b *Buffer) Close() error {
	var faults []error
	for _, r := range b.regions {
		faults = append(faults, r.Close())
	}
	b.regions = nil
	if b.mem != nil {
		faults = append(faults, b.host.Free(b.mem))
		b.mem = nil
	}
	return errors.Join(faults...)
}

// keys returns how a peer reaches the buffer, by name of the NIC.
func (b *Buffer) keys(nics []fabric.NIC) map[string]Key {
	keys := make(map[string]Key, len(nics))
	for i, nic := range nics {
		keys[nic.Name()] = Key{Addr: b.regions[i].Addr(), RKey: b.regions[i].RKey()}
	}
	return keys
}
