package simfabric

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
	if len(mem) == 0 {
		return nil, invalid(call, p.String(), "the memory has length 0", "register at least one byte")
	}
	p.net.lock()
	defer p.net.unlock()
	if err := p.host.open(call, p.String()); err != nil {
		return nil, err
	}
	if !p.host.gave(mem) {
		return nil, invalid(call, p.String(), fmt.Sprintf("%d bytes at %#x are not of this host's Alloc", len(mem), address(mem)),
			"take memory from Alloc of the same host")
	}
	p.net.keys += 2
	r := &Region{nic: p, mem: mem, lkey: p.net.keys, rkey: p.net.keys | 1}
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
	r.nic.net.lock()
	defer r.nic.net.unlock()
	r.deregister()
	return nil
}

// String names the region as errors do.
func (r *Region) String() string { return fmt.Sprintf("region %#x of %v", r.lkey, r.nic) }

func (r *Region) deregister() { delete(r.nic.regions, r.lkey) }

func (r *Region) overlaps(mem []byte) bool {
	a, b := address(r.mem), address(mem)
	return a < b+uintptr(len(mem)) && b < a+uintptr(len(r.mem))
}

// slice returns n bytes from an address, or false if they are not all inside.
func (r *Region) slice(addr uint64, n int) ([]byte, bool) {
	offset, size := addr-r.Addr(), uint64(len(r.mem))
	if offset > size || uint64(n) > size-offset { // an address before the region wraps around
		return nil, false
	}
	return r.mem[offset:][:n], true
}

// remote returns the n bytes that a peer may access under a key, or false if it
// may not.
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

// local returns the memory behind a list of SGEs, or false if one of them is not
// all inside the region of its key.
func (p *NIC) local(sges []verbs.SGE) ([][]byte, bool) {
	pieces := make([][]byte, 0, len(sges))
	for _, sge := range sges {
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

// list returns the SGEs of a work request as one list.
func list(first verbs.SGE, more []verbs.SGE) []verbs.SGE {
	return append([]verbs.SGE{first}, more...)
}

// length returns the bytes of a list of SGEs.
func length(sges []verbs.SGE) int {
	n := 0
	for _, sge := range sges {
		n += int(sge.Length)
	}
	return n
}

// part returns bytes offset to offset+n of memory in pieces.
func part(pieces [][]byte, offset, n int) [][]byte {
	var out [][]byte
	for _, p := range pieces {
		if skip := min(offset, len(p)); skip > 0 {
			p, offset = p[skip:], offset-skip
		}
		if take := min(n, len(p)); take > 0 {
			out, n = append(out, p[:take]), n-take
		}
	}
	return out
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
