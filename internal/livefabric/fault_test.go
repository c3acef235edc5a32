package livefabric

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// A fault between nic0 of host-a and nic0 of host-b, and what that pair and its
// neighbours do.
func TestFaultsAreOfOnePair(t *testing.T) {
	for _, tc := range []struct {
		name       string
		fault      func(n *Net, a, b *NIC) (Undo, error)
		forth      classify.Status // a work request of host-a on the pair
		back       classify.Status // one of host-b on the pair
		others     classify.Status // one of the same NIC with another partner
		takeEffect bool            // the WRITE of host-b arrives
	}{
		{"Block", func(n *Net, a, b *NIC) (Undo, error) { return n.Block(a, b) }, timeout, timeout, success, true},
		{"Block the other way", func(n *Net, a, b *NIC) (Undo, error) { return n.Block(b, a) }, timeout, timeout, success, false},
		{"LinkDown", func(n *Net, a, _ *NIC) (Undo, error) { return n.LinkDown(a) }, timeout, timeout, timeout, false},
		{"LinkDown of the peer", func(n *Net, _, b *NIC) (Undo, error) { return n.LinkDown(b) }, timeout, timeout, success, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				a, b := connect(t, n, 0, 0, kib, testQP())
				target, back := connect(t, n, 0, 0, kib, testQP())
				c, d := connect(t, n, 0, 1, kib, testQP())
				e, f := connect(t, n, 1, 1, kib, testQP())
				undo, err := tc.fault(n, a.nic, b.nic)
				require.NoError(t, err)

				a.post(a.wr(1, verbs.OpWrite, b, 0, kib))
				back.post(back.wr(2, verbs.OpWrite, target, 0, kib))
				c.post(c.wr(3, verbs.OpWrite, d, 0, kib))
				e.post(e.wr(4, verbs.OpWrite, f, 0, kib))
				pass(2 * testRetryTime)
				assert.Equal(t, []result{{1, tc.forth}}, a.results())
				assert.Equal(t, []result{{2, tc.back}}, back.results())
				assert.Equal(t, []result{{3, tc.others}}, c.results())
				assert.Equal(t, []result{{4, success}}, e.results(), "a pair with other NICs")
				assert.Equal(t, tc.takeEffect, bytes.Equal(back.mem, target.mem), "effect of host-b's WRITE")

				require.NoError(t, undo())
				require.NoError(t, undo(), "a second time")
				g, h := connect(t, n, 0, 0, kib, testQP())
				g.post(g.wr(5, verbs.OpRead, h, 0, kib))
				pass(testRetryTime)
				assert.Equal(t, []result{{5, success}}, g.results(), "a new connection after the fault")
			})
		})
	}
}

func TestLinkEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		nic := nicOf(t, n, "host-a", 2)
		undo, err := n.LinkDown(nic)
		require.NoError(t, err)
		require.NoError(t, undo())
		for _, want := range []classify.EventType{classify.EventPortErr, classify.EventPortActive} {
			assert.Equal(t, classify.Event{Type: want, Element: classify.Element{Device: "nic2", Port: 1}}, nextEvent(t, nic))
		}
		assert.Empty(t, nic.events)
	})
}

func TestKillQPs(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, 64*kib, testQP())
		a.post(a.wr(1, verbs.OpWrite, b, 0, 64*kib))
		require.NoError(t, n.KillQPs(a.nic))
		require.NoError(t, n.KillQPs(a.nic), "there is none left")
		assert.Equal(t, []result{{1, flushed}}, a.results())
		assert.Equal(t, classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "nic0", QP: a.qp.ID()}}, nextEvent(t, a.nic))
		assert.Empty(t, a.nic.events)
		assert.Empty(t, b.nic.events)
	})
}

func TestWhoAnswers(t *testing.T) {
	for _, tc := range []struct {
		name    string
		prepare func(t *testing.T, a, b *end)
		want    classify.Status
	}{
		{"a peer that connects late", func(t *testing.T, a, b *end) {
			time.AfterFunc(testRetryTime/2, func() { assert.NoError(t, b.qp.Connect(a.qp.Address())) })
		}, success},
		{"a peer that never connects", func(*testing.T, *end, *end) {}, timeout},
		{"one that has failed", func(t *testing.T, a, b *end) {
			require.NoError(t, b.qp.Connect(a.qp.Address()))
			require.NoError(t, b.qp.Fail())
		}, timeout},
		{"one that is closed", func(t *testing.T, _, b *end) { require.NoError(t, b.qp.Close()) }, timeout},
		{"one that is connected elsewhere", func(t *testing.T, a, b *end) {
			c := newEnd(t, a.nic, kib, testQP())
			require.NoError(t, c.qp.Connect(b.qp.Address()))
			require.NoError(t, b.qp.Connect(c.qp.Address()))
		}, timeout},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				a := newEnd(t, nicOf(t, n, "host-a", 0), kib, testQP())
				b := newEnd(t, nicOf(t, n, "host-b", 0), kib, testQP())
				address := b.qp.Address()
				tc.prepare(t, a, b)
				require.NoError(t, a.qp.Connect(address))
				require.Error(t, a.qp.Connect(address), "twice")
				a.post(a.wr(1, verbs.OpWrite, b, 0, kib))
				pass(2 * testRetryTime)
				assert.Equal(t, []result{{1, tc.want}}, a.results())
			})
		})
	}
}

// While the crowd writes to a NIC, others get less of it; then they have it all again.
func TestIncast(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const while = 100 * time.Millisecond
		const size = 256 * kib
		cfg := testQP()
		cfg.Timeout = 14
		a, b := connect(t, n, 0, 0, size, cfg)
		took := func() time.Duration {
			began := time.Now()
			a.post(a.wr(1, verbs.OpWrite, b, 0, size))
			for len(a.results()) == 0 {
				pass(step)
			}
			return time.Since(began)
		}
		alone := took()
		undo, err := n.Incast(b.nic, while)
		require.NoError(t, err)
		pass(while + while/4)
		assert.Greater(t, took(), 2*alone, "two others have the NIC")
		pass(while)
		assert.Less(t, took(), alone+alone/4, "they pause")
		require.NoError(t, undo())
		require.NoError(t, undo(), "a second time")
		pass(while)
		assert.Less(t, took(), alone+alone/4, "it is over")
		n.lock()
		defer n.unlock()
		n.sim.Drain() // which ends only if nothing is planned for ever
	})
}

func TestForeignNICs(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		other := newNet(t, testConfig())
		own, foreign := nicOf(t, n, "host-a", 0), nicOf(t, other, "host-a", 0)
		_, blockErr := n.Block(own, foreign)
		_, downErr := n.LinkDown(nil)
		_, incastErr := n.Incast(foreign, time.Second)
		for _, err := range []error{blockErr, downErr, incastErr, n.KillQPs(foreign)} {
			assert.ErrorContains(t, err, "none of this fabric")
		}
	})
}
