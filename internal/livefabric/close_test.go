package livefabric

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			"kill": n.KillQPs(a.nic), "fail": a.qp.Fail(), "connect": a.qp.Connect(b.qp.Address()),
		} {
			assert.ErrorIs(t, err, verbs.ErrClosed, name)
		}
		for _, closeIt := range []func() error{a.qp.Close, a.cq.Close, a.region.Close, a.nic.host.Close} {
			assert.NoError(t, closeIt(), "what was closed with the fabric closes again")
		}
	})
}

// In real time: the fabric's timer goes off for real.
func TestNoGoroutinesRemain(t *testing.T) {
	n := newNet(t, testConfig())
	_, err := n.Incast(nicOf(t, n, "host-b", 0), time.Millisecond)
	require.NoError(t, err)
	a, b := connect(t, n, 0, 0, 64*kib, testQP())
	a.post(a.wr(1, verbs.OpWrite, b, 0, 64*kib))
	require.Eventually(t, func() bool { return len(a.poll()) > 0 }, 20*time.Second, time.Millisecond)
	ended(t, n)
}

// ended closes a fabric and checks that nothing of it goes on.
func ended(t *testing.T, n *Net) {
	t.Helper()
	require.NoError(t, n.Close())
	ours := func() bool {
		stacks := make([]byte, 1<<20)
		return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "livefabric.(*Net)")
	}
	require.Eventually(t, func() bool { return !ours() }, 20*time.Second, time.Millisecond)
	events := func() uint64 {
		n.lock()
		defer n.unlock()
		return n.sim.Events()
	}
	before := events()
	time.Sleep(20 * time.Millisecond)
	assert.Equal(t, before, events(), "the simulation went on after Close")
}

func TestConfigIsChecked(t *testing.T) {
	_, err := New(Config{Hosts: []HostConfig{{"", nil}, {"a", []string{"x", "x"}}, {"a", []string{"y"}}}, Crowd: -1})
	for _, want := range []string{
		"a name of hosts has 0 bytes", `0 NICs of host ""`, `there are two NICs of host "a" of the name "x"`,
		`there are two hosts of the name "a"`, "the rate is 0 bit/s", "a crowd of -1",
	} {
		assert.ErrorContains(t, err, want)
	}
	cfg := testConfig()
	cfg.Rate = 1e15
	_, err = New(cfg)
	assert.ErrorContains(t, err, "rate 1000000000000000 is not")
	assert.ErrorIs(t, err, syscall.EINVAL)
}
