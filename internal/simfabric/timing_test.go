package simfabric

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/verbs"
)

// expectAt asserts that the first completion of e comes after exactly d from now.
func expectAt(t *testing.T, e *end, d time.Duration, want result) {
	t.Helper()
	pass(d - 1)
	require.Empty(t, e.results(), "completion earlier than %v", d)
	pass(1)
	require.Equal(t, []result{want}, e.results(), "no such completion after %v", d)
}

// wire is the time that bytes take at the rate of the tests.
func wire(bytes int) time.Duration { return time.Duration(bytes) * time.Second / testRate }

func TestTimeOfOneTransfer(t *testing.T) {
	for _, tc := range []struct {
		name  string
		op    verbs.Opcode
		bytes int
	}{
		{"WRITE of a byte", verbs.OpWrite, 1},
		{"WRITE of a chunk", verbs.OpWrite, 64 * kib},
		{"WRITE of many chunks and a bit", verbs.OpWrite, 1000*kib + 7},
		{"READ of a byte", verbs.OpRead, 1},
		{"READ of many chunks and a bit", verbs.OpRead, 1000*kib + 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				a, b := connect(t, n, 0, 0, tc.bytes, testQP())
				a.post(a.wr(1, tc.op, b, 0, tc.bytes))
				expectAt(t, a, wire(tc.bytes)+testRound, result{1, success})
				assert.Equal(t, a.mem, b.mem, "payload")
			})
		})
	}
}

func TestTransfersOfOneNICAddUp(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const bytes = 256 * kib
		a0, b0 := connect(t, n, 0, 0, bytes, testQP())
		a1, b1 := connect(t, n, 0, 1, bytes, testQP())
		a0.post(a0.wr(1, verbs.OpWrite, b0, 0, bytes))
		a1.post(a1.wr(2, verbs.OpWrite, b1, 0, bytes))
		// In turns of 64 KiB. The first had two turns planned when the second came, so
		// it ends two turns before.
		expectAt(t, a0, wire(2*bytes-128*kib)+testRound, result{1, success})
		expectAt(t, a1, wire(128*kib), result{2, success})
	})
}

func TestDifferentNICsDoNotShareRate(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const bytes = 256 * kib
		a0, b0 := connect(t, n, 0, 0, bytes, testQP())
		a1, b1 := connect(t, n, 1, 1, bytes, testQP())
		a0.post(a0.wr(1, verbs.OpWrite, b0, 0, bytes))
		a1.post(a1.wr(2, verbs.OpWrite, b1, 0, bytes))
		pass(wire(bytes) + testRound)
		assert.Equal(t, []result{{1, success}}, a0.results())
		assert.Equal(t, []result{{2, success}}, a1.results())
	})
}

// TestIncast sends from k NICs to one: each has 1/k of the receiver's rate, and the
// time of a transfer grows with what is in flight.
func TestIncast(t *testing.T) {
	for _, senders := range []int{1, 2, 4} {
		t.Run(string(rune('0'+senders)), func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				const bytes = 1024 * kib
				var ends []*end
				for i := range senders {
					a, b := connect(t, n, i, 0, bytes, testQP())
					a.post(a.wr(1, verbs.OpWrite, b, 0, bytes))
					ends = append(ends, a)
				}
				// All end within the last round of chunks, the last one at the very end.
				all := wire(senders*bytes) + testRound
				pass(all - wire(senders*64*kib))
				for i, a := range ends {
					require.Empty(t, a.results(), "sender %d of %d was faster than its share", i, senders)
				}
				pass(wire(senders*64*kib) - 1)
				done := 0
				for _, a := range ends {
					done += len(a.results())
				}
				require.Equal(t, senders-1, done, "completions just before all bytes can be in")
				pass(1)
				assert.Equal(t, []result{{1, success}}, ends[senders-1].results(), "the last sender")
			})
		})
	}
}

func TestCongestedReceiverDoesNotBlockTheSender(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const bytes = 64 * kib
		_, err := n.Rate(nicOf(t, n, "host-b", 0), testRate/100)
		require.NoError(t, err)
		slow, slowPeer := connect(t, n, 0, 0, bytes, testQP())
		fast, fastPeer := connect(t, n, 0, 1, bytes, testQP())
		slow.post(slow.wr(1, verbs.OpWrite, slowPeer, 0, bytes))
		fast.post(fast.wr(2, verbs.OpWrite, fastPeer, 0, bytes))
		expectAt(t, fast, 2*wire(bytes)+testRound, result{2, success})
		require.Empty(t, slow.results())
	})
}

func TestSlowSendersShareAFastReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		slow := []NICConfig{{Name: "s0", Rate: testRate / 4}, {Name: "s1", Rate: testRate / 4}}
		cfg.Hosts[0].NICs = slow
		n := newNet(t, cfg)
		const bytes = 16 * kib
		a0, b0 := connect(t, n, 0, 0, bytes, testQP())
		a1, b1 := connect(t, n, 1, 0, bytes, testQP())
		a0.post(a0.wr(1, verbs.OpWrite, b0, 0, bytes))
		a1.post(a1.wr(2, verbs.OpWrite, b1, 0, bytes))
		// Both arrive at once, so that the second waits for the first to be taken in.
		expectAt(t, a0, 4*wire(bytes)+testRound, result{1, success})
		expectAt(t, a1, wire(bytes), result{2, success})
	})
}

func TestLatencyIsTheSumOfTheNICs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Latency = 0
		cfg.Hosts[0].NICs = []NICConfig{{Name: "far", Latency: 10 * time.Millisecond}}
		cfg.Hosts[1].NICs = []NICConfig{{Name: "near", Latency: 2 * time.Microsecond}}
		n := newNet(t, cfg)
		a, b := connect(t, n, 0, 0, kib, testQP())
		a.post(a.wr(1, verbs.OpWrite, b, 0, kib))
		expectAt(t, a, wire(kib)+10*time.Millisecond+2*time.Microsecond, result{1, success})
	})
}

// TestLateTimerCostsNoBandwidth has a timer that does not fire for the time of many
// chunks, as on a busy machine.
func TestLateTimerCostsNoBandwidth(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		const bytes = 1024 * kib
		a, b := connect(t, n, 0, 0, bytes, testQP())
		a.post(a.wr(1, verbs.OpWrite, b, 0, bytes))
		n.timer.Stop()
		pass(wire(bytes) + testRound)
		assert.Equal(t, []result{{1, success}}, a.results(), "the fabric should catch up at once")
	})
}

func TestRetryTime(t *testing.T) {
	for _, tc := range []struct {
		name           string
		timeout, retry uint8
		want           time.Duration
	}{
		{"one try", 8, 0, 1048576 * time.Nanosecond},
		{"four tries", 8, 3, 4194304 * time.Nanosecond},
		{"the usual half second", 14, 7, 536870912 * time.Nanosecond},
		{"shortest timeout", 1, 7, 65536 * time.Nanosecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				cfg := testQP()
				cfg.Timeout, cfg.Retry = tc.timeout, tc.retry
				a, b := connect(t, n, 0, 0, kib, cfg)
				require.NoError(t, b.qp.Close())
				a.post(a.wr(1, verbs.OpWrite, b, 0, kib), a.wr(2, verbs.OpWrite, b, 0, kib))
				pass(tc.want - 1)
				require.Empty(t, a.results(), "completion before the retries are over")
				pass(1)
				assert.Equal(t, []result{{1, timeout}, {2, flushed}}, a.results())
			})
		})
	}
}
