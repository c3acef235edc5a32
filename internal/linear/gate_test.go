package linear

import (
	"sync/atomic"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/taskstate"
)

// gate is what histories are made of: the controller, or one that is wrong.
type gate interface {
	// try asks for the bytes of a slot's slices. If they are refused, domain is the one
	// that is too full, or -1 if the generation is not current.
	try(s *slot) (admitted bool, domain int)
	// giveUp gives back, before the post, what the slices from that place on have.
	giveUp(s *slot, from int)
	// post posts the slices, on an endpoint that does not exist if lost is set. If it
	// cannot, it gives everything back.
	post(s *slot, lost bool) bool
	// settle says how some slices of an earlier post ended, and returns those that it
	// gave back.
	settle(s *slot, use, mask uint32, e ending) (gaveBack uint32)
	inFlight(device, domain int) int64
	// renew makes another generation of a route current.
	renew(device, route int)
	// tick lets windows move, and windows returns those of a device.
	tick()
	windows(device int) []int64
}

// ending is how a posted slice ends.
type ending uint8

const (
	success ending = iota
	lateSuccess
	flush
	notReady
	teardown
	cancel // it does not end
	endings
)

// slot is a permit or a list with what it is used for.
type slot struct {
	number, device int
	list           bool
	state          atomic.Uint32
	use            atomic.Uint32 // of the latest post
	left           atomic.Uint32 // the slices that hold bytes

	// The owner's, and after the post that of nobody but who ends it.
	route int
	sizes []int64 // none if nothing is wanted

	permit cc.Permit
	post   cc.List
	task   *taskstate.Task
	got    cc.Use // of the latest admission
}

// States of a slot.
const (
	free = iota
	owned
	posted
)

// all returns the mask of the slot's slices.
func (s *slot) all() uint32 { return 1<<len(s.sizes) - 1 }

// bytes returns the bytes of some slices.
func (s *slot) bytes(mask uint32) (n int64) {
	for i, size := range s.sizes {
		if mask>>i&1 != 0 {
			n += size
		}
	}
	return n
}

// gaveBack returns what giving back some slices is, at once or one by one.
func (s *slot) gaveBack(mask uint32, atOnce bool) (ops []op) {
	o := op{kind: giveBack, in: of(deviceDomain, routeDomain(s.route)), slot: s.number}
	if o.n = s.bytes(mask); atOnce {
		return []op{o}
	}
	for i, n := range s.sizes {
		if mask>>i&1 != 0 {
			o.n = n
			ops = append(ops, o)
		}
	}
	return ops
}

// leave frees a slot that wants nothing any more.
func (s *slot) leave() {
	s.sizes = nil
	s.state.Store(free)
}
