package labverbs

import (
	"errors"
	"fmt"

	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/verbs"
)

// Config says how a pair is made. Zero values mean the defaults.
type Config struct {
	Bytes      int       // memory of each end; 0 means 64 KiB
	MaxSendWR  int       // 0 means 15; Soft-RoCE grants more unless it is 2^n - 1
	MaxRecvWR  int       // 0 means 15, as above
	CQDepth    int       // 0 means room for all requests, twice
	MaxSendSGE int       // 0 means 2
	Timeout    uint8     // code of the ACK timeout; 0 means 10, 4.2 ms
	Retry      uint8     // 0 means 3; Soft-RoCE takes 7 as no limit
	RNRRetry   uint8     // 0 means 2
	PathMTU    verbs.MTU // 0 means 1024 bytes
}

func (c Config) filled() Config {
	fill(&c.Bytes, 64<<10)
	fill(&c.MaxSendWR, 15)
	fill(&c.MaxRecvWR, 15)
	fill(&c.CQDepth, 2*(c.MaxSendWR+c.MaxRecvWR))
	fill(&c.MaxSendSGE, 2)
	fill(&c.Timeout, 10)
	fill(&c.Retry, 3)
	fill(&c.RNRRetry, 2)
	fill(&c.PathMTU, verbs.MTU1024)
	return c
}

func fill[T int | uint8 | verbs.MTU](v *T, value T) {
	if *v == 0 {
		*v = value
	}
}

// End is one side of a pair: a device with one of everything.
type End struct {
	NIC    softroce.NIC
	Ctx    *verbs.Context
	PD     *verbs.PD
	CQ     *verbs.CQ
	Memory *verbs.Memory
	MR     *verbs.MR
	QP     *verbs.QP

	config Config
}

// Bytes returns the registered memory of the end.
func (e *End) Bytes() []byte { return e.Memory.Bytes() }

// Pair is two connected QPs in one process: From asks, To answers.
type Pair struct {
	From, To *End
}

// Connect opens both devices and connects a QP of each.
func Connect(from, to softroce.NIC, config Config) (*Pair, error) {
	config = config.filled()
	p := &Pair{From: &End{NIC: from, config: config}, To: &End{NIC: to, config: config}}
	if err := errors.Join(p.From.open(), p.To.open()); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := p.Reconnect(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (e *End) open() (err error) {
	if e.Ctx, err = verbs.Open(e.NIC.Device); err != nil {
		return err
	}
	if e.PD, err = e.Ctx.AllocPD(); err != nil {
		return err
	}
	if e.CQ, err = e.Ctx.CreateCQ(verbs.CQInit{Depth: e.config.CQDepth}); err != nil {
		return err
	}
	if e.Memory, err = verbs.AllocMemory(e.config.Bytes); err != nil {
		return err
	}
	e.MR, err = e.PD.RegisterMR(e.Bytes(), verbs.AccessLocalWrite|verbs.AccessRemoteWrite|verbs.AccessRemoteRead)
	return err
}

// Reconnect replaces the QPs by new ones and drops the completions of the old.
func (p *Pair) Reconnect() error {
	for _, e := range []*End{p.From, p.To} {
		if err := e.renew(); err != nil {
			return err
		}
	}
	return errors.Join(p.From.meet(p.To), p.To.meet(p.From))
}

func (e *End) renew() (err error) {
	if e.QP != nil {
		if err := e.QP.Close(); err != nil {
			return err
		}
	}
	if err := drop(e.CQ); err != nil {
		return err
	}
	e.QP, err = e.PD.CreateQP(verbs.QPInit{SendCQ: e.CQ, Cap: verbs.QPCap{
		MaxSendWR:  e.config.MaxSendWR,
		MaxRecvWR:  e.config.MaxRecvWR,
		MaxSendSGE: e.config.MaxSendSGE,
	}})
	return err
}

// meet brings the QP of e to RTS, towards the QP of the peer.
func (e *End) meet(peer *End) error {
	gid, err := peer.Ctx.GID(1, uint32(peer.NIC.GIDIndex))
	if err != nil {
		return err
	}
	if err := e.QP.ToInit(verbs.InitAttr{Access: verbs.AccessRemoteWrite | verbs.AccessRemoteRead}); err != nil {
		return err
	}
	err = e.QP.ToRTR(verbs.RTRAttr{
		DestQPNum:   peer.QP.Num(),
		RecvPSN:     psn(peer.QP),
		PathMTU:     e.config.PathMTU,
		DestGID:     gid.GID,
		GIDIndex:    uint8(e.NIC.GIDIndex),
		MaxReadsIn:  4,
		MinRNRTimer: 1,
	})
	if err != nil {
		return err
	}
	return e.QP.ToRTS(verbs.RTSAttr{
		SendPSN:     psn(e.QP),
		Timeout:     e.config.Timeout,
		RetryCount:  e.config.Retry,
		RNRRetry:    e.config.RNRRetry,
		MaxReadsOut: 4,
	})
}

// psn is the first sequence number of a QP: any 24 bits, different for each.
func psn(qp *verbs.QP) uint32 { return uint32(qp.ID()*0x3779b1) & 0xffffff }

// Close closes everything, children first.
func (p *Pair) Close() error {
	return errors.Join(p.From.close(), p.To.close())
}

func (e *End) close() error {
	var errs []error
	if e.QP != nil {
		errs = append(errs, e.QP.Close())
	}
	if e.MR != nil {
		errs = append(errs, e.MR.Close())
	}
	if e.Memory != nil {
		errs = append(errs, e.Memory.Close())
	}
	if e.CQ != nil {
		errs = append(errs, e.CQ.Close())
	}
	if e.PD != nil {
		errs = append(errs, e.PD.Close())
	}
	if e.Ctx != nil {
		errs = append(errs, e.Ctx.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the end at %s: %w", e.NIC.Device, err)
	}
	return nil
}
