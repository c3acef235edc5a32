//go:build linux && cgo

package verbs

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs/internal/stub"
)

func TestStates(t *testing.T) {
	b := newBench(t, QPCap{})
	qp, err := b.pd.CreateQP(QPInit{SendCQ: b.cq, Cap: QPCap{MaxSendWR: 7, MaxRecvWR: 9, MaxSendSGE: 2}})
	require.NoError(t, err)
	defer qp.Close()

	require.ErrorIs(t, qp.ToRTR(RTRAttr{}), syscall.EINVAL, "RTR comes after INIT")
	require.NoError(t, qp.ToInit(InitAttr{Access: AccessRemoteRead}))
	require.NoError(t, qp.ToRTR(RTRAttr{
		DestQPNum: 0x123456, RecvPSN: 0xfffff1, DestGID: mapped(10, 9, 0, 2), GIDIndex: 1, MaxReadsIn: 4, MinRNRTimer: 12,
	}))
	require.NoError(t, qp.ToRTS(RTSAttr{SendPSN: 0xabcdef, Timeout: 14, RetryCount: 3, RNRRetry: 6, MaxReadsOut: 5}))

	got, err := qp.Query()
	require.NoError(t, err)
	assert.Equal(t, QPAttr{
		State: StateRTS, Port: 1, Access: AccessRemoteRead, PathMTU: MTU1024, DestQPNum: 0x123456,
		DestGID: mapped(10, 9, 0, 2), SendPSN: 0xabcdef, RecvPSN: 0xfffff1, Timeout: 14, RetryCount: 3, RNRRetry: 6,
		MinRNRTimer: 12, MaxReadsOut: 5, MaxReadsIn: 4,
		Cap: QPCap{MaxSendWR: 7, MaxRecvWR: 9, MaxSendSGE: 2, MaxRecvSGE: 1},
	}, got)

	require.NoError(t, qp.ToErr())
	require.NoError(t, qp.ToReset())
	got, err = qp.Query()
	require.NoError(t, err)
	assert.Equal(t, StateReset, got.State)
}

func TestStateRanges(t *testing.T) {
	qp := newBench(t, QPCap{}).qp
	cases := []struct {
		name string
		call func() error
		want string
	}{
		{"access", func() error { return qp.ToInit(InitAttr{Access: 1 << 20}) }, "0x100000"},
		{"peer's number", func() error { return qp.ToRTR(RTRAttr{DestQPNum: 1 << 24}) }, "DestQPNum 0x1000000"},
		{"receive PSN", func() error { return qp.ToRTR(RTRAttr{RecvPSN: 1 << 24}) }, "RecvPSN"},
		{"RNR timer", func() error { return qp.ToRTR(RTRAttr{MinRNRTimer: 32}) }, "32 is above 31"},
		{"MTU", func() error { return qp.ToRTR(RTRAttr{PathMTU: 6}) }, "PathMTU 6"},
		{"send PSN", func() error { return qp.ToRTS(RTSAttr{SendPSN: 1 << 24}) }, "SendPSN"},
		{"timeout", func() error { return qp.ToRTS(RTSAttr{Timeout: 32}) }, "32 is above 31"},
		{"retries", func() error { return qp.ToRTS(RTSAttr{RetryCount: 8}) }, "RetryCount 8"},
		{"RNR retries", func() error { return qp.ToRTS(RTSAttr{RNRRetry: 8}) }, "RNRRetry 8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.call()
			require.ErrorIs(t, err, syscall.EINVAL)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestConnectingOnADownPort(t *testing.T) {
	qp := newBench(t, QPCap{}).qp
	require.NoError(t, qp.ToReset())
	require.NoError(t, qp.ToInit(InitAttr{}))
	stub.SetPortState(int(PortDown))
	defer stub.SetPortState(int(PortActive))
	err := qp.ToRTR(RTRAttr{})
	require.ErrorIs(t, err, syscall.ENETDOWN)
	assert.ErrorContains(t, err, "ip link set up")
}

func TestTimeoutDuration(t *testing.T) {
	assert.Equal(t, time.Duration(0), TimeoutDuration(0), "0 is for ever")
	assert.Equal(t, 8192*time.Nanosecond, TimeoutDuration(1))
	assert.Equal(t, 67108864*time.Nanosecond, TimeoutDuration(14))
}

func TestPostSendReachesTheProvider(t *testing.T) {
	qp := newBench(t, QPCap{MaxSendWR: 4, MaxSendSGE: 3}).qp
	list := []SendWR{
		{WRID: 1, Op: OpWriteWithImm, Flags: SendSignaled | SendFence, Imm: 0x01020304, RKey: 9, RemoteAddr: 1 << 40,
			SGE: SGE{Addr: 10, Length: 11, LKey: 12}, More: []SGE{{Addr: 20, Length: 21, LKey: 22}, {Addr: 30}}},
		{WRID: 2, Op: OpRead, SGE: SGE{Addr: 40, Length: 41, LKey: 42}},
		{WRID: 3, Op: OpSend},
	}
	n, err := qp.PostSend(list)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	want := []stub.Posted{
		{WRID: 1, Opcode: 1, Flags: 3, Imm: 0x01020304, RemoteAddr: 1 << 40, RKey: 9,
			SGEs: []stub.SGE{{Addr: 10, Length: 11, LKey: 12}, {Addr: 20, Length: 21, LKey: 22}, {Addr: 30}}},
		{WRID: 2, Opcode: 4, SGEs: []stub.SGE{{Addr: 40, Length: 41, LKey: 42}}},
		{WRID: 3, Opcode: 2},
	}
	assert.Equal(t, want, stub.TakePosted(qp.ptr))

	// What one list left in the C memory must not show in the next.
	_, err = qp.PostSend([]SendWR{{WRID: 4, Op: OpWrite, SGE: SGE{Addr: 50, Length: 51}}})
	require.NoError(t, err)
	assert.Equal(t, []stub.Posted{{WRID: 4, SGEs: []stub.SGE{{Addr: 50, Length: 51}}}}, stub.TakePosted(qp.ptr))

	// A short list must not cut the chain for a longer one.
	n, err = qp.PostSend(sendList(4))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	assert.Len(t, stub.TakePosted(qp.ptr), 4)
}

func TestPostRecvReachesTheProvider(t *testing.T) {
	b := newBench(t, QPCap{MaxRecvWR: 4, MaxRecvSGE: 3})
	for _, n := range []int{1, 4} { // a short list must not cut the chain for a longer one
		list := make([]RecvWR, n)
		for i := range list {
			list[i] = RecvWR{WRID: uint64(i), SGE: SGE{Length: 10}, More: []SGE{{Length: 200}, {Length: 3000}}}
		}
		took, err := b.qp.PostRecv(list)
		require.NoError(t, err)
		require.Equal(t, n, took)
		wcs := make([]WC, 8)
		got, err := b.cq.Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, n, got)
		for i := range n {
			assert.EqualValues(t, i, wcs[i].WRID)
			assert.EqualValues(t, 3210, wcs[i].ByteLen, "all SGEs went")
		}
	}
}

func TestPostAndPoll(t *testing.T) {
	b := newBench(t, QPCap{MaxSendWR: 8, MaxRecvWR: 4})
	list := sendList(20) // more than the queue holds: posted in three calls
	list[3].Flags, list[17].Flags = SendSignaled, SendSignaled
	list[17].Op = OpRead
	n, err := b.qp.PostSend(list)
	require.NoError(t, err)
	require.Equal(t, 20, n)
	n, err = b.qp.PostRecv([]RecvWR{{WRID: 70, SGE: SGE{Length: 5}}, {WRID: 71}})
	require.NoError(t, err)
	require.Equal(t, 2, n)

	wcs := make([]WC, 3)
	n, err = b.cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 3, n, "no more than the buffer holds")
	num := b.qp.Num()
	assert.Equal(t, []WC{
		{WRID: 3, Opcode: WCWrite, QPNum: num},
		{WRID: 17, Opcode: WCRead, QPNum: num},
		{WRID: 70, Opcode: WCRecv, QPNum: num, ByteLen: 5},
	}, wcs)
	n, err = b.cq.Poll(wcs)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	n, err = b.cq.Poll(nil)
	assert.True(t, n == 0 && err == nil, "an empty buffer gets nothing")
	n, err = b.qp.PostSend(nil)
	assert.True(t, n == 0 && err == nil, "an empty list is nothing to post")
}

func TestPartialPosts(t *testing.T) {
	cases := []struct {
		name   string
		list   int
		before int // requests taken before the refusal
	}{
		{"the first of a list", 5, 0},
		{"within a list", 5, 3},
		{"the last of a list", 5, 4},
		{"in a later call for a long list", 20, 13},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			qp := newBench(t, QPCap{MaxSendWR: 8}).qp
			stub.FailPost(qp.ptr, c.before, int(syscall.ENOMEM))
			n, err := qp.PostSend(sendList(c.list))
			require.ErrorIs(t, err, syscall.ENOMEM)
			assert.Equal(t, c.before, n, "requests that went")
			assert.Len(t, stub.TakePosted(qp.ptr), c.before)
			assert.ErrorContains(t, err, "the queue holds 8")
		})
	}
}

func TestMalformedListsAreRefusedWhole(t *testing.T) {
	qp := newBench(t, QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2}).qp
	list := sendList(3)
	list[2].More = make([]SGE, 2)
	n, err := qp.PostSend(list)
	require.ErrorIs(t, err, syscall.EINVAL)
	assert.Zero(t, n)
	assert.ErrorContains(t, err, "request 2 of the list has 3 SGEs, the QP takes 2")

	list = sendList(2)
	list[1].Op = 5
	n, err = qp.PostSend(list)
	require.ErrorIs(t, err, syscall.EINVAL)
	assert.Zero(t, n)
	assert.ErrorContains(t, err, "operation 5")

	n, err = qp.PostRecv([]RecvWR{{}, {More: make([]SGE, 1)}})
	require.ErrorIs(t, err, syscall.EINVAL)
	assert.Zero(t, n)
	assert.Empty(t, stub.TakePosted(qp.ptr), "nothing of the lists was posted")
}

func TestPostsInOtherStates(t *testing.T) {
	b := newBench(t, QPCap{MaxRecvWR: 1})
	require.NoError(t, b.qp.ToErr())
	n, err := b.qp.PostSend(sendList(1))
	require.NoError(t, err, "in ERR a post succeeds")
	require.Equal(t, 1, n)
	wcs := make([]WC, 1)
	_, err = b.cq.Poll(wcs)
	require.NoError(t, err)
	assert.Equal(t, classify.StatusWRFlushErr, wcs[0].Status, "and flushes")

	require.NoError(t, b.qp.ToReset())
	_, err = b.qp.PostSend(sendList(1))
	assert.ErrorIs(t, err, syscall.EINVAL)
	assert.ErrorContains(t, err, "need state RTS")
	_, err = b.qp.PostRecv(make([]RecvWR, 1))
	assert.ErrorIs(t, err, syscall.EINVAL)
}

func TestBrokenCQ(t *testing.T) {
	ctx := openStub(t)
	cq, err := ctx.CreateCQ(CQInit{Depth: 1})
	require.NoError(t, err)
	defer cq.Close()
	stub.Break(cq.ptr)
	_, err = cq.Poll(make([]WC, 1))
	require.ErrorIs(t, err, syscall.EIO)
	assert.ErrorContains(t, err, "create both anew")
}

// TestCloseWhilePosting has posts and polls meet Close; a use of freed memory
// shows as a crash, since the stub poisons it.
func TestCloseWhilePosting(t *testing.T) {
	b := newBench(t, QPCap{})
	for range 15 {
		cq, err := b.ctx.CreateCQ(CQInit{Depth: 64})
		require.NoError(t, err)
		qp, err := b.pd.CreateQP(QPInit{SendCQ: cq, Cap: QPCap{MaxSendWR: 4, MaxRecvWR: 4}})
		require.NoError(t, err)
		require.NoError(t, qp.ToErr())

		var group sync.WaitGroup
		until := func(call func() error) {
			group.Go(func() {
				for {
					if err := call(); err != nil {
						assert.ErrorIs(t, err, ErrClosed)
						return
					}
				}
			})
		}
		list := sendList(8)
		posted := make(chan struct{}, 1)
		until(func() error {
			_, err := qp.PostSend(list)
			select {
			case posted <- struct{}{}:
			default:
			}
			return err
		})
		until(func() error { _, err := qp.PostRecv(make([]RecvWR, 2)); return err })
		until(func() error { _, err := qp.Query(); return err })
		wcs := make([]WC, 16)
		until(func() error { _, err := cq.Poll(wcs); return err })
		until(func() error { return cq.RequestNotify(false) })
		<-posted
		require.NoError(t, qp.Close())
		require.NoError(t, cq.Close())
		group.Wait()
	}
}
