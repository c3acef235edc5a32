package simfabric

import (
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

// otherNIC and otherCQ are what another fabric would bring.
type (
	otherNIC struct{ fabric.NIC }
	otherCQ  struct{ fabric.CQ }
)

// TestBadInput gives every call something that it cannot take, and afterwards uses
// the same objects for a transfer.
func TestBadInput(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		fresh := newEnd(t, nicOf(t, n, "host-a", 1), kib, testQP())
		foreign := newEnd(t, nicOf(t, newNet(t, testConfig()), "host-a", 0), kib, testQP())
		nic, host := a.nic, a.nic.host
		cfg := func(change func(c *fabric.QPConfig)) error {
			c := testQP()
			change(&c)
			_, err := nic.NewQP(a.cq, c)
			return err
		}
		connectTo := func(change func(remote *fabric.Address)) error {
			remote := b.qp.Address()
			change(&remote)
			return fresh.qp.Connect(remote)
		}
		send := func(change func(wr *verbs.SendWR)) error {
			wr := a.wr(1, verbs.OpWrite, b, 0, 1)
			change(&wr)
			k, err := a.qp.PostSend([]verbs.SendWR{wr})
			assert.Zero(t, k)
			return err
		}
		second := func(_ any, err error) error { return err }

		for _, tc := range []struct {
			name string
			err  error
			want string
		}{
			{"alloc 0", second(host.Alloc(0)), "the length is 0: invalid argument; ask for at least one byte"},
			{"alloc -1", second(host.Alloc(-1)), "the length is -1"},
			{"alloc beyond all memory", second(host.Alloc(math.MaxInt)), "the length is 9223372036854775807, and 2048 of 8589934592 bytes are taken"},
			{"free nil", host.Free(nil), "no memory of Alloc"},
			{"free a part", host.Free(fresh.mem[:10]), "10 bytes at"},
			{"register nil", second(nic.Register(nil)), "the memory has length 0: invalid argument; register at least one byte"},
			{"register foreign memory", second(nic.Register(make([]byte, 8))), "not of this host's Alloc"},
			{"register memory of the peer", second(nic.Register(b.mem)), "take memory from Alloc of the same host"},
			{"CQ of depth 0", second(nic.NewCQ(0)), "the depth is 0"},
			{"CQ too deep", second(nic.NewCQ(1 << 30)), "ask for 1 to 4194304"},
			{"QP on a nil CQ", second(nic.NewQP(nil, testQP())), "pass a CQ of this NIC"},
			{"QP on a CQ of another kind", second(nic.NewQP(otherCQ{}, testQP())), "otherCQ"},
			{"QP on another NIC's CQ", second(nic.NewQP(fresh.cq, testQP())), "belongs to another NIC"},
			{"SendDepth 0", cfg(func(c *fabric.QPConfig) { c.SendDepth = 0 }), "SendDepth is 0"},
			{"RecvDepth -1", cfg(func(c *fabric.QPConfig) { c.RecvDepth = -1 }), "RecvDepth is -1"},
			{"Timeout 0", cfg(func(c *fabric.QPConfig) { c.Timeout = 0 }), "Timeout is 0: invalid argument; set it to 1 to 31"},
			{"Timeout 32", cfg(func(c *fabric.QPConfig) { c.Timeout = 32 }), "Timeout is 32"},
			{"Retry 8", cfg(func(c *fabric.QPConfig) { c.Retry = 8 }), "Retry is 8"},
			{"RNRRetry 8", cfg(func(c *fabric.QPConfig) { c.RNRRetry = 8 }), "RNRRetry is 8"},
			{"connect to nothing", fresh.qp.Connect(fabric.Address{}), `no NIC of this fabric has the GID ""`},
			{"connect to QP 0", connectTo(func(r *fabric.Address) { r.QPN = 0 }), "the QP number is 0x0"},
			{"connect with MTU 0", connectTo(func(r *fabric.Address) { r.MTU = 0 }), "the MTU is 0 bytes"},
			{"connect twice", a.qp.Connect(b.qp.Address()), "the state is RTS"},
			{"post unconnected", second(fresh.qp.PostSend([]verbs.SendWR{fresh.wr(1, verbs.OpWrite, b, 0, 1)})), "call Connect first"},
			{"unknown opcode", send(func(wr *verbs.SendWR) { wr.Op = 5 }), "request 0 of the list has opcode 5"},
			{"inline", send(func(wr *verbs.SendWR) { wr.Flags |= verbs.SendInline }), "clear SendInline"},
			{"too many SGEs", send(func(wr *verbs.SendWR) { wr.More = make([]verbs.SGE, 16) }), "has 17 SGEs"},
			{"too long", send(func(wr *verbs.SendWR) { wr.SGE.Length = 1<<31 + 1 }), "has 2147483649 bytes"},
			{"fault of nil", second(n.Block(nil, b.nic)), "the NIC is of type <nil>"},
			{"fault of a nil NIC", second(n.Block(a.nic, (*NIC)(nil))), "the NIC is nil"},
			{"fault of another kind", second(n.LinkDown(otherNIC{})), "otherNIC"},
			{"fault of another fabric", second(n.BlackHole(a.nic, foreign.nic)), "is of another fabric"},
			{"pair with itself", second(n.Block(a.nic, a.nic)), "give two NICs"},
			{"delay 0", second(n.Delay(a.nic, 0)), "the delay is 0s"},
			{"delay of an hour", second(n.Delay(a.nic, time.Hour)), "up to 1m0s"},
			{"rate 0", second(n.Rate(a.nic, 0)), "the rate is 0 bytes/s"},
			{"inject nowhere", n.Inject(nil, classify.Event{}), "pass a NIC of this fabric"},
		} {
			if assert.ErrorIs(t, tc.err, syscall.EINVAL, tc.name) {
				assert.ErrorContains(t, tc.err, tc.want, tc.name)
			}
		}

		for name, call := range map[string]func() (int, error){
			"post nothing":         func() (int, error) { return a.qp.PostSend(nil) },
			"post receive nothing": func() (int, error) { return a.qp.PostRecv(nil) },
			"poll into nothing":    func() (int, error) { return a.cq.Poll(nil) },
		} {
			k, err := call()
			assert.NoError(t, err, name)
			assert.Zero(t, k, name)
		}

		a.post(a.wr(9, verbs.OpWrite, b, 0, kib))
		pass(testRetryTime)
		assert.Equal(t, []result{{9, success}}, a.results(), "bad input should have changed nothing")
		require.NoError(t, fresh.qp.Connect(b.qp.Address()), "a refused Connect can be repeated")
	})
}

func TestBadRequestInTheMiddleOfAList(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a, b := connect(t, n, 0, 0, kib, testQP())
		wrs := []verbs.SendWR{
			a.wr(1, verbs.OpWrite, b, 0, 1),
			a.wr(2, verbs.Opcode(99), b, 0, 1),
			a.wr(3, verbs.OpWrite, b, 0, 1),
		}
		k, err := a.qp.PostSend(wrs)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.Equal(t, 1, k)
		pass(testRetryTime)
		assert.Equal(t, []result{{1, success}}, a.results(), "what was taken completes")
	})
}

func TestReceiveQueueDepth(t *testing.T) {
	inBubble(t, func(t *testing.T, n *Net) {
		a := newEnd(t, nicOf(t, n, "host-a", 0), kib, testQP())
		k, err := a.qp.PostRecv(make([]verbs.RecvWR, 17))
		require.ErrorIs(t, err, syscall.ENOMEM)
		assert.Equal(t, 16, k)
		_, err = a.qp.PostRecv([]verbs.RecvWR{{More: make([]verbs.SGE, 16)}})
		assert.ErrorIs(t, err, syscall.ENOMEM, "still full")
	})
}
