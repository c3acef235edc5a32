package transfer

import (
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	prail "github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/rdmagate/rdmagate/verbs"
)

// A verb that takes two work requests of each list refuses the others, whose bytes
// come back at once and are asked for again.
func TestPartialPost(t *testing.T) {
	h := &hooks{post: func(qp fabric.QP, wrs []verbs.SendWR) (int, error) {
		if len(wrs) <= 2 {
			return qp.PostSend(wrs)
		}
		n, err := qp.PostSend(wrs[:2])
		if err == nil {
			err = syscall.ENOMEM
		}
		return n, err
	}}
	bubble(t, options{wrap: h.wrap, cc: wide}, func(t *testing.T, r *rig) {
		sent := r.buffer(8 << 20)
		report, err := r.peer.Put(r.limit(), "object", sent)
		require.NoError(t, err)
		assert.True(t, string(sent.Bytes()) == string(r.stored("object")), "every slice must arrive")
		assert.NotZero(t, r.engine.Totals().Unposted, "the tails of the lists must be counted as not posted")
		assert.Zero(t, report.Retries, "a slice that was not posted has not failed")
		for _, rail := range r.peer.rails {
			assert.EqualValues(t, 1, rail.builds.Load(), "a full send queue is no reason for another endpoint")
		}
		r.nothingInFlight()
	})
}

// The send queue of the QP is shorter than the engine believes.
func TestSendQueueIsFull(t *testing.T) {
	const real = 4
	var deepest, refused atomic.Int64
	h := &hooks{}
	bubble(t, options{wrap: func(host fabric.Host) fabric.Host { return &shallowHost{h.wrap(host), real} }, cc: wide}, func(t *testing.T, r *rig) {
		h.post = func(qp fabric.QP, wrs []verbs.SendWR) (int, error) {
			n, err := qp.PostSend(wrs)
			deepest.Store(max(deepest.Load(), int64(n)))
			if err != nil {
				assert.ErrorIs(t, err, syscall.ENOMEM)
				refused.Add(1)
			}
			return n, err
		}
		sent := r.buffer(8 << 20)
		_, err := r.peer.Put(r.limit(), "object", sent)
		require.NoError(t, err)
		assert.True(t, string(sent.Bytes()) == string(r.stored("object")), "every slice must arrive")
		assert.LessOrEqual(t, deepest.Load(), int64(real), "the queue takes no more than it holds")
		assert.NotZero(t, refused.Load(), "the queue must have been full")
		assert.LessOrEqual(t, refused.Load(), int64(len(sent.Bytes())/DefaultConfig().SliceBytes), "a full queue is not tried again before a completion made room")
	})
}

// A QP that refuses everything is replaced; when all do, the transfer fails with
// the verb's error, and its task has met no congestion.
func TestPostIsRefused(t *testing.T) {
	h := &hooks{post: func(fabric.QP, []verbs.SendWR) (int, error) { return 0, syscall.EINVAL }}
	bubble(t, options{wrap: h.wrap, cc: wide, engine: func(c *Config) { c.MaxAttempts = 4 }}, func(t *testing.T, r *rig) {
		object, err := r.peer.create(t.Context(), "object", 1<<20)
		require.NoError(t, err)
		tr, err := r.peer.Start(Write, r.buffer(1<<20), object)
		require.NoError(t, err)
		require.ErrorIs(t, tr.Wait(r.limit()), syscall.EINVAL)
		assert.Equal(t, taskstate.Unknown, tr.State(), "a rejected post is no evidence about a path: %v", tr.Detail())
		assert.Greater(t, r.peer.rails[0].builds.Load(), uint64(1), "a QP that refuses must be replaced")
		r.nothingInFlight()
	})
}

// A generation that the controller retired is renewed when a slice finds out.
func TestNeedsRenew(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		for _, rail := range r.peer.rails {
			ep := rail.endpoint.Load()
			var p cc.Permit
			d := rail.route.TryAcquire(&p, ep.generation, 1, nil)
			require.True(t, d.Admitted(), "%v", d)
			require.NoError(t, p.Posting(ep.qps[0][0].ID(), r.ctl.Now()))
			p.Settle(d.Use, classify.Of(classify.SignalDeadlineProgressing), r.ctl.Now())
			p.Settle(d.Use, classify.Of(classify.SignalTeardown), r.ctl.Now())
			require.True(t, rail.route.Snapshot().NeedsRenew, "a counted deadline retires the generation")
		}
		_, err := r.peer.Put(r.limit(), "object", r.buffer(1<<20))
		require.NoError(t, err)
		renewed := 0
		for _, rail := range r.peer.rails {
			if rail.builds.Load() > 1 {
				renewed++
			}
		}
		assert.NotZero(t, renewed, "the rails that slices asked must have new endpoints")
	})
}

// Somebody else renewed the route of an endpoint in use: the engine builds on top.
func TestStaleGeneration(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		for i, rail := range r.peer.rails {
			_, err := rail.route.Renew(rail.endpoint.Load().generation, []cc.QP{{ID: 1e9 + uint64(i)}})
			require.NoError(t, err)
		}
		_, err := r.peer.Put(r.limit(), "object", r.buffer(1<<20))
		require.NoError(t, err)
		r.nothingInFlight()
	})
}

// Retiring an endpoint again must not cost its successor.
func TestRetireTwice(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		rail := r.peer.rails[0]
		old := rail.endpoint.Load()
		rail.retire(old)
		r.until(func() bool { return rail.endpoint.Load() != nil }, "no successor was built")
		rail.retire(old)
		_, err := r.peer.Put(r.limit(), "object", r.buffer(1<<20))
		require.NoError(t, err)
		assert.EqualValues(t, 2, rail.builds.Load(), "endpoints of the rail")
	})
}

// Nothing is posted on an endpoint once it is being retired, even before it is taken
// off its rail: its lanes may have left it.
func TestRetiredEndpointIsNotCurrent(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		rail := r.peer.rails[0]
		require.NotNil(t, rail.current())
		rail.endpoint.Load().retired.Store(true)
		assert.Nil(t, rail.current())
		rail.endpoint.Load().retired.Store(false)
	})
}

func TestWindowIsNeverExceeded(t *testing.T) {
	var r *rig
	var worst atomic.Int64
	h := &hooks{post: func(qp fabric.QP, wrs []verbs.SendWR) (int, error) {
		for _, route := range r.ctl.Snapshot().Routes {
			worst.Store(max(worst.Load(), route.InFlightBytes))
		}
		return qp.PostSend(wrs)
	}}
	fixed := func(c *cc.Config) { c.MaxWindowBytes = c.StartWindowBytes }
	bubble(t, options{wrap: h.wrap, cc: fixed}, func(t *testing.T, made *rig) {
		r = made
		_, err := r.peer.Put(r.limit(), "object", r.buffer(4<<20))
		require.NoError(t, err)
		assert.LessOrEqual(t, worst.Load(), cc.DefaultConfig().StartWindowBytes, "bytes in flight on a route")
		assert.NotZero(t, worst.Load(), "something must have been in flight")
	})
}

// shallowHost makes QPs with a shorter send queue than it was asked for.
type shallowHost struct {
	fabric.Host
	depth int
}

type shallowNIC struct {
	fabric.NIC
	depth int
}

func (h *shallowHost) NICs() []fabric.NIC {
	var nics []fabric.NIC
	for _, nic := range h.Host.NICs() {
		nics = append(nics, &shallowNIC{nic, h.depth})
	}
	return nics
}

func (n *shallowNIC) NewQP(cq fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	cfg.SendDepth = n.depth
	return n.NIC.NewQP(cq, cfg)
}

// Endpoints are built again on request, with what is on the wire left to finish.
func TestRebuild(t *testing.T) {
	bubble(t, options{cc: wide}, func(t *testing.T, r *rig) {
		r.slow(10e6)
		tr := r.start(4 << 20)
		r.peer.Rebuild(func(p prail.Pair) bool { return p == r.peer.rails[0].pair })
		r.until(func() bool { return r.peer.rails[0].builds.Load() == 2 }, "a new endpoint must be built")
		require.NoError(t, tr.Wait(r.limit()))
		assert.Zero(t, tr.retries.Load(), "nothing on the wire is lost")
		for _, rail := range r.peer.rails[1:] {
			assert.EqualValues(t, 1, rail.builds.Load(), "rail %s was not named", rail.pair)
		}
	})
}
