package labcongestion

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/labverbs"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/rdmagate/rdmagate/verbs"
)

// sender is one NIC with a QP to the receiver and its route. It always has more to
// send.
type sender struct {
	ctl    *cc.Controller
	pair   *labverbs.Pair
	route  *cc.Route
	gen    cc.Generation
	poller *cc.Poller

	size  int
	slots []slot
	idle  []int // slots that are not in flight
	list  []verbs.SendWR
	wcs   []verbs.WC
	sent  uint64 // slices, ever

	looked time.Duration // at the CQ, the last time
	broken bool          // the QP failed: what is in flight is being flushed
}

// slot is a place for a slice, at the same offset of both memories.
type slot struct {
	permit cc.Permit
	task   taskstate.Task
	use    cc.Use
	posted time.Duration
}

// stampEvery is how many bytes there are from one stamp of a slice's number to the
// next: every packet has one, so data of an earlier slice are never taken for new.
const stampEvery = 1 << 10

func newSender(ctl *cc.Controller, from, to softroce.NIC, s Setup, random *rand.Rand) (*sender, error) {
	pair, err := labverbs.Connect(from, to, labverbs.Config{
		Bytes:     s.Offered * s.SliceBytes,
		MaxSendWR: maxOffered,
		PathMTU:   s.PathMTU,
		Timeout:   s.AckTimeout,
		Retry:     7, // Soft-RoCE then tries for ever: loss shows as time, not as errors
	})
	if err != nil {
		return nil, err
	}
	x := &sender{
		ctl: ctl, pair: pair, size: s.SliceBytes,
		slots: make([]slot, s.Offered), wcs: make([]verbs.WC, s.Offered),
	}
	for i := range x.slots {
		x.idle = append(x.idle, i)
	}
	memory := pair.From.Bytes()
	for i := 0; i+8 <= len(memory); i += 8 {
		binary.LittleEndian.PutUint64(memory[i:], random.Uint64())
	}
	if err := x.register(); err != nil {
		return nil, errors.Join(err, pair.Close())
	}
	return x, nil
}

// register makes the sender known to the controller.
func (x *sender) register() (err error) {
	from := x.pair.From
	x.route, err = x.ctl.Route(rail.Pair{Peer: "receiver", Local: from.NIC.Device, Port: 1, Remote: x.pair.To.NIC.Device})
	if err != nil {
		return err
	}
	if x.poller, err = x.ctl.NewPoller(from.NIC.Device, from.CQ.ID()); err != nil {
		return err
	}
	x.gen, err = x.route.Renew(0, x.qps())
	return err
}

// post posts what is idle, as far as the controller lets it, and returns how many.
func (x *sender) post() (int, error) {
	if x.broken {
		return 0, nil
	}
	x.list = x.list[:0]
	now := x.ctl.Now()
	for len(x.idle) > 0 {
		i := x.idle[len(x.idle)-1]
		s := &x.slots[i]
		d := x.route.TryAcquire(&s.permit, x.gen, int64(x.size), &s.task)
		if d.Err != nil {
			return 0, d.Err
		}
		if !d.Admitted() {
			break
		}
		if err := s.permit.Posting(x.pair.From.QP.ID(), now); err != nil {
			return 0, err
		}
		x.idle = x.idle[:len(x.idle)-1]
		s.use, s.posted = d.Use, now
		x.list = append(x.list, x.write(i))
	}
	if len(x.list) == 0 {
		return 0, nil
	}
	return len(x.list), x.pair.Post(x.list)
}

// write returns the work request of a slot, with new data in it.
func (x *sender) write(i int) verbs.SendWR {
	x.sent++
	from, offset := x.part(x.pair.From, i), uint64(i*x.size)
	for at := 0; at+8 <= len(from); at += stampEvery {
		binary.LittleEndian.PutUint64(from[at:], x.sent)
	}
	return verbs.SendWR{
		WRID:       uint64(i),
		Op:         verbs.OpWrite,
		Flags:      verbs.SendSignaled,
		RKey:       x.pair.To.MR.RKey(),
		RemoteAddr: x.pair.To.MR.Addr() + offset,
		SGE:        verbs.SGE{Addr: x.pair.From.MR.Addr() + offset, Length: uint32(x.size), LKey: x.pair.From.MR.LKey()},
	}
}

// part is the memory of a slot at one end.
func (x *sender) part(e *labverbs.End, i int) []byte { return e.Bytes()[i*x.size : (i+1)*x.size] }

// poll settles what has completed and tells the stretch. A QP that failed is replaced
// once everything on it is flushed.
func (x *sender) poll(s *Stretch) error {
	n, err := x.pair.From.CQ.Poll(x.wcs)
	now := x.ctl.Now()
	x.poller.Beat(now)
	void := s.lookedAgain(x.looked, now)
	x.looked = now
	for _, wc := range x.wcs[:n] {
		i := int(wc.WRID)
		at := &x.slots[i]
		v := classify.Completion(wc.Status, wc.VendorErr)
		at.permit.Settle(at.use, v, now)
		x.idle = append(x.idle, i)
		if !v.Succeeded() {
			if !x.broken {
				x.broken = true
				s.Failures = append(s.Failures, v.String())
			}
			continue
		}
		if !bytes.Equal(x.part(x.pair.From, i), x.part(x.pair.To, i)) {
			return fmt.Errorf("labcongestion: a WRITE of %v completed and its data are not there", x.pair.From.NIC)
		}
		s.landed = append(s.landed, landing{at: now, delay: now - at.posted, void: void})
	}
	if err == nil && x.broken && len(x.idle) == len(x.slots) {
		err = x.replace()
	}
	return err
}

// replace builds another QP.
func (x *sender) replace() (err error) {
	if err := x.pair.Reconnect(); err != nil {
		return err
	}
	x.broken = false
	x.gen, err = x.route.Renew(x.gen, x.qps())
	return err
}

// qps is what the controller is told of the endpoint.
func (x *sender) qps() []cc.QP {
	return []cc.QP{{ID: x.pair.From.QP.ID(), CQ: x.pair.From.CQ.ID()}}
}

// out is how many bytes are in flight.
func (x *sender) out() int64 { return int64(len(x.slots)-len(x.idle)) * int64(x.size) }

// close flushes what is in flight, and reports bytes that did not come back.
func (x *sender) close() error {
	return errors.Join(x.flush(), x.pair.Close())
}

func (x *sender) flush() error {
	if err := x.pair.From.QP.ToErr(); err != nil {
		return err
	}
	wcs, err := labverbs.Collect(x.pair.From.CQ, len(x.slots)-len(x.idle))
	for _, wc := range wcs {
		s := &x.slots[wc.WRID]
		s.permit.Settle(s.use, classify.Completion(wc.Status, wc.VendorErr), x.ctl.Now())
	}
	x.poller.Close()
	if left := x.route.InFlight(); left != 0 {
		err = errors.Join(err, fmt.Errorf("labcongestion: %d bytes of %v in flight after everything was settled", left, x.route.Pair()))
	}
	return err
}
