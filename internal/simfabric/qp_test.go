package simfabric

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
		assert.Equal(t, verbs.WC{WRID: 7, Opcode: verbs.WCRead, ByteLen: uint32(total), QPNum: a.qp.qpn}, wcs[0])
		got := slices.Concat(a.mem[200*kib:][:3], a.mem[:150*kib], a.mem[299*kib:][:9])
		assert.True(t, bytes.Equal(b.mem[:total], got), "payload in the three pieces")
	})
}

func TestSendAndImmediateData(t *testing.T) {
	for _, tc := range []struct {
		name    string
		op      verbs.Opcode
		opcode  verbs.WCOpcode
		imm     bool
		offsets [2]int // where the payload is at the sender and at the receiver
	}{
		{"SEND", verbs.OpSend, verbs.WCRecv, false, [2]int{0, 100 * kib}},
		{"SEND with immediate", verbs.OpSendWithImm, verbs.WCRecv, true, [2]int{0, 100 * kib}},
		{"WRITE with immediate", verbs.OpWriteWithImm, verbs.WCRecvWithImm, true, [2]int{0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				const size = 70 * kib
				a, b := connect(t, n, 0, 0, 200*kib, testQP())
				k, err := b.qp.PostRecv([]verbs.RecvWR{{WRID: 50, SGE: b.sge(100*kib, 80*kib)}, {WRID: 51}})
				require.NoError(t, err)
				require.Equal(t, 2, k)
				wr := a.wr(1, tc.op, b, 0, size)
				wr.Imm = 0xcafe
				a.post(wr)
				pass(testRetryTime)
				require.Equal(t, []result{{1, success}}, a.results())
				wcs := b.poll()
				require.Len(t, wcs, 1, "one receive is used")
				assert.Equal(t, uint64(50), wcs[0].WRID)
				assert.Equal(t, tc.opcode, wcs[0].Opcode)
				assert.Equal(t, uint32(size), wcs[0].ByteLen)
				assert.Equal(t, tc.imm, wcs[0].Flags&verbs.WCWithImm != 0, "immediate data flag")
				if tc.imm {
					assert.Equal(t, uint32(0xcafe), wcs[0].Imm())
				}
				assert.True(t, bytes.Equal(a.mem[tc.offsets[0]:][:size], b.mem[tc.offsets[1]:][:size]), "payload")
			})
		})
	}
}

// TestRefused covers every work request that one of the sides cannot accept.
func TestRefused(t *testing.T) {
	const noEvent = classify.EventType(255)
	for _, tc := range []struct {
		name  string
		spoil func(a, b *end, wr *verbs.SendWR)
		want  classify.Status
		event classify.EventType // at the responder
		recv  classify.Status    // of the responder's posted receives, if the QP failed
	}{
		{"wrong rkey", func(_, _ *end, wr *verbs.SendWR) { wr.RKey += 2 },
			classify.StatusRemAccessErr, classify.EventQPAccessErr, flushed},
		{"lkey in place of the rkey", func(_, b *end, wr *verbs.SendWR) { wr.RKey = b.region.LKey() },
			classify.StatusRemAccessErr, classify.EventQPAccessErr, flushed},
		{"one byte past the region", func(_, _ *end, wr *verbs.SendWR) { wr.RemoteAddr++ },
			classify.StatusRemAccessErr, classify.EventQPAccessErr, flushed},
		{"one byte before the region", func(_, _ *end, wr *verbs.SendWR) { wr.RemoteAddr-- },
			classify.StatusRemAccessErr, classify.EventQPAccessErr, flushed},
		{"end of the address space", func(_, _ *end, wr *verbs.SendWR) { wr.RemoteAddr = 1<<64 - 1 },
			classify.StatusRemAccessErr, classify.EventQPAccessErr, flushed},
		{"READ with a wrong rkey", func(_, _ *end, wr *verbs.SendWR) { wr.Op = verbs.OpRead; wr.RKey += 2 },
			classify.StatusRemAccessErr, classify.EventQPAccessErr, flushed},
		{"region closed at the peer", func(_, b *end, _ *verbs.SendWR) { _ = b.region.Close() },
			classify.StatusRemAccessErr, classify.EventQPAccessErr, flushed},
		{"wrong lkey", func(_, _ *end, wr *verbs.SendWR) { wr.SGE.LKey++ },
			classify.StatusLocProtErr, noEvent, 0},
		{"local range past the region", func(_, _ *end, wr *verbs.SendWR) { wr.SGE.Addr++ },
			classify.StatusLocProtErr, noEvent, 0},
		{"local region closed", func(a, _ *end, _ *verbs.SendWR) { _ = a.region.Close() },
			classify.StatusLocProtErr, noEvent, 0},
		{"SEND longer than the receive", func(_, _ *end, wr *verbs.SendWR) { wr.Op = verbs.OpSend },
			classify.StatusRemInvReqErr, classify.EventQPReqErr, classify.StatusLocLenErr},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				a, b := connect(t, n, 0, 0, 8*kib, testQP())
				_, err := b.qp.PostRecv([]verbs.RecvWR{{WRID: 50, SGE: b.sge(0, kib)}})
				require.NoError(t, err)
				before := slices.Clone(b.mem)
				good := a.wr(1, verbs.OpRead, b, 0, 4*kib)
				bad := a.wr(2, verbs.OpWrite, b, 0, 8*kib)
				tc.spoil(a, b, &bad)
				if tc.name == "region closed at the peer" || tc.name == "local region closed" {
					a.post(bad, a.wr(3, verbs.OpWrite, b, 0, 1))
					pass(testRetryTime)
					require.Equal(t, []result{{2, tc.want}, {3, flushed}}, a.results())
				} else {
					a.post(good, bad, a.wr(3, verbs.OpWrite, b, 0, 1))
					pass(testRetryTime)
					require.Equal(t, []result{{1, success}, {2, tc.want}, {3, flushed}}, a.results(),
						"what was posted before succeeds, what was posted behind is flushed")
				}
				assert.Equal(t, before, b.mem, "the peer's memory should be as it was")
				if tc.event == noEvent {
					assert.Empty(t, b.nic.events)
					assert.Empty(t, b.poll())
					return
				}
				event := nextEvent(t, b.nic)
				assert.Equal(t, tc.event, event.Type)
				assert.Equal(t, classify.Element{Device: "nic0", QP: b.qp.ID()}, event.Element)
				assert.Equal(t, []result{{50, tc.recv}}, b.results(), "the responder's QP fails too")
			})
		})
	}
}

// What is posted while a refusal is on its way back changes nothing about it: it is the
// refused request that fails, and not a path without an answer.
func TestPostWhileARefusalIsUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, 8*kib, testQP())
		bad := a.wr(1, verbs.OpWrite, b, 0, kib)
		bad.RKey += 2
		a.post(bad)
		pass(testRound/2 + wire(kib) + testRound/4)
		require.Equal(t, verbs.StateErr, b.qp.state, "the peer has refused it")
		require.Empty(t, a.results(), "and nobody knows here")
		a.post(a.wr(2, verbs.OpWrite, b, 0, kib))
		pass(2 * testRetryTime)
		require.Equal(t, []result{{1, classify.StatusRemAccessErr}, {2, flushed}}, a.results())
	})
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
				closed := b
				if tc.own {
					closed = a
				}
				require.NoError(t, closed.region.Close())
				target := slices.Clone(b.mem)
				if tc.op == verbs.OpRead {
					target = slices.Clone(a.mem)
				}
				pass(wire(size) + testRetryTime)
				assert.Equal(t, []result{{1, tc.want}, {2, flushed}}, a.results())
				now := b.mem
				if tc.op == verbs.OpRead {
					now = a.mem
				}
				assert.True(t, bytes.Equal(target, now), "memory changed after its region was closed")
			})
		})
	}
}

func TestReceiverNotReady(t *testing.T) {
	for _, op := range []verbs.Opcode{verbs.OpSend, verbs.OpWriteWithImm} {
		t.Run(op.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				a, b := connect(t, n, 0, 0, kib, testQP())
				a.post(a.wr(1, op, b, 0, kib), a.wr(2, op, b, 0, kib))
				pass(rnrDelay)
				_, err := b.qp.PostRecv([]verbs.RecvWR{{WRID: 50, SGE: b.sge(0, kib)}})
				require.NoError(t, err)
				pass(2 * rnrDelay)
				require.Equal(t, []result{{1, success}}, a.results(), "a receive posted in time is found")
				require.Len(t, b.poll(), 1)
				pass(5 * rnrDelay)
				assert.Equal(t, []result{{2, classify.StatusRNRRetryExcErr}}, a.results(), "after two retries")
			})
		})
	}
}

func TestReceiverNotReadyForEver(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		cfg := testQP()
		cfg.RNRRetry = 7
		a, b := connect(t, n, 0, 0, kib, cfg)
		a.post(a.wr(1, verbs.OpSend, b, 0, kib))
		pass(1000 * rnrDelay)
		require.Empty(t, a.results(), "an RNRRetry of 7 never ends")
		require.NoError(t, a.qp.Fail())
		assert.Equal(t, []result{{1, flushed}}, a.results())
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
		k, err = a.qp.PostSend(wrs[3:])
		require.NoError(t, err)
		require.Equal(t, 2, k)
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
		assert.Equal(t, []result{{3, classify.StatusRemAccessErr}, {4, flushed}}, a.results(), "failures always complete")
	})
}

func TestFence(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, 640*kib, testQP())
		want := slices.Clone(b.mem)
		read := a.wr(1, verbs.OpRead, b, 0, 640*kib)
		write := a.wr(2, verbs.OpWrite, b, 0, 640*kib)
		write.Flags |= verbs.SendFence
		a.post(read, write)
		pass(10 * testRetryTime)
		require.Equal(t, []result{{1, success}, {2, success}}, a.results())
		assert.True(t, bytes.Equal(want, a.mem), "the READ should see the peer as it was before the WRITE")
		assert.True(t, bytes.Equal(want, b.mem), "the WRITE should carry what was read")
	})
}

func TestCompletionsInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, 640*kib, testQP())
		// The WRITE is done long before the READ's bytes are back.
		a.post(a.wr(1, verbs.OpRead, b, 0, 640*kib), a.wr(2, verbs.OpWrite, b, 0, 1))
		pass(10 * testRetryTime)
		assert.Equal(t, []result{{1, success}, {2, success}}, a.results())
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
			pass(testRetryTime)
			assert.Equal(t, []result{{1, flushed}, {2, flushed}, {50, flushed}, {3, flushed}, {51, flushed}}, a.results())
			assert.Empty(t, a.nic.events, "a QP that the application fails makes no event")
		})
	})
	t.Run("Close with work outstanding brings no completions", func(t *testing.T) {
		inBubble(t, func(t *testing.T, n *Net) {
			a, b := connect(t, n, 0, 0, 64*kib, testQP())
			a.post(a.wr(1, verbs.OpWrite, b, 0, 1))
			pass(wire(1) + testRound) // this one waits to be polled
			a.post(a.wr(2, verbs.OpWrite, b, 0, 64*kib), a.wr(3, verbs.OpRead, b, 0, 64*kib))
			require.NoError(t, a.qp.Close())
			require.NoError(t, a.qp.Close(), "a second time")
			pass(10 * testRetryTime)
			assert.Empty(t, a.poll())
			_, err := a.qp.PostSend([]verbs.SendWR{a.wr(4, verbs.OpWrite, b, 0, 1)})
			assert.ErrorIs(t, err, verbs.ErrClosed)
		})
	})
}

func TestFailedCompletionHasNoOtherFields(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		wr := a.wr(1, verbs.OpRead, b, 0, kib)
		wr.RKey = 0
		a.post(wr)
		pass(testRetryTime)
		wcs := a.poll()
		require.Len(t, wcs, 1)
		assert.Equal(t, uint32(0x530a), wcs[0].VendorErr)
		assert.NotEqual(t, uint32(kib), wcs[0].ByteLen, "byte_len of a failure should mean nothing")
		assert.NotEqual(t, verbs.WCRead, wcs[0].Opcode, "opcode of a failure should mean nothing")
	})
}
