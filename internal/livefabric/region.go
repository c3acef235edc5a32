package livefabric

import (
	"fmt"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

var _ fabric.Region = (*Region)(nil)

// Region is memory registered with one NIC, readable and writable from both sides.
type Region struct {
	nic  *NIC
	mem  []byte
	lkey uint32
	rkey uint32 // never equal to any lkey
}

// Register gives the NIC access to memory that the host's Alloc returned, or to a
// part of it.
func (p *NIC) Register(mem []byte) (fabric.Region, error) {
	const call = "register"
	n := p.host.net
	n.lock()
	defer n.unlock()
	if err := p.host.open(call, p); err != nil {
		return nil, err
	}
	if len(mem) == 0 || !p.host.gave(mem) {
		return nil, invalid(call, p, "%d bytes at %#x are not of this host's Alloc", len(mem), address(mem))
	}
	n.keys += 2
	r := &Region{nic: p, mem: mem, lkey: n.keys, rkey: n.keys | 1}
	p.regions[r.lkey] = r
	return r, nil
}

// Addr returns the address of the first byte, local and for peers.
func (r *Region) Addr() uint64 { return uint64(address(r.mem)) }

// LKey returns the key for the SGEs of local work requests.
func (r *Region) LKey() uint32 { return r.lkey }

// RKey returns the key for the READs and WRITEs of a peer.
func (r *Region) RKey() uint32 { return r.rkey }

// Close deregisters the memory; when it returns the NIC no longer touches it. Work
// requests that still use it fail. Closing twice is nil.
func (r *Region) Close() error {
	r.nic.host.net.lock()
	defer r.nic.host.net.unlock()
	delete(r.nic.regions, r.lkey)
	return nil
}

// String names the region as errors do.
func (r *Region) String() string { return fmt.Sprintf("region %#x of %v", r.lkey, r.nic) }

// slice returns n bytes from an address, or false if they are not all inside.
func (r *Region) slice(addr uint64, n int) ([]byte, bool) {
	offset, size := addr-r.Addr(), uint64(len(r.mem))
	if offset > size || uint64(n) > size-offset { // an address before the region wraps around
		return nil, false
	}
	return r.mem[offset:][:n], true
}

// remote returns the n bytes that a peer may access under a key, or false if it may not.
func (p *NIC) remote(rkey uint32, addr uint64, n int) ([]byte, bool) {
	if n == 0 {
		return nil, true // nothing is accessed, so nothing is checked
	}
	r := p.regions[rkey&^1]
	if r == nil || r.rkey != rkey {
		return nil, false
	}
	return r.slice(addr, n)
}

// local returns the memory of a work request piece by piece, or false if a piece is not
// all inside the region of its key.
func (p *NIC) local(w *work) ([][]byte, bool) {
	pieces := make([][]byte, 0, 1+len(w.more))
	for i := range 1 + len(w.more) {
		sge := w.sge
		if i > 0 {
			sge = w.more[i-1]
		}
		if sge.Length == 0 {
			continue
		}
		r := p.regions[sge.LKey]
		if r == nil {
			return nil, false
		}
		mem, ok := r.slice(sge.Addr, int(sge.Length))
		if !ok {
			return nil, false
		}
		pieces = append(pieces, mem)
	}
	return pieces, true
}

// length returns the bytes of a list of SGEs.
func length(first verbs.SGE, more []verbs.SGE) int {
	n := int(first.Length)
	for _, sge := range more {
		n += int(sge.Length)
	}
	return n
}

// move copies memory in pieces, until one side ends.
func move(dst, src [][]byte) {
	for len(dst) > 0 && len(src) > 0 {
		n := copy(dst[0], src[0])
		if dst[0] = dst[0][n:]; len(dst[0]) == 0 {
			dst = dst[1:]
		}
		if src[0] = src[0][n:]; len(src[0]) == 0 {
			src = src[1:]
		}
	}
}
