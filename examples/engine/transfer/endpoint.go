package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// endpoint is one generation of a rail: a set of connected QPs, some for each worker
// and one for the prober. It is built once, used until it is retired, and closed when
// the last of them has nothing of it on the wire any more. A failed QP is never brought back
// to life; the next endpoint has others.
//
// One of a rail that is left to the prober may be narrow: it has the prober's QP alone.
// It is built sooner, and for nothing without much loss; when the rail has come back a
// full one takes its place.
type endpoint struct {
	rail       *rail
	generation cc.Generation
	remote     uint64         // the peer's number for its half
	qps        [][]*queuePair // by lane; none of a lane that is not a member
	narrow     bool

	retired atomic.Bool  // post nothing more
	aborted atomic.Bool  // wait for nothing either: fail the QPs
	members atomic.Int32 // lanes that still have QPs here, or will
}

// queuePair is one QP of an endpoint. Its lane alone touches it.
type queuePair struct {
	fabric.QP
	endpoint *endpoint
	number   uint32 // as completions name it
	cq       *completionQueue
	depth    int // of the send queue

	batch   []*slice // admitted, to be posted
	taken   int      // send queue entries in use, with the batch
	full    bool     // the send queue refused more
	failed  bool     // in the error state, waiting for flushes
	flushBy time.Duration
	closed  bool
}

// completionQueue is one lane's CQ on one NIC. A lane has at most depth work requests
// under way there.
type completionQueue struct {
	fabric.CQ
	depth  int
	poller *cc.Poller // the lane, as the controller sees it
	taken  int        // entries that work requests under way may need
}

// build makes the next endpoint of a rail: the local QPs, the peer's half over the
// control connection, and the new generation.
func (r *rail) build(ctx context.Context, old cc.Generation) (*endpoint, error) {
	ep, err := r.newQPs()
	if err != nil {
		return nil, err
	}
	if err := ep.connect(ctx); err != nil {
		if tellsOfPath(err) {
			r.route.Unreachable(old, r.peer.engine.ctl.Now())
		}
		return nil, errors.Join(err, ep.closeQPs())
	}
	ep.generation, err = r.route.Renew(old, ep.names())
	if err != nil {
		ep.disconnect()
		return ep, errors.Join(err, ep.closeQPs())
	}
	return ep, nil
}

// tellsOfPath reports whether a failure to connect is news of the path: the peer's NIC is
// down, or the own one found no way to it. Anything else, from a lack of memory to the end
// of the control connection, is not.
func tellsOfPath(err error) bool {
	if errors.Is(err, ErrPeerGone) {
		return false // as the control connection tells
	}
	for _, cause := range []error{errUnreachable, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

func (r *rail) newQPs() (*endpoint, error) {
	e := r.peer.engine
	ep := &endpoint{rail: r, qps: make([][]*queuePair, len(e.lanes))}
	ep.narrow = r.wantsNarrow()
	for i, l := range e.lanes {
		if ep.narrow && l != &e.prober.lane {
			continue
		}
		ep.members.Add(1)
		cq := l.cqs[r.nic]
		for range l.qps {
			qp, err := e.nics[r.nic].NewQP(cq.CQ, l.config)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("transfer: QP for %s: %w", r.pair, err), ep.closeQPs())
			}
			ep.qps[i] = append(ep.qps[i], &queuePair{QP: qp, endpoint: ep, number: qp.Address().QPN, cq: cq, depth: l.config.SendDepth})
		}
	}
	return ep, nil
}

func (ep *endpoint) connect(ctx context.Context) error {
	ask := connectRequest{Remote: ep.rail.pair.Remote}
	for qp := range ep.all {
		ask.Addresses = append(ask.Addresses, qp.Address())
	}
	var reply connectReply
	if err := ep.rail.peer.control.call(ctx, opConnect, ask, &reply); err != nil {
		return fmt.Errorf("transfer: connecting %s: %w", ep.rail.pair, err)
	}
	ep.remote = reply.Endpoint
	if len(reply.Addresses) != len(ask.Addresses) {
		ep.disconnect()
		return fmt.Errorf("transfer: connecting %s: the peer made %d QPs, %d were asked for", ep.rail.pair, len(reply.Addresses), len(ask.Addresses))
	}
	i := 0
	for qp := range ep.all {
		if err := qp.Connect(reply.Addresses[i]); err != nil {
			ep.disconnect()
			return fmt.Errorf("transfer: connecting %s: %w", ep.rail.pair, err)
		}
		i++
	}
	return nil
}

// all ranges over the QPs of all lanes.
func (ep *endpoint) all(yield func(*queuePair) bool) {
	for _, mine := range ep.qps {
		for _, qp := range mine {
			if !yield(qp) {
				return
			}
		}
	}
}

// names lists the QPs for the controller, which finds the generation of an
// asynchronous event through them.
func (ep *endpoint) names() []cc.QP {
	var list []cc.QP
	for qp := range ep.all {
		list = append(list, cc.QP{ID: qp.ID(), CQ: qp.cq.ID()})
	}
	return list
}

// has reports whether a QP or CQ of that number belongs to the endpoint.
func (ep *endpoint) has(qpID, cqID uint64) bool {
	for qp := range ep.all {
		if qpID != 0 && qp.ID() == qpID || cqID != 0 && qp.cq.ID() == cqID {
			return true
		}
	}
	return false
}

// leave says that one lane has nothing of the endpoint on the wire and will
// post nothing more. After the last one the endpoint is closed.
func (ep *endpoint) leave() {
	if ep.members.Add(-1) == 0 {
		go ep.close()
	}
}

// close gives back both halves. The lanes have left.
func (ep *endpoint) close() {
	if err := ep.closeQPs(); err != nil {
		ep.rail.peer.engine.log.Warn("closing an endpoint", "rail", ep.rail.pair.String(), "error", err)
	}
	ep.disconnect()
	ep.rail.peer.closed(ep)
}

func (ep *endpoint) closeQPs() error {
	var faults []error
	for qp := range ep.all {
		if !qp.closed {
			qp.closed = true
			faults = append(faults, qp.Close())
		}
	}
	return errors.Join(faults...)
}

// disconnect lets the peer close its half, unless the connection to it is being
// closed: then the peer closes what is left by itself, and a failure needs no further
// care either.
func (ep *endpoint) disconnect() {
	p := ep.rail.peer
	_ = p.control.call(p.living, opDisconnect, disconnectRequest{Endpoint: ep.remote}, nil)
}

// room reports whether one more work request fits.
func (qp *queuePair) room() bool {
	return !qp.failed && !qp.full && qp.taken < qp.depth && qp.cq.taken < qp.cq.depth
}

func (qp *queuePair) take() {
	qp.taken++
	qp.cq.taken++
}

func (qp *queuePair) give() {
	qp.taken--
	qp.cq.taken--
	qp.full = false
}
