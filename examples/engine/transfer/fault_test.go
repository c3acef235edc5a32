package transfer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// slow makes the fabric slow enough for a fault to meet a transfer under way.
func (r *rig) slow(bytesPerSecond int64) {
	r.t.Helper()
	for _, nic := range r.b.NICs() {
		_, err := r.net.Rate(nic, bytesPerSecond)
		require.NoError(r.t, err)
	}
}

// start begins a put of the given length and waits until some of it has arrived.
func (r *rig) start(bytes int) *Transfer {
	r.t.Helper()
	object, err := r.peer.create(r.t.Context(), "object", int64(bytes))
	require.NoError(r.t, err)
	t, err := r.peer.Start(Write, r.buffer(bytes), object)
	require.NoError(r.t, err)
	r.until(func() bool { return t.moved.Load() > 0 }, "nothing arrived")
	return t
}

// hang begins a put of which nothing has arrived, but something is on the wire.
func (r *rig) hang() *Transfer {
	r.t.Helper()
	for _, nic := range r.b.NICs() {
		_, err := r.net.Delay(nic, 2*time.Second)
		require.NoError(r.t, err)
	}
	object, err := r.peer.create(r.t.Context(), "object", 8<<20)
	require.NoError(r.t, err)
	t, err := r.peer.Start(Write, r.buffer(8<<20), object)
	require.NoError(r.t, err)
	r.until(func() bool { return r.peer.rails[0].route.InFlight() > 0 }, "nothing was posted")
	return t
}

func (r *rig) classes() map[classify.Class]uint64 {
	m := map[classify.Class]uint64{}
	for _, c := range r.engine.Totals().Classes {
		m[c.Class] = c.Count
	}
	return m
}

func TestBlockedPairIsRetriedOnAnotherRail(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.slow(100e6)
		tr := r.start(16 << 20)
		undo, err := r.net.Block(r.a.NICs()[0], r.b.NICs()[0])
		require.NoError(t, err)
		r.until(func() bool { return tr.retries.Load() > 0 }, "no slice met the blocked pair")
		require.NoError(t, undo())
		require.NoError(t, tr.Wait(r.limit()))

		assert.True(t, string(tr.buffer.Bytes()) == string(r.stored("object")), "every slice must arrive in spite of the blocked pair")
		assert.NotZero(t, r.classes()[classify.ClassRouteTimeout], "the blocked pair must show as RETRY_EXC_ERR")
		assert.Equal(t, taskstate.Normal, tr.State(), "the retries succeeded: %v", tr.Detail())
		blocked := r.peer.rails[0]
		assert.Greater(t, blocked.builds.Load(), uint64(1), "the endpoint of the blocked pair must be built again")
		assert.Greater(t, blocked.route.Snapshot().Generation, r.peer.rails[1].route.Snapshot().Generation, "only the blocked pair gets new generations")
		r.nothingInFlight()
	})
}

func TestEveryPairBlocked(t *testing.T) {
	bubble(t, options{cc: patient, engine: func(c *Config) { c.MaxAttempts = 3 }}, func(t *testing.T, r *rig) {
		r.slow(50e6)
		tr := r.start(8 << 20)
		r.blockAll()
		err := tr.Wait(r.limit())
		require.Error(t, err)
		assert.True(t, strings.Contains(err.Error(), "failed 3 times") || errors.Is(err, ErrAllPaused), "%v", err)
		assert.ErrorContains(t, err, `write of object "object"`, "the error must say which transfer it was")
		// It met timeouts, and then what they and the probes made of the pairs.
		want := map[classify.Reason]taskstate.State{
			classify.ReasonRouteTimeout: taskstate.Congested, classify.ReasonRouteSuspect: taskstate.Congested, classify.ReasonProbing: taskstate.Congested,
			classify.ReasonPathQuarantined: taskstate.LongUnavailable, classify.ReasonProbeFailed: taskstate.LongUnavailable,
			classify.ReasonNoUsablePath: taskstate.LongUnavailable,
		}
		reason, _ := tr.Detail().Reason.Get()
		require.Contains(t, want, reason, "%v", tr.Detail())
		assert.Equal(t, want[reason], tr.State(), "%v", tr.Detail())
	})
}

// A black hole never completes: the deadline ends the attempt, the QP is failed,
// and its flushes give the bytes back.
func TestBlackHole(t *testing.T) {
	bubble(t, options{engine: func(c *Config) { c.Deadline = 50 * time.Millisecond; c.FlushGrace = 20 * time.Millisecond }}, func(t *testing.T, r *rig) {
		r.slow(100e6)
		tr := r.start(16 << 20)
		_, err := r.net.BlackHole(r.a.NICs()[1], r.b.NICs()[1])
		require.NoError(t, err)
		require.NoError(t, tr.Wait(r.limit()))

		assert.True(t, string(tr.buffer.Bytes()) == string(r.stored("object")), "every slice must arrive by the other rails")
		assert.NotZero(t, r.classes()[classify.ClassRouteTimeout], "the deadline must be counted")
		r.nothingInFlight()
	})
}

func TestLinkDownAndUp(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.slow(100e6)
		tr := r.start(16 << 20)
		undo, err := r.net.LinkDown(r.a.NICs()[0])
		require.NoError(t, err)
		r.until(func() bool { return tr.retries.Load() > 0 }, "no slice met the dead link")
		require.NoError(t, undo())
		require.NoError(t, tr.Wait(r.limit()))
		assert.True(t, string(tr.buffer.Bytes()) == string(r.stored("object")), "every slice must arrive")
		r.nothingInFlight()
	})
}

func TestEventRenewsTheEndpointsItReaches(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		hit := r.peer.rails[0].endpoint.Load()
		qp := hit.qps[0][0].ID()
		require.NoError(t, r.net.Inject(r.a.NICs()[0], classify.Event{Type: classify.EventQPFatal, Element: classify.Element{QP: qp}}))
		r.until(func() bool { return r.peer.rails[0].builds.Load() == 2 }, "the endpoint of the QP must be built again")
		for _, other := range r.peer.rails[1:] {
			assert.EqualValues(t, 1, other.builds.Load(), "rail %s does not have that QP", other.pair)
		}
	})
}

func TestCancel(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.slow(10e6)
		tr := r.start(8 << 20)
		tr.Cancel()
		err := tr.Wait(r.limit())
		require.ErrorIs(t, err, ErrCancelled)
		assert.Less(t, tr.moved.Load(), int64(8<<20), "the transfer was cancelled half way")
		r.nothingInFlight()
	})
}

// What completes after the cancel gives its bytes back and is no news for the task.
func TestCancelledTaskLearnsNothing(t *testing.T) {
	bubble(t, options{cc: wide}, func(t *testing.T, r *rig) {
		tr := r.hang()
		tr.Cancel()
		require.ErrorIs(t, tr.Wait(r.limit()), ErrCancelled)
		assert.NotZero(t, r.classes()[classify.ClassSuccess], "the work requests must have completed after the cancel")
		assert.Equal(t, taskstate.Unknown, tr.State(), "%v", tr.Detail())
		r.nothingInFlight()
	})
}

func TestContextEndsATransfer(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.slow(10e6)
		tr := r.start(8 << 20)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, tr.Wait(ctx), context.Canceled)
		r.nothingInFlight()
	})
}

// wide gives routes windows that defer nothing, so that a task meets nothing but
// what the test does to it.
func wide(c *cc.Config) { c.StartWindowBytes = c.MaxWindowBytes }

// patient never quarantines a pair for failures.
func patient(c *cc.Config) { c.HardErrorThreshold = 1 << 30 }

// blockAll blocks every pair.
func (r *rig) blockAll() {
	r.t.Helper()
	for _, from := range r.a.NICs() {
		for _, to := range r.b.NICs() {
			_, err := r.net.Block(from, to)
			require.NoError(r.t, err)
		}
	}
}

func TestCloseInTheMiddle(t *testing.T) {
	bubble(t, options{cc: wide}, func(t *testing.T, r *rig) {
		tr := r.hang()
		for _, from := range r.a.NICs() {
			for _, to := range r.b.NICs() {
				_, err := r.net.BlackHole(from, to)
				require.NoError(t, err)
			}
		}
		began := time.Now()
		require.NoError(t, r.engine.Close())
		assert.Less(t, time.Since(began), r.engine.cfg.Deadline, "nothing is waited for: the QPs are failed")
		require.ErrorIs(t, tr.Err(), ErrClosed)
		r.nothingInFlight()
		assert.Equal(t, taskstate.Unknown, tr.State(), "a teardown says nothing about a path: %v", tr.Detail())
		_, err := r.peer.Start(Write, tr.buffer, tr.object)
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestPeerVanishes(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.slow(10e6)
		tr := r.start(8 << 20)
		require.NoError(t, r.server.Close())
		require.ErrorIs(t, tr.Wait(r.limit()), ErrPeerGone)
		<-r.peer.Lost()
		_, err := r.peer.Put(t.Context(), "another", tr.buffer)
		require.ErrorIs(t, err, ErrPeerGone)
	})
}
