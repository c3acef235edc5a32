package livefabric

import (
	"bytes"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

func TestWriteMovesExactlyItsBytes(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, 300*kib, testQP())
		want := slices.Clone(b.mem)
		copy(want[kib:], a.mem[kib:201*kib])
		a.post(a.wr(7, verbs.OpWrite, b, kib, 200*kib))
		pass(testRetryTime)
		require.Equal(t, []result{{7, success}}, a.results())
		assert.True(t, bytes.Equal(want, b.mem), "only bytes 1 KiB to 201 KiB should change")
		assert.Empty(t, b.poll(), "a WRITE makes no completion at the peer")
	})
}

func TestReadGathersIntoPieces(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, 300*kib, testQP())
		wr := a.wr(7, verbs.OpRead, b, 0, 3)
		wr.SGE = a.sge(200*kib, 3)
		wr.More = []verbs.SGE{a.sge(0, 150*kib), a.sge(5, 0), a.sge(299*kib, 9)}
		total := 3 + 150*kib + 9
		a.post(wr)
		wr.More[0] = verbs.SGE{} // the list is the caller's again
		pass(testRetryTime)
		wcs := a.poll()
		require.Len(t, wcs, 1)
		assert.Equal(t, verbs.WC{WRID: 7, Opcode: verbs.WCRead, ByteLen: uint32(total), QPNum: a.qp.sim.Num}, wcs[0])
		got := slices.Concat(a.mem[200*kib:][:3], a.mem[:150*kib], a.mem[299*kib:][:9])
		assert.True(t, bytes.Equal(b.mem[:total], got), "payload in the three pieces")
	})
}

func TestSend(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const size = 70 * kib
		a, b := connect(t, n, 0, 0, 200*kib, testQP())
		k, err := b.qp.PostRecv([]verbs.RecvWR{{WRID: 50, SGE: b.sge(100*kib, 80*kib)}, {WRID: 51}})
		require.NoError(t, err)
		require.Equal(t, 2, k)
		a.post(a.wr(1, verbs.OpSend, b, 0, size))
		pass(testRetryTime)
		require.Equal(t, []result{{1, success}}, a.results())
		assert.Equal(t, []verbs.WC{{WRID: 50, Opcode: verbs.WCRecv, ByteLen: size, QPNum: b.qp.sim.Num}}, b.poll())
		assert.True(t, bytes.Equal(a.mem[:size], b.mem[100*kib:][:size]), "payload")
	})
}

// TestRefused covers every work request that one of the sides cannot accept.
func TestRefused(t *testing.T) {
	const noEvent = classify.EventType(255)
	for _, tc := range []struct {
		name  string
		spoil func(a, b *end, wr *verbs.SendWR)
		want  classify.Status
		event classify.EventType // at the responder
	}{
		{"wrong rkey", func(_, _ *end, wr *verbs.SendWR) { wr.RKey += 2 },
			classify.StatusRemAccessErr, classify.EventQPAccessErr},
		{"lkey in place of the rkey", func(_, b *end, wr *verbs.SendWR) { wr.RKey = b.region.LKey() },
			classify.StatusRemAccessErr, classify.EventQPAccessErr},
		{"one byte past the region", func(_, _ *end, wr *verbs.SendWR) { wr.RemoteAddr++ },
			classify.StatusRemAccessErr, classify.EventQPAccessErr},
		{"one byte before the region", func(_, _ *end, wr *verbs.SendWR) { wr.RemoteAddr-- },
			classify.StatusRemAccessErr, classify.EventQPAccessErr},
		{"end of the address space", func(_, _ *end, wr *verbs.SendWR) { wr.RemoteAddr = 1<<64 - 1 },
			classify.StatusRemAccessErr, classify.EventQPAccessErr},
		{"READ with a wrong rkey", func(_, _ *end, wr *verbs.SendWR) { wr.Op = verbs.OpRead; wr.RKey += 2 },
			classify.StatusRemAccessErr, classify.EventQPAccessErr},
		{"wrong lkey", func(_, _ *end, wr *verbs.SendWR) { wr.SGE.LKey++ },
			classify.StatusLocProtErr, noEvent},
		{"local range past the region", func(_, _ *end, wr *verbs.SendWR) { wr.SGE.Addr++ },
			classify.StatusLocProtErr, noEvent},
		{"SEND longer than the receive", func(_, _ *end, wr *verbs.SendWR) { wr.Op = verbs.OpSend },
			classify.StatusRemInvReqErr, classify.EventQPReqErr},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				a, b := connect(t, n, 0, 0, 8*kib, testQP())
				_, err := b.qp.PostRecv([]verbs.RecvWR{{WRID: 50, SGE: b.sge(0, kib)}})
				require.NoError(t, err)
				before := slices.Clone(b.mem)
				bad := a.wr(2, verbs.OpWrite, b, 0, 8*kib)
				tc.spoil(a, b, &bad)
				a.post(a.wr(1, verbs.OpRead, b, 0, 4*kib), bad, a.wr(3, verbs.OpWrite, b, 0, 1))
				pass(testRetryTime)
				require.Equal(t, []result{{1, success}, {2, tc.want}, {3, flushed}}, a.results(),
					"what was posted before succeeds, what was posted behind is flushed")
				assert.Equal(t, before, b.mem, "the peer's memory should be as it was")
				if tc.event == noEvent {
					assert.Empty(t, b.nic.events)
					assert.Empty(t, b.poll())
					return
				}
				assert.Equal(t, classify.Event{Type: tc.event, Element: classify.Element{Device: "nic0", QP: b.qp.ID()}}, nextEvent(t, b.nic))
				assert.Equal(t, []result{{50, flushed}}, b.results(), "the responder's QP fails too")
			})
		})
	}
}

func TestRegionClosedUnderWay(t *testing.T) {
	for _, tc := range []struct {
		name string
		op   verbs.Opcode
		own  bool // close the region of the requester
		want classify.Status
	}{
		{"WRITE, own region", verbs.OpWrite, true, classify.StatusLocProtErr},
		{"WRITE, peer's region", verbs.OpWrite, false, classify.StatusRemAccessErr},
		{"READ, own region", verbs.OpRead, true, classify.StatusLocProtErr},
		{"READ, peer's region", verbs.OpRead, false, classify.StatusRemAccessErr},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				const size = 640 * kib
				a, b := connect(t, n, 0, 0, size, testQP())
				a.post(a.wr(1, tc.op, b, 0, size), a.wr(2, tc.op, b, 0, 1))
				pass(wire(size) / 2)
				near, far := slices.Clone(a.mem), slices.Clone(b.mem)
				closed := b
				if tc.own {
					closed = a
				}
				require.NoError(t, closed.region.Close())
				pass(wire(size) + testRetryTime)
				assert.Equal(t, []result{{1, tc.want}, {2, flushed}}, a.results())
				assert.True(t, bytes.Equal(near, a.mem) && bytes.Equal(far, b.mem), "memory changed after its region was closed")
			})
		})
	}
}

func TestReceiverNotReady(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		a.post(a.wr(1, verbs.OpSend, b, 0, kib), a.wr(2, verbs.OpSend, b, 0, kib))
		pass(rnrDelay)
		_, err := b.qp.PostRecv([]verbs.RecvWR{{WRID: 50, SGE: b.sge(0, kib)}})
		require.NoError(t, err)
		pass(2 * rnrDelay)
		require.Equal(t, []result{{1, success}}, a.results(), "a receive posted in time is found")
		require.Len(t, b.poll(), 1)
		pass(5 * rnrDelay)
		assert.Equal(t, []result{{2, classify.StatusRNRRetryExcErr}}, a.results(), "after two retries")
	})
}

func TestSendQueueDepth(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		cfg := testQP()
		cfg.SendDepth = 3
		a, b := connect(t, n, 0, 0, kib, cfg)
		var wrs []verbs.SendWR
		for id := range uint64(5) {
			wrs = append(wrs, a.wr(id, verbs.OpWrite, b, 0, kib))
		}
		k, err := a.qp.PostSend(wrs)
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.Equal(t, 3, k, "the queue takes what it has room for")
		pass(testRetryTime)
		require.Equal(t, []result{{0, success}, {1, success}, {2, success}}, a.results())
		a.post(wrs[3:]...)
		pass(testRetryTime)
		assert.Equal(t, []result{{3, success}, {4, success}}, a.results())
	})
}

func TestUnsignaled(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		quiet := a.wr(1, verbs.OpWrite, b, 0, kib)
		quiet.Flags = 0
		a.post(quiet, a.wr(2, verbs.OpWrite, b, 0, kib))
		pass(testRetryTime)
		require.Equal(t, []result{{2, success}}, a.results(), "only the signaled success completes")
		bad := quiet
		bad.WRID, bad.RKey = 3, 0
		quiet.WRID = 4
		a.post(bad, quiet)
		pass(testRetryTime)
		wcs := a.poll()
		require.Len(t, wcs, 2, "failures always complete")
		assert.Equal(t, []uint64{3, 4}, []uint64{wcs[0].WRID, wcs[1].WRID})
		assert.Equal(t, uint32(0x530a), wcs[0].VendorErr)
		assert.NotEqual(t, uint32(kib), wcs[0].ByteLen, "byte_len of a failure should mean nothing")
		assert.NotEqual(t, verbs.WCWrite, wcs[0].Opcode, "opcode of a failure should mean nothing")
	})
}

func TestFailAndClose(t *testing.T) {
	t.Run("Fail flushes both queues and what is posted later", func(t *testing.T) {
		inBubble(t, func(t *testing.T, n *Net) {
			a, b := connect(t, n, 0, 0, 64*kib, testQP())
			_, err := a.qp.PostRecv([]verbs.RecvWR{{WRID: 50}})
			require.NoError(t, err)
			a.post(a.wr(1, verbs.OpWrite, b, 0, 64*kib), a.wr(2, verbs.OpRead, b, 0, 64*kib))
			require.NoError(t, a.qp.Fail())
			require.NoError(t, a.qp.Fail(), "a second time")
			a.post(a.wr(3, verbs.OpWrite, b, 0, 1))
			_, err = a.qp.PostRecv([]verbs.RecvWR{{WRID: 51}})
			require.NoError(t, err)
			assert.Equal(t, []result{{1, flushed}, {2, flushed}, {50, flushed}, {3, flushed}, {51, flushed}}, a.results(), "without any wait")
			assert.Empty(t, a.nic.events, "a QP that the application fails makes no event")
		})
	})
	t.Run("Close with work outstanding brings no completions and moves no bytes", func(t *testing.T) {
		inBubble(t, func(t *testing.T, n *Net) {
			a, b := connect(t, n, 0, 0, 64*kib, testQP())
			a.post(a.wr(1, verbs.OpWrite, b, 0, 1))
			pass(testRetryTime) // this one waits to be polled
			far := slices.Clone(b.mem)
			a.post(a.wr(2, verbs.OpWrite, b, 0, 64*kib), a.wr(3, verbs.OpRead, b, 0, 64*kib))
			pass(wire(64*kib) / 2)
			require.NoError(t, a.qp.Close())
			require.NoError(t, a.qp.Close(), "a second time")
			pass(10 * testRetryTime)
			assert.Empty(t, a.poll())
			assert.True(t, bytes.Equal(far, b.mem))
			_, err := a.qp.PostSend([]verbs.SendWR{a.wr(4, verbs.OpWrite, b, 0, 1)})
			assert.ErrorIs(t, err, verbs.ErrClosed)
		})
	})
}

func TestOverflow(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		cq, err := a.nic.NewCQ(2)
		require.NoError(t, err)
		qp, err := a.nic.NewQP(cq, testQP())
		require.NoError(t, err)
		other, err := b.nic.NewQP(b.cq, testQP())
		require.NoError(t, err)
		require.NoError(t, qp.Connect(other.Address()))
		require.NoError(t, other.Connect(qp.Address()))
		a.qp, a.cq = qp.(*QP), cq
		a.post(a.wr(1, verbs.OpWrite, b, 0, 1), a.wr(2, verbs.OpWrite, b, 0, 1), a.wr(3, verbs.OpWrite, b, 0, 1))
		pass(testRetryTime)
		assert.Equal(t, []result{{1, success}, {2, success}}, a.results())
		_, err = cq.Poll(make([]verbs.WC, 1))
		assert.ErrorContains(t, err, "some were lost")
		assert.Equal(t, classify.Event{Type: classify.EventCQErr, Element: classify.Element{Device: "nic0", CQ: cq.ID()}}, nextEvent(t, a.nic))
		assert.True(t, a.qp.sim.Failed())
	})
}

func TestBadPosts(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		good := a.wr(1, verbs.OpWrite, b, 0, 1)
		for name, spoil := range map[string]func(*verbs.SendWR){
			"opcode":   func(wr *verbs.SendWR) { wr.Op = verbs.OpWriteWithImm },
			"inline":   func(wr *verbs.SendWR) { wr.Flags |= verbs.SendInline },
			"pieces":   func(wr *verbs.SendWR) { wr.More = make([]verbs.SGE, maxSGE) },
			"too long": func(wr *verbs.SendWR) { wr.SGE.Length = maxMessage; wr.More = []verbs.SGE{{Length: 1}} },
		} {
			bad := good
			spoil(&bad)
			k, err := a.qp.PostSend([]verbs.SendWR{good, bad, good})
			assert.ErrorIs(t, err, syscall.EINVAL, name)
			assert.Equal(t, 1, k, name)
		}
		lone := newEnd(t, a.nic, kib, testQP())
		_, err := lone.qp.PostSend([]verbs.SendWR{good})
		assert.ErrorIs(t, err, syscall.EINVAL, "not connected")
	})
}
