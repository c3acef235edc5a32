package fabric_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/fabric"
	"github.com/rdmagate/rdmagate/rail"
)

const slice = 64 << 10

// sender is the least engine that there is: it posts slices as the controller admits
// them, and asks again with each completion.
type sender struct {
	t     *testing.T
	sim   *fabric.Sim
	ctl   *cc.Controller
	route *cc.Route
	gen   cc.Generation
	q     *fabric.QP
	cq    *fabric.CQ
	free  []int // permits that are not out
	slots [64]struct {
		permit cc.Permit
		use    cc.Use
	}
}

func newSender(t *testing.T, sim *fabric.Sim, from, to *fabric.NIC, mode cc.Mode) *sender {
	s := &sender{t: t, sim: sim, cq: sim.NewCQ()}
	cfg := cc.DefaultConfig()
	cfg.Mode, cfg.Law = mode, cc.LawRound
	var err error
	s.ctl, err = cc.New(cfg, cc.WithClock(sim.Now), cc.WithJitter(func() float64 { return 1 }))
	require.NoError(t, err)
	t.Cleanup(s.ctl.Close)
	s.q, _, err = sim.Connect(fabric.Endpoint{NIC: from, Send: s.cq}, fabric.Endpoint{NIC: to}, fabric.DefaultQP())
	require.NoError(t, err)
	s.route, err = s.ctl.Route(rail.Pair{Peer: to.Host.Name, Local: from.Name, Port: 1, Remote: to.Name})
	require.NoError(t, err)
	s.gen, err = s.route.Renew(0, []cc.QP{{ID: uint64(s.q.Num), CQ: 1}})
	require.NoError(t, err)
	for i := range s.slots {
		s.free = append(s.free, i)
	}
	s.cq.Notify(s.poll)
	sim.Every(cfg.Epoch, func() bool { s.ctl.Tick(sim.Now()); return true })
	return s
}

func (s *sender) post() {
	for len(s.free) > 0 {
		i := s.free[len(s.free)-1]
		slot := &s.slots[i]
		d := s.route.TryAcquire(&slot.permit, s.gen, slice, nil)
		if d.Answer != cc.Admit {
			return
		}
		slot.use = d.Use
		require.NoError(s.t, slot.permit.Posting(uint64(s.q.Num), s.sim.Now()))
		require.NoError(s.t, s.q.Post(fabric.WR{ID: uint64(i), Bytes: slice}))
		s.free = s.free[:len(s.free)-1]
	}
}

func (s *sender) poll() {
	var batch [16]fabric.Completion
	for n := s.cq.Poll(batch[:]); n > 0; n = s.cq.Poll(batch[:]) {
		for _, c := range batch[:n] {
			slot := &s.slots[c.WRID]
			slot.permit.Settle(slot.use, classify.Completion(c.Status, c.VendorErr), s.sim.Now())
			s.free = append(s.free, int(c.WRID))
		}
	}
	s.post()
}

// The controller runs unchanged on the simulator's clock: 16 senders without other
// congestion control keep a receiver's link as busy with a shorter queue, and do it
// the same way twice.
func TestControllerOnThisClock(t *testing.T) {
	run := func(mode cc.Mode) (goodput float64, peak int64, trace uint64) {
		sim, err := fabric.New(fabric.Config{Seed: 1, Topology: fabric.Star(17)})
		require.NoError(t, err)
		to := sim.NIC(16, 0)
		var senders []*sender
		for i := range 16 {
			s := newSender(t, sim, sim.NIC(i, 0), to, mode)
			s.post()
			senders = append(senders, s)
		}
		port := to.Link().B
		sim.Run(20 * time.Millisecond)
		port.ResetPeak()
		before := port.Stats().Sent
		sim.Run(40 * time.Millisecond)
		for _, s := range senders {
			if mode == cc.Off { // it counts nothing
				break
			}
			require.Equal(t, int64(len(s.slots)-len(s.free))*slice, s.route.InFlight())
		}
		return float64(port.Stats().Sent-before) * 8 / 20e-3, port.Stats().Peak, sim.Trace()
	}
	off, offPeak, _ := run(cc.Off)
	on, onPeak, trace := run(cc.Enforce)
	_, _, again := run(cc.Enforce)
	t.Logf("off %.1f Gb/s, queue %d kB; enforced %.1f Gb/s, queue %d kB", off/1e9, offPeak/1000, on/1e9, onPeak/1000)
	require.Equal(t, trace, again)
	require.Greater(t, on, 0.95*off)
	require.Less(t, 2*onPeak, offPeak)
}
