package transfer

import "github.com/rdmagate/rdmagate/cc"

// slots names the slices that a worker has on the wire. A slot's index is the
// upper half of wr_id, the use number of the slice's permit the lower one: the
// slot finds the slice, and the use number tells a late completion of the slot's
// former owner.
type slots struct {
	owners []*slice // nil: free
	free   []uint32
}

// take gives the slice a slot.
func (t *slots) take(s *slice) {
	if n := len(t.free); n > 0 {
		s.slot = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		s.slot = uint32(len(t.owners))
		t.owners = append(t.owners, nil)
	}
	t.owners[s.slot] = s
}

// give makes the slice's slot free.
func (t *slots) give(s *slice) {
	t.owners[s.slot] = nil
	t.free = append(t.free, s.slot)
}

// wrID packs the slice's slot and use number.
func (s *slice) wrID() uint64 { return uint64(s.slot)<<32 | uint64(s.use) }

// find returns the slice that a work request belongs to, or nil if its owner is
// gone. qpn is the QP that the completion names: with admission switched off all
// use numbers are 0.
func (t *slots) find(wrID uint64, qpn uint32) *slice {
	slot, use := wrID>>32, cc.Use(wrID)
	if slot >= uint64(len(t.owners)) {
		return nil
	}
	s := t.owners[slot]
	if s == nil || s.use != use || s.qp.number != qpn {
		return nil
	}
	return s
}

// used returns how many slots have an owner.
func (t *slots) used() int { return len(t.owners) - len(t.free) }
