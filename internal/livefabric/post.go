package livefabric

import (
	"errors"
	"slices"
	"syscall"

	sim "github.com/rdmagate/rdmagate/internal/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

const (
	maxMessage = 1 << 31 // bytes
	maxSGE     = 16      // pieces of memory of a work request
)

// receiving marks the numbers of receives towards the simulator.
const receiving = 1 << 63

// work is a work request of either queue.
type work struct {
	id     uint64 // the caller's
	opcode verbs.WCOpcode
	length int // bytes; of a receive once it was used
	sge    verbs.SGE
	more   []verbs.SGE
	rkey   uint32
	raddr  uint64
}

// queue holds work requests by their numbers, which count from 0.
type queue struct {
	first uint64 // number of the first of the list
	list  []work
}

func (q *queue) push(w work) { q.list = append(q.list, w) }

// next returns the number that the next work request gets.
func (q *queue) next() uint64 { return q.first + uint64(len(q.list)) }

func (q *queue) at(number uint64) *work { return &q.list[number-q.first] }

// take removes a work request and all before it, which make no completion any more.
func (q *queue) take(number uint64) work {
	w := *q.at(number)
	q.list = q.list[number-q.first+1:]
	q.first = number + 1
	return w
}

// operations are those that the simulator has.
var operations = map[verbs.Opcode]struct {
	op     sim.Op
	opcode verbs.WCOpcode
}{
	verbs.OpWrite: {sim.Write, verbs.WCWrite},
	verbs.OpRead:  {sim.Read, verbs.WCRead},
	verbs.OpSend:  {sim.Send, verbs.WCSend},
}

// PostSend hands over WRITEs, READs and SENDs in order and returns how many were taken;
// with an error, those behind that number were not. The error wraps ENOMEM when the send
// queue is full, EINVAL when a request cannot be right, and verbs.ErrClosed. No work
// requests at all is no error.
//
// On a QP in ERR requests are taken and flush.
func (q *QP) PostSend(wrs []verbs.SendWR) (int, error) {
	const call = "post send"
	n := q.nic.host.net
	n.lock()
	defer n.unlock()
	if err := q.open(call); err != nil {
		return 0, err
	}
	for i := range wrs {
		wr := &wrs[i]
		op, ok := operations[wr.Op]
		switch {
		case q.peer == nil:
			return i, invalid(call, q, "it is not connected")
		case !ok || wr.Flags&(verbs.SendInline|verbs.SendFence) != 0:
			return i, invalid(call, q, "request %d of the list is a %v with flags %#x; post WRITE, READ or SEND, neither inline nor fenced", i, wr.Op, uint32(wr.Flags))
		case wr.Len() > maxMessage || len(wr.More) >= maxSGE:
			return i, invalid(call, q, "request %d of the list has %d bytes in %d pieces; send at most %d in %d", i, wr.Len(), 1+len(wr.More), uint64(maxMessage), maxSGE)
		}
		err := q.sim.Post(sim.WR{
			ID: q.sends.next(), Op: op.op, Bytes: int64(wr.Len()), Unsignaled: wr.Flags&verbs.SendSignaled == 0,
		})
		if err != nil {
			return i, q.refused(call, i, err)
		}
		q.sends.push(work{
			id: wr.WRID, opcode: op.opcode, length: int(wr.Len()),
			sge: wr.SGE, more: slices.Clone(wr.More), rkey: wr.RKey, raddr: wr.RemoteAddr,
		})
	}
	return len(wrs), nil
}

// PostRecv hands over receives for the peer's SENDs, as PostSend does. They may be posted
// before the QP is connected.
func (q *QP) PostRecv(wrs []verbs.RecvWR) (int, error) {
	const call = "post receive"
	n := q.nic.host.net
	n.lock()
	defer n.unlock()
	if err := q.open(call); err != nil {
		return 0, err
	}
	for i, wr := range wrs {
		if len(wr.More) >= maxSGE {
			return i, invalid(call, q, "request %d of the list has %d pieces; use at most %d", i, 1+len(wr.More), maxSGE)
		}
		if err := q.sim.PostRecv(q.recvs.next() | receiving); err != nil {
			return i, q.refused(call, i, err)
		}
		q.recvs.push(work{id: wr.WRID, opcode: verbs.WCRecv, sge: wr.SGE, more: slices.Clone(wr.More)})
	}
	return len(wrs), nil
}

// refused returns the error of a request that the simulator did not take.
func (q *QP) refused(call string, i int, err error) error {
	if errors.Is(err, sim.ErrQueueFull) {
		return problem(syscall.ENOMEM, call, q, "request %d of the list finds the queue full; post it again after a completion", i)
	}
	return errors.Join(invalid(call, q, "request %d of the list", i), err)
}
