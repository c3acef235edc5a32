package simfabric

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

func TestParentsRefuseToClose(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		e := newEnd(t, nicOf(t, n, "host-a", 0), kib, testQP())
		host := e.nic.host

		err := e.cq.Close()
		require.ErrorIs(t, err, verbs.ErrInUse)
		assert.ErrorContains(t, err, e.qp.String(), "the error should name the QP")
		err = host.Free(e.mem)
		require.ErrorIs(t, err, verbs.ErrInUse)
		assert.ErrorContains(t, err, e.region.(*Region).String(), "the error should name the region")
		err = host.Close()
		require.ErrorIs(t, err, verbs.ErrInUse)
		for _, child := range []string{e.qp.String(), e.cq.(*CQ).String(), e.region.(*Region).String()} {
			assert.ErrorContains(t, err, child, "the error should name each child")
		}

		for _, closeIt := range []func() error{e.qp.Close, e.cq.Close, e.region.Close} {
			require.NoError(t, closeIt())
			require.NoError(t, closeIt(), "a second time")
		}
		require.NoError(t, host.Free(e.mem))
		require.NoError(t, host.Close())
		require.NoError(t, host.Close(), "a second time")

		_, err = e.nic.NewCQ(1)
		assert.ErrorIs(t, err, verbs.ErrClosed)
		_, err = host.Alloc(1)
		assert.ErrorIs(t, err, verbs.ErrClosed)
		_, err = e.cq.Poll(make([]verbs.WC, 1))
		assert.ErrorIs(t, err, verbs.ErrClosed)
	})
}

func TestNetClosesWithEverythingOpen(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, 64*kib, testQP())
		a.post(a.wr(1, verbs.OpWrite, b, 0, 64*kib))
		events := make(chan error)
		go func() { _, err := a.nic.NextEvent(t.Context()); events <- err }()
		pass(wire(kib))
		require.NoError(t, n.Close())
		require.NoError(t, n.Close(), "a second time")
		require.Empty(t, n.pending, "nothing should be planned after Close")
		require.ErrorIs(t, <-events, verbs.ErrClosed)
		before := append([]byte(nil), b.mem...)
		pass(time.Hour)
		assert.Equal(t, before, b.mem, "memory changed after Close")

		_, postErr := a.qp.PostSend([]verbs.SendWR{a.wr(2, verbs.OpWrite, b, 0, 1)})
		_, pollErr := a.cq.Poll(make([]verbs.WC, 1))
		_, blockErr := n.Block(a.nic, b.nic)
		_, regErr := a.nic.Register(a.mem)
		for name, err := range map[string]error{
			"post": postErr, "poll": pollErr, "block": blockErr, "register": regErr,
			"heal": n.Heal(), "fail": a.qp.Fail(), "connect": a.qp.Connect(b.qp.Address()),
		} {
			assert.ErrorIs(t, err, verbs.ErrClosed, name)
		}
		for _, closeIt := range []func() error{a.qp.Close, a.cq.Close, a.region.Close, a.nic.host.Close} {
			assert.NoError(t, closeIt(), "what was closed with the fabric closes again")
		}
	})
}

// TestNoGoroutinesRemain uses real time: the fabric's timer goes off for real.
func TestNoGoroutinesRemain(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		n, err := New(testConfig())
		require.NoError(t, err)
		a, b := connect(t, n, 0, 0, 256*kib, testQP())
		a.post(a.wr(1, verbs.OpWrite, b, 0, 256*kib))
		done := make(chan error)
		go func() { _, err := b.nic.NextEvent(t.Context()); done <- err }()
		require.Eventually(t, func() bool { return len(a.poll()) == 1 }, 10*time.Second, time.Millisecond)
		a.post(a.wr(2, verbs.OpWrite, b, 0, 256*kib))
		require.NoError(t, n.Close())
		require.ErrorIs(t, <-done, verbs.ErrClosed)
	}
	require.Eventually(t, func() bool {
		const own = 1 // the one that checks this
		return runtime.NumGoroutine() <= before+own
	}, 10*time.Second, time.Millisecond, "goroutines should be gone after Close")
}

func TestCQOverflow(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		small, err := a.nic.NewCQ(2)
		require.NoError(t, err)
		qp, err := a.nic.NewQP(small, testQP())
		require.NoError(t, err)
		peer, err := b.nic.NewQP(b.cq, testQP())
		require.NoError(t, err)
		require.NoError(t, qp.Connect(peer.Address()))
		require.NoError(t, peer.Connect(qp.Address()))
		var wrs []verbs.SendWR
		for id := range uint64(4) {
			wrs = append(wrs, a.wr(id, verbs.OpWrite, b, 0, 1))
		}
		_, err = qp.PostSend(wrs)
		require.NoError(t, err)
		pass(testRetryTime)
		e := nextEvent(t, a.nic)
		assert.Equal(t, classify.Event{Type: classify.EventCQErr, Element: classify.Element{Device: "nic0", CQ: small.ID()}}, e)
		wcs := make([]verbs.WC, 8)
		k, err := small.Poll(wcs)
		require.NoError(t, err)
		assert.Equal(t, 2, k, "what fitted is there")
		_, err = small.Poll(wcs)
		assert.ErrorContains(t, err, "more than 2 completions waited")
		assert.Equal(t, verbs.StateErr, qp.(*QP).state, "QPs of the CQ fail")
		assert.Equal(t, verbs.StateRTS, a.qp.state, "QPs of other CQs do not")
	})
}

func TestIDsAreNeverShared(t *testing.T) {
	seen := make(map[uint64]string)
	for range 3 {
		n := newNet(t, testConfig())
		for i := range 4 {
			e := newEnd(t, nicOf(t, n, "host-b", i), kib, testQP())
			for _, object := range []interface {
				ID() uint64
				String() string
			}{e.qp, e.cq.(*CQ)} {
				require.GreaterOrEqual(t, object.ID(), uint64(1<<63), "out of the way of package verbs")
				require.NotContains(t, seen, object.ID(), "%v has the ID of another object", object)
				seen[object.ID()] = object.String()
			}
		}
	}
}
