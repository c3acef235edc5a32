package simfabric

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// TestFaultsAreOfOnePair makes a fault between nic0 of host-a and nic0 of host-b and
// looks at what that pair and its neighbours do.
func TestFaultsAreOfOnePair(t *testing.T) {
	const hangs = classify.Status(1000)
	for _, tc := range []struct {
		name       string
		fault      func(n *Net, a, b *NIC) (Undo, error)
		forth      classify.Status // a work request of host-a on the pair
		back       classify.Status // one of host-b on the pair
		others     classify.Status // one of the same NICs with another partner
		takeEffect bool            // the WRITE of host-b arrives
	}{
		{"Block", func(n *Net, a, b *NIC) (Undo, error) { return n.Block(a, b) }, timeout, timeout, success, true},
		{"BlackHole", func(n *Net, a, b *NIC) (Undo, error) { return n.BlackHole(a, b) }, hangs, timeout, success, true},
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
				if tc.forth == hangs {
					assert.Empty(t, a.results())
				} else {
					assert.Equal(t, []result{{1, tc.forth}}, a.results())
				}
				assert.Equal(t, []result{{2, tc.back}}, back.results())
				assert.Equal(t, []result{{3, tc.others}}, c.results())
				assert.Equal(t, []result{{4, success}}, e.results(), "a pair with other NICs")
				assert.Equal(t, tc.takeEffect, bytes.Equal(back.mem, target.mem), "effect of host-b's WRITE")

				require.NoError(t, undo())
				require.NoError(t, undo(), "a second time")
				pass(testRetryTime)
				if tc.forth == hangs {
					assert.Equal(t, []result{{1, success}}, a.results(), "what hung goes on")
				}
				g, h := connect(t, n, 0, 0, kib, testQP())
				g.post(g.wr(5, verbs.OpRead, h, 0, kib))
				pass(testRetryTime)
				assert.Equal(t, []result{{5, success}}, g.results(), "a new connection after the fault")
			})
		})
	}
}

func TestFaultUnderWay(t *testing.T) {
	for _, tc := range []struct {
		name     string
		op       verbs.Opcode
		from, to string // ends of the blocked direction
		late     bool   // nothing needs that direction any more
	}{
		{"bytes of a WRITE lost", verbs.OpWrite, "host-a", "host-b", false},
		{"acknowledgements of a WRITE lost", verbs.OpWrite, "host-b", "host-a", false},
		{"bytes of a READ lost", verbs.OpRead, "host-b", "host-a", false},
		{"READ requests that have arrived", verbs.OpRead, "host-a", "host-b", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				const size = 640 * kib
				op := tc.op
				a, b := connect(t, n, 0, 0, 2*size, testQP())
				a.post(a.wr(1, op, b, 0, size), a.wr(2, op, b, size, size))
				pass(wire(size) / 2)
				undo, err := n.Block(nicOf(t, n, tc.from, 0), nicOf(t, n, tc.to, 0))
				require.NoError(t, err)
				pass(testRetryTime / 4)
				require.NoError(t, undo())
				pass(10 * testRetryTime)
				assert.Equal(t, []result{{1, success}, {2, success}}, a.results(), "a later try should carry it all")
				assert.True(t, bytes.Equal(a.mem, b.mem), "payload")

				a.post(a.wr(3, op, b, 0, size), a.wr(4, op, b, size, size))
				pass(wire(size) / 2)
				_, err = n.Block(nicOf(t, n, tc.from, 0), nicOf(t, n, tc.to, 0))
				require.NoError(t, err)
				pass(10 * testRetryTime)
				want := []result{{3, timeout}, {4, flushed}}
				if tc.late {
					want = []result{{3, success}, {4, success}}
				}
				assert.Equal(t, want, a.results(), "a block that stays")
			})
		})
	}
}

func TestLostAcknowledgementDoesNotRepeatASend(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		_, err := b.qp.PostRecv([]verbs.RecvWR{{WRID: 50, SGE: b.sge(0, kib)}, {WRID: 51, SGE: b.sge(0, kib)}})
		require.NoError(t, err)
		undo, err := n.Block(b.nic, a.nic)
		require.NoError(t, err)
		a.post(a.wr(1, verbs.OpSend, b, 0, kib))
		pass(testRetryTime / 8)
		require.Equal(t, []result{{50, success}}, b.results(), "the SEND itself arrives")
		require.Empty(t, a.results())
		require.NoError(t, undo())
		pass(testRetryTime)
		assert.Equal(t, []result{{1, success}}, a.results())
		assert.Empty(t, b.results(), "the repetition is acknowledged, not delivered again")
	})
}

func TestPeerThatConnectsLateIsFound(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a := newEnd(t, nicOf(t, n, "host-a", 0), kib, testQP())
		b := newEnd(t, nicOf(t, n, "host-b", 0), kib, testQP())
		require.NoError(t, a.qp.Connect(b.qp.Address()))
		a.post(a.wr(1, verbs.OpWrite, b, 0, kib))
		pass(testRetryTime / 2)
		require.NoError(t, b.qp.Connect(a.qp.Address()))
		pass(testRetryTime / 2)
		assert.Equal(t, []result{{1, success}}, a.results())
	})
}

func TestProgressStartsRetriesAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		for id := range uint64(3) {
			undo, err := n.Block(a.nic, b.nic)
			require.NoError(t, err)
			a.post(a.wr(id, verbs.OpWrite, b, 0, kib))
			pass(testRetryTime * 5 / 8) // three of four tries fail
			require.NoError(t, undo())
			pass(testRetryTime)
			require.Equal(t, []result{{id, success}}, a.results())
		}
	})
}

func TestPeerQPFailed(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		require.NoError(t, b.qp.Fail())
		a.post(a.wr(1, verbs.OpWrite, b, 0, kib), a.wr(2, verbs.OpWrite, b, 0, kib))
		pass(2 * testRetryTime)
		assert.Equal(t, []result{{1, timeout}, {2, flushed}}, a.results())
	})
}

func TestFailAndCloseInABlackHole(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		c, d := connect(t, n, 0, 0, kib, testQP())
		_, err := n.BlackHole(a.nic, b.nic)
		require.NoError(t, err)
		a.post(a.wr(1, verbs.OpWrite, b, 0, kib), a.wr(2, verbs.OpWrite, b, 0, kib))
		c.post(c.wr(3, verbs.OpWrite, d, 0, kib))
		e, f := connect(t, n, 0, 0, kib, testQP())
		e.post(e.wr(4, verbs.OpWrite, f, 0, kib))
		pass(time.Hour)
		require.Empty(t, a.results())
		require.NoError(t, a.qp.Fail())
		require.NoError(t, c.qp.Close())
		require.NoError(t, n.Heal())
		pass(testRetryTime)
		assert.Equal(t, []result{{1, flushed}, {2, flushed}}, a.results())
		assert.Empty(t, c.results())
		assert.Equal(t, []result{{4, success}}, e.results(), "the QP that was left alone goes on")
	})
}

func TestBlackHoleUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const size = 640 * kib
		a, b := connect(t, n, 0, 0, size, testQP())
		a.post(a.wr(1, verbs.OpWrite, b, 0, size))
		pass(wire(size) / 2)
		undo, err := n.BlackHole(a.nic, b.nic)
		require.NoError(t, err)
		pass(time.Hour)
		require.Empty(t, a.results(), "neither completion nor error")
		require.NoError(t, undo())
		pass(2 * wire(size))
		assert.Equal(t, []result{{1, success}}, a.results())
		assert.True(t, bytes.Equal(a.mem, b.mem), "payload")
	})
}

func TestResponderClosedDuringARead(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const size = 640 * kib
		a, b := connect(t, n, 0, 0, size, testQP())
		a.post(a.wr(1, verbs.OpRead, b, 0, size))
		pass(wire(size) / 2)
		require.NoError(t, b.qp.Close())
		pass(wire(size) + 2*testRetryTime)
		assert.Equal(t, []result{{1, timeout}}, a.results())
	})
}

func TestPeerThatIsConnectedElsewhereDoesNotAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a := newEnd(t, nicOf(t, n, "host-a", 0), kib, testQP())
		b, _ := connect(t, n, 1, 1, kib, testQP())
		require.NoError(t, a.qp.Connect(b.qp.Address()))
		a.post(a.wr(1, verbs.OpWrite, b, 0, kib))
		pass(2 * testRetryTime)
		assert.Equal(t, []result{{1, timeout}}, a.results())
	})
}

// TestDelayThatEndsDoesNotReorder has a SEND on its way while the delay ends.
func TestDelayThatEndsDoesNotReorder(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		_, err := b.qp.PostRecv([]verbs.RecvWR{{WRID: 50, SGE: b.sge(0, 1)}, {WRID: 51, SGE: b.sge(1, 1)}})
		require.NoError(t, err)
		undo, err := n.Delay(b.nic, 10*time.Millisecond)
		require.NoError(t, err)
		a.post(a.wr(1, verbs.OpSend, b, 7, 1))
		pass(time.Millisecond)
		require.NoError(t, undo())
		a.post(a.wr(2, verbs.OpSend, b, 8, 1))
		pass(time.Second)
		require.Equal(t, []result{{1, success}, {2, success}}, a.results())
		assert.Equal(t, a.mem[7:9], b.mem[0:2], "the first SEND should be in the first receive")
	})
}

func TestPortEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		nic := nicOf(t, n, "host-a", 1)
		undo, err := n.LinkDown(nic)
		require.NoError(t, err)
		_, err = n.LinkDown(nic)
		require.NoError(t, err)
		down := classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "nic1", Port: 1}}
		assert.Equal(t, down, nextEvent(t, nic))
		assert.Empty(t, nic.events, "a link that is down already reports nothing")

		require.NoError(t, undo())
		require.NoError(t, n.LinkUp(nic))
		up := down
		up.Type = classify.EventPortActive
		assert.Equal(t, up, nextEvent(t, nic))
		assert.Empty(t, nic.events, "a link that is up already reports nothing")

		for _, other := range []*NIC{nicOf(t, n, "host-a", 0), nicOf(t, n, "host-b", 1)} {
			assert.Empty(t, other.events, "%v has nothing to report", other)
		}
	})
}

func TestInject(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		nic := nicOf(t, n, "host-a", 1)
		for range maxEvents + 1 {
			require.NoError(t, n.Inject(nic, classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: "other"}}))
		}
		assert.Len(t, nic.events, maxEvents, "the queue of events is bounded")
		want := classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: "nic1"}}
		assert.Equal(t, want, nextEvent(t, nic))
	})
}

func TestNextEventEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := nicOf(t, n, "host-a", 0), nicOf(t, n, "host-b", 0)
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 2)
		go func() { _, err := a.NextEvent(ctx); results <- err }()
		pass(time.Second)
		cancel()
		assert.ErrorIs(t, <-results, context.Canceled)
		go func() { _, err := b.NextEvent(context.Background()); results <- err }()
		pass(time.Second)
		require.NoError(t, b.host.Close())
		assert.ErrorIs(t, <-results, verbs.ErrClosed)
	})
}

func TestDelayAndRate(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const size = 64 * kib
		a, b := connect(t, n, 0, 0, size, testQP())
		undoDelay, err := n.Delay(b.nic, 3*time.Millisecond)
		require.NoError(t, err)
		undoRate, err := n.Rate(b.nic, testRate/4)
		require.NoError(t, err)
		a.post(a.wr(1, verbs.OpWrite, b, 0, size))
		expectAt(t, a, 4*wire(size)+testRound+3*time.Millisecond, result{1, success})
		// The other way the bytes are in time, and only the acknowledgement is late.
		_, err = a.qp.PostRecv([]verbs.RecvWR{{WRID: 50}})
		require.NoError(t, err)
		b.post(b.wr(4, verbs.OpWriteWithImm, a, 0, 0))
		expectAt(t, a, testRound/2, result{50, success})
		expectAt(t, b, testRound/2+3*time.Millisecond, result{4, success})
		b.post(b.wr(2, verbs.OpWrite, a, 0, size))
		expectAt(t, b, wire(size)+testRound+3*time.Millisecond, result{2, success})

		require.NoError(t, undoDelay())
		require.NoError(t, undoRate())
		a.post(a.wr(3, verbs.OpWrite, b, 0, size))
		expectAt(t, a, wire(size)+testRound, result{3, success})
	})
}

func TestHealEndsEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := nicOf(t, n, "host-a", 0), nicOf(t, n, "host-b", 0)
		for _, fault := range []func() (Undo, error){
			func() (Undo, error) { return n.Block(a, b) },
			func() (Undo, error) { return n.BlackHole(b, a) },
			func() (Undo, error) { return n.LinkDown(a) },
			func() (Undo, error) { return n.Delay(a, time.Second) },
			func() (Undo, error) { return n.Rate(b, 1) },
		} {
			_, err := fault()
			require.NoError(t, err)
		}
		require.NoError(t, n.Heal())
		x, y := connect(t, n, 0, 0, kib, testQP())
		x.post(x.wr(1, verbs.OpWrite, y, 0, kib))
		expectAt(t, x, wire(kib)+testRound, result{1, success})
		assert.Equal(t, classify.EventPortErr, nextEvent(t, a).Type)
		assert.Equal(t, classify.EventPortActive, nextEvent(t, a).Type)
	})
}
