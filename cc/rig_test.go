package cc

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/require"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
)

// Outcomes by the words of the field.
var (
	success  = classify.Completion(classify.StatusSuccess, 0)
	flush    = classify.Completion(classify.StatusWRFlushErr, 0xf9)
	retryExc = classify.Completion(classify.StatusRetryExcErr, 0x81)
	deadline = classify.Of(classify.SignalDeadlineProgressing)
	stalled  = classify.Of(classify.SignalDeadlineStalled)
)

// rig drives a controller on a clock that the test advances by hand.
type rig struct {
	testing.TB
	ctl *Controller
	now time.Duration
}

// newRig returns a controller with the numbers of the field scenarios: windows of
// 64 KiB minimum, 1 MiB start, 4 MiB maximum and device, the epoch law with a target
// drain of 10 ms, two high and two low epochs, no early suspicion.
func newRig(t testing.TB, mode Mode) *rig {
	t.Helper()
	return tunedRig(t, mode, nil)
}

// tunedRig is newRig with some numbers changed.
func tunedRig(t testing.TB, mode Mode, change func(*Config)) *rig {
	t.Helper()
	r := &rig{TB: t, now: time.Hour}
	cfg := DefaultConfig()
	cfg.Mode = mode
	cfg.Law, cfg.TargetDrain, cfg.LowPressureEpochs, cfg.SuspectAfter = LawEpoch, 10*time.Millisecond, 2, 0
	cfg.MinWindowBytes, cfg.StartWindowBytes, cfg.MaxWindowBytes, cfg.DeviceWindowBytes = 64*kib, mib, 4*mib, 4*mib
	if change != nil {
		change(&cfg)
	}
	ctl, err := New(cfg, WithClock(func() time.Duration { return r.now }), WithJitter(func() float64 { return 1 }))
	require.NoError(t, err)
	r.ctl = ctl
	return r
}

func (r *rig) route(local, peer, remote string) *Route {
	r.Helper()
	route, err := r.ctl.Route(rail.Pair{Peer: peer, Local: local, Port: 1, Remote: remote})
	require.NoError(r.TB, err)
	return route
}

// renew builds the route's next endpoint with QPs of these IDs, all on CQ 1.
func (r *rig) renew(route *Route, ids ...uint64) Generation {
	r.Helper()
	var qps []QP
	for _, id := range ids {
		qps = append(qps, QP{ID: id, CQ: 1})
	}
	gen, err := route.Renew(route.current.Load().number, qps)
	require.NoError(r.TB, err)
	return gen
}

// slice is a slice as an engine holds it.
type slice struct {
	permit Permit
	task   taskstate.Task
	use    Use
}

// post acquires n bytes, requires that they are admitted, and posts on the QP.
func (r *rig) post(s *slice, route *Route, gen Generation, n int64, qp uint64) {
	r.Helper()
	d := route.TryAcquire(&s.permit, gen, n, &s.task)
	require.True(r.TB, d.Admitted(), "TryAcquire of %d bytes on an open window: %s", n, d)
	require.NoError(r.TB, s.permit.Posting(qp, r.now))
	s.use = d.Use
}

// settle settles the slice's latest admission.
func (r *rig) settle(s *slice, v classify.Verdict) Edges {
	return s.permit.Settle(s.use, v, r.now)
}

// inFlight requires the bytes in flight of a route and of its device.
func (r *rig) inFlight(route *Route, wantRoute, wantDevice int64) {
	r.Helper()
	require.Equal(r.TB, wantRoute, route.InFlight(), "bytes in flight of %s", route.pair)
	require.Equal(r.TB, wantDevice, route.device.inFlight(), "bytes in flight of device %s", route.device.name)
	if wantDevice == 0 {
		route.device.mu.Lock()
		defer route.device.mu.Unlock()
		route.device.recall()
		require.Zero(r.TB, route.device.granted.Load(), "bytes of %s's window that are given out while nothing is in flight", route.device.name)
	}
}

// gauged counts bytes that are out, apart from the controller, and remembers the
// most that ever were.
type gauged struct{ out, most atomic.Int64 }

func (g *gauged) add(n int64) {
	for now := g.out.Add(n); ; {
		seen := g.most.Load()
		if now <= seen || g.most.CompareAndSwap(seen, now) {
			return
		}
	}
}
