package verbsfabric

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

// maxReads is how many READs a QP has outstanding, and serves, at most.
const maxReads = 16

// minRNRTimer is the RNR timer code: 0.64 ms.
const minRNRTimer = 12

// qp is a QP in state INIT, or RTS once it is connected.
type qp struct {
	*verbs.QP
	nic   *nic
	cfg   fabric.QPConfig
	gid   verbs.GIDEntry
	local fabric.Address
}

func (n *nic) NewQP(cq fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	c, ok := cq.(*verbs.CQ)
	if !ok || c.Context() != n.ctx {
		return nil, fmt.Errorf("verbsfabric: QP on %s with a CQ (%T) that is not this NIC's; make one with its NewCQ", n.Name(), cq)
	}
	gid, err := n.gid()
	if err != nil {
		return nil, err
	}
	v, err := n.pd.CreateQP(verbs.QPInit{SendCQ: c, Cap: verbs.QPCap{MaxSendWR: cfg.SendDepth, MaxRecvWR: cfg.RecvDepth}})
	if err != nil {
		return nil, err
	}
	if err := v.ToInit(verbs.InitAttr{Port: n.port, Access: verbs.AccessLocalWrite | verbs.AccessRemoteRead | verbs.AccessRemoteWrite}); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return &qp{QP: v, nic: n, cfg: cfg, gid: gid, local: fabric.Address{
		QPN: v.Num(), PSN: rand.Uint32N(1 << 24), GID: gid.GID.String(), LID: n.traffic.LID, MTU: n.traffic.ActiveMTU.Bytes(),
	}}, nil
}

func (q *qp) Address() fabric.Address { return q.local }

// Connect goes through RTR to RTS. The path MTU is the smaller one of both sides.
func (q *qp) Connect(remote fabric.Address) error {
	addr, err := netip.ParseAddr(remote.GID)
	if err != nil {
		return fmt.Errorf("verbsfabric: connecting %v: the peer's GID: %w", q.QP, err)
	}
	mtu, err := pathMTU(min(remote.MTU, q.local.MTU))
	if err != nil {
		return fmt.Errorf("verbsfabric: connecting %v: %w", q.QP, err)
	}
	err = q.ToRTR(verbs.RTRAttr{
		DestQPNum: remote.QPN, RecvPSN: remote.PSN, PathMTU: mtu,
		DestGID: verbs.GID(addr.As16()), GIDIndex: uint8(q.gid.Index), DestLID: remote.LID,
		MaxReadsIn: reads(q.nic.device.MaxReadsIn), MinRNRTimer: minRNRTimer,
	})
	if err != nil {
		return err
	}
	return q.ToRTS(verbs.RTSAttr{
		SendPSN: q.local.PSN, Timeout: q.cfg.Timeout, RetryCount: q.cfg.Retry, RNRRetry: q.cfg.RNRRetry,
		MaxReadsOut: reads(q.nic.device.MaxReadsOut),
	})
}

func (q *qp) Fail() error { return q.ToErr() }

// reads limits the READs of a QP to what the device can do.
func reads(device int) uint8 { return uint8(max(1, min(device, maxReads))) }

// pathMTU returns the constant for a number of bytes.
func pathMTU(bytes int) (verbs.MTU, error) {
	for m := verbs.MTU256; m <= verbs.MTU4096; m++ {
		if m.Bytes() == bytes {
			return m, nil
		}
	}
	return 0, fmt.Errorf("path MTU of %d bytes: must be 256, 512, 1024, 2048 or 4096", bytes)
}
