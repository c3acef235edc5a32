package livefabric

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/verbs"
)

// wire is the time that a payload takes on one link, with what every packet has beside
// it: 82 bytes.
func wire(bytes int) time.Duration {
	packets := max(1, (bytes+mtu-1)/mtu)
	return time.Duration(bytes+82*packets) * 8 * time.Second / testRate
}

// In a bubble a poller that looks every step finds each completion within a step of
// its time, which is the wire's.
func TestTimeOfOneTransfer(t *testing.T) {
	for _, tc := range []struct {
		name  string
		op    verbs.Opcode
		bytes int
	}{
		{"WRITE of a byte", verbs.OpWrite, 1},
		{"WRITE of many packets and a bit", verbs.OpWrite, 1000*kib + 7},
		{"READ of a byte", verbs.OpRead, 1},
		{"READ of many packets and a bit", verbs.OpRead, 1000*kib + 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *Net) {
				a, b := connect(t, n, 0, 0, tc.bytes, testQP())
				began := time.Now()
				a.post(a.wr(1, tc.op, b, 0, tc.bytes))
				for len(a.poll()) == 0 {
					pass(step / 10)
				}
				took := time.Since(began)
				// The switch holds one packet; the links are 1 us each, four in all.
				least := wire(tc.bytes) + wire(min(tc.bytes%mtu, tc.bytes)) + 4*time.Microsecond
				assert.GreaterOrEqual(t, took, least)
				assert.LessOrEqual(t, took, least+wire(mtu)+step)
				assert.Equal(t, a.mem, b.mem, "payload")
			})
		})
	}
}

// The timer alone keeps the simulation going.
func TestNobodyNeedsToPoll(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, 64*kib, testQP())
		a.post(a.wr(1, verbs.OpWrite, b, 0, 64*kib))
		pass(2*wire(64*kib) + step)
		assert.Equal(t, a.mem, b.mem)
		pass(testRetryTime) // timeouts that are not needed any more
		require.EqualValues(t, never, n.due.Load(), "and then there is nothing to do")
	})
}

// Given a clock, everything is determined: the same calls at the same times make the same
// simulation.
func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) (trace uint64, log []result) {
		synctest.Test(t, func(t *testing.T) {
			cfg := testConfig()
			cfg.Seed = seed
			cfg.Switch.Buffer, cfg.Switch.Lossy = 64<<10, true
			n := newNet(t, cfg)
			random := rand.New(rand.NewPCG(seed, 1))
			var ends [4][2]*end
			for i := range ends {
				a, b := connect(t, n, i, i/2, 64*kib, testQP())
				ends[i] = [2]*end{a, b}
			}
			_, err := n.Incast(ends[0][1].nic, time.Millisecond)
			require.NoError(t, err)
			for id := range uint64(400) {
				pair := ends[random.IntN(4)]
				op := []verbs.Opcode{verbs.OpWrite, verbs.OpRead}[random.IntN(2)]
				_, _ = pair[0].qp.PostSend([]verbs.SendWR{pair[0].wr(id, op, pair[1], 0, 1+random.IntN(64*kib))}) // full sometimes
				pass(time.Duration(random.IntN(200)) * time.Microsecond)
				if id == 200 {
					_, err := n.Block(ends[0][0].nic, ends[0][1].nic)
					require.NoError(t, err)
				}
				log = append(log, pair[0].results()...)
			}
			trace = n.sim.Trace()
		})
		return trace, log
	}
	trace, log := run(1)
	require.NotEmpty(t, log)
	require.True(t, slices.ContainsFunc(log, func(r result) bool { return r.Status == timeout }), "a QP should have failed")
	again, sameLog := run(1)
	assert.Equal(t, log, sameLog)
	assert.Equal(t, trace, again)
	other, _ := run(2)
	assert.NotEqual(t, trace, other)
}

// A machine that cannot keep up makes the fabric slow, and says so. This one falls an
// hour behind in a moment.
func TestBehind(t *testing.T) {
	n := newNet(t, testConfig())
	_, err := n.Incast(nicOf(t, n, "host-b", 0), time.Hour)
	require.NoError(t, err)
	n.mu.Lock()
	n.start = n.start.Add(-2 * time.Hour)
	n.mu.Unlock()
	n.lock() // to the hour at which the crowd begins
	n.unlock()
	behind, of := n.Behind()
	assert.Greater(t, of, 2*time.Hour)
	assert.Greater(t, behind, 50*time.Minute, "the hour of the crowd takes longer than that")
	assert.Less(t, behind, 61*time.Minute, "the hour before is simulated in no time")
	n.lock()
	now := n.sim.Now()
	n.unlock()
	assert.Greater(t, now, time.Hour)
}

// An idle fabric loses nothing, however long nobody looks.
func TestIdleIsNotBehind(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		pass(1000 * time.Hour)
		behind, of := n.Behind()
		assert.Zero(t, behind)
		assert.Equal(t, 1000*time.Hour, of)
	})
}
