package twohost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/clock"
	"github.com/rdmagate/rdmagate/verbs"
)

// RetryTime posts one slice on a dead pair, with nothing else on the wire, and returns
// how long it took to fail.
func (b *Bed) RetryTime(ctx context.Context, n Numbers, op transfer.Op) (took time.Duration, err error) {
	near, err := n.loneQP(b.a.NICs()[0])
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, near.close()) }()
	far, err := n.loneQP(b.b.NICs()[0])
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, far.close()) }()
	if err := errors.Join(near.Connect(far.Address()), far.Connect(near.Address())); err != nil {
		return 0, err
	}
	var local, remote memory
	defer func() { err = errors.Join(err, local.close(), remote.close()) }()
	if err := errors.Join(local.alloc(b.a, n.SliceBytes), remote.alloc(b.b, n.SliceBytes)); err != nil {
		return 0, err
	}
	wr := verbs.SendWR{
		Op: verbs.OpWrite, Flags: verbs.SendSignaled,
		RKey: remote.regions[0].RKey(), RemoteAddr: remote.regions[0].Addr(),
		SGE: verbs.SGE{Addr: local.regions[0].Addr(), Length: uint32(n.SliceBytes), LKey: local.regions[0].LKey()},
	}
	if op == transfer.Read {
		wr.Op = verbs.OpRead
	}
	posted := clock.Now()
	if _, err := near.PostSend([]verbs.SendWR{wr}); err != nil {
		return 0, err
	}
	wcs := make([]verbs.WC, 1)
	for {
		switch got, err := near.cq.Poll(wcs); {
		case err != nil:
			return 0, err
		case got > 0 && wcs[0].Status != classify.StatusRetryExcErr:
			return 0, fmt.Errorf("twohost: a %v on a dead pair ended in %v, not in a timeout", op, wcs[0].Status)
		case got > 0:
			return clock.Now() - posted, nil
		}
		if err := sleep(ctx, time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// loneQP is a QP with a CQ for itself.
type loneQP struct {
	fabric.QP
	cq fabric.CQ
}

func (n Numbers) loneQP(nic fabric.NIC) (q loneQP, err error) {
	if q.cq, err = nic.NewCQ(4); err != nil {
		return q, err
	}
	q.QP, err = nic.NewQP(q.cq, fabric.QPConfig{SendDepth: 2, RecvDepth: 1, Timeout: n.AckTimeout, Retry: n.Retry, RNRRetry: 3})
	if err != nil {
		return q, errors.Join(err, q.cq.Close())
	}
	return q, nil
}

func (q loneQP) close() error { return errors.Join(q.QP.Close(), q.cq.Close()) }
