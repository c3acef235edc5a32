package verbstest

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// writes is a list of n signaled WRITEs with WRIDs from first.
func writes(first, n int) []verbs.SendWR {
	list := make([]verbs.SendWR, n)
	for i := range list {
		list[i] = verbs.SendWR{WRID: uint64(first + i), Op: verbs.OpWrite, Flags: verbs.SendSignaled}
	}
	return list
}

func newPair(t *testing.T, capacity verbs.QPCap) (*QP, *CQ) {
	t.Helper()
	cq := NewCQ(0)
	qp := NewQP(cq, nil, capacity)
	t.Cleanup(func() {
		require.NoError(t, qp.Close())
		require.NoError(t, cq.Close())
	})
	return qp, cq
}

func post(t *testing.T, qp *QP, list []verbs.SendWR) {
	t.Helper()
	n, err := qp.PostSend(list)
	require.NoError(t, err)
	require.Equal(t, len(list), n)
}

// outcome is what a test looks at in a completion.
type outcome struct {
	WRID   uint64
	Status classify.Status
}

func poll(t *testing.T, cq *CQ) []outcome {
	t.Helper()
	wcs := make([]verbs.WC, 64)
	n, err := cq.Poll(wcs)
	require.NoError(t, err)
	var got []outcome
	for _, wc := range wcs[:n] {
		got = append(got, outcome{wc.WRID, wc.Status})
	}
	return got
}

const (
	ok    = classify.StatusSuccess
	flush = classify.StatusWRFlushErr
	retry = classify.StatusRetryExcErr
)

func TestScripts(t *testing.T) {
	cases := []struct {
		name   string
		script func(qp *QP)
		want   []outcome
		left   int
	}{
		{"silence", func(*QP) {}, nil, 3},
		{"complete two", func(qp *QP) { qp.Complete(2) }, []outcome{{1, ok}, {2, ok}}, 1},
		{"complete more than there are", func(qp *QP) { qp.Complete(9) }, []outcome{{1, ok}, {2, ok}, {3, ok}}, 0},
		{"fail the oldest", func(qp *QP) { qp.Fail(retry, 0x81) }, []outcome{{1, retry}, {2, flush}, {3, flush}}, 0},
		{"one out of order", func(qp *QP) { qp.CompleteWR(2, ok, 0) }, []outcome{{2, ok}}, 2},
		{"a status without ERR", func(qp *QP) { qp.CompleteWR(1, classify.StatusGeneralErr, 7) },
			[]outcome{{1, classify.StatusGeneralErr}}, 2},
		{"application-made ERR", func(qp *QP) { qp.ToErr() }, []outcome{{1, flush}, {2, flush}, {3, flush}}, 0},
		{"RESET loses all", func(qp *QP) { qp.ToReset() }, nil, 0},
		{"Close loses all", func(qp *QP) { qp.Close() }, nil, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			qp, cq := newPair(t, verbs.QPCap{MaxSendWR: 8})
			post(t, qp, writes(1, 3))
			c.script(qp)
			assert.Equal(t, c.want, poll(t, cq), "completions in order")
			assert.Len(t, qp.Outstanding(), c.left, "requests without an outcome")
		})
	}
}

func TestCompletionFields(t *testing.T) {
	qp, cq := newPair(t, verbs.QPCap{MaxRecvWR: 2})
	list := writes(1, 1)
	list[0].Op, list[0].SGE.Length = verbs.OpRead, 96
	post(t, qp, list)
	_, err := qp.PostRecv([]verbs.RecvWR{{WRID: 2}})
	require.NoError(t, err)
	qp.Complete(1)
	require.True(t, qp.ReceiveImm(5, 0xabcd), "a receive was posted")
	require.False(t, qp.Receive(5), "no receive is left")

	wcs := make([]verbs.WC, 4)
	n, err := cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	assert.Equal(t, verbs.WC{WRID: 1, Opcode: verbs.WCRead, ByteLen: 96, QPNum: qp.Num()}, wcs[0])
	assert.Equal(t, verbs.WCRecvWithImm, wcs[1].Opcode)
	assert.Equal(t, uint32(0xabcd), wcs[1].Imm())
	assert.Equal(t, verbs.WCWithImm, wcs[1].Flags)
}

func TestUnsignaledRoomComesBackWithALaterCompletion(t *testing.T) {
	qp, cq := newPair(t, verbs.QPCap{MaxSendWR: 4})
	list := writes(1, 4)
	list[0].Flags, list[1].Flags = 0, 0
	post(t, qp, list)
	qp.Complete(2)
	assert.Empty(t, poll(t, cq), "successful requests without SendSignaled make no completion")
	_, err := qp.PostSend(writes(9, 1))
	require.ErrorIs(t, err, syscall.ENOMEM, "their room is still taken")
	qp.Complete(1)
	_, err = qp.PostSend(writes(9, 1))
	require.ErrorIs(t, err, syscall.ENOMEM, "room comes back with the poll, not with the completion")
	require.Equal(t, []outcome{{3, ok}}, poll(t, cq))
	n, err := qp.PostSend(writes(10, 4))
	require.ErrorIs(t, err, syscall.ENOMEM)
	assert.Equal(t, 3, n, "one poll gave back the room of three requests")
}

func TestRefusedPosts(t *testing.T) {
	qp, cq := newPair(t, verbs.QPCap{MaxSendWR: 8, MaxRecvWR: 1})

	qp.RefusePost(2, syscall.ENOMEM)
	n, err := qp.PostSend(writes(1, 5))
	require.ErrorIs(t, err, syscall.ENOMEM)
	assert.Equal(t, 2, n, "two went before the refusal")
	post(t, qp, writes(3, 1)) // refuses only once

	list := writes(4, 2)
	list[1].More = make([]verbs.SGE, 1)
	n, err = qp.PostSend(list)
	require.ErrorIs(t, err, syscall.EINVAL, "two SGEs on a QP for one")
	assert.Zero(t, n, "a malformed list is refused as a whole")

	n, err = qp.PostRecv(make([]verbs.RecvWR, 3))
	require.ErrorIs(t, err, syscall.ENOMEM)
	assert.Equal(t, 1, n)

	require.NoError(t, qp.ToErr())
	post(t, qp, writes(7, 1))
	want := []outcome{{1, flush}, {2, flush}, {3, flush}, {0, flush}, {7, flush}}
	assert.Equal(t, want, poll(t, cq), "in ERR posts succeed and flush, receives too")

	require.NoError(t, qp.ToReset())
	_, err = qp.PostSend(writes(8, 1))
	require.ErrorIs(t, err, syscall.EINVAL, "a QP in RESET takes no sends")
	qp.Reconnect()
	post(t, qp, writes(9, 1))
	assert.Equal(t, 5, qp.Accepted())
}

func TestAnswer(t *testing.T) {
	qp, cq := newPair(t, verbs.QPCap{})
	qp.Answer(Succeed)
	post(t, qp, writes(1, 2))
	qp.Answer(func(wr verbs.SendWR) Reply {
		if wr.WRID == 4 {
			return Reply{Status: retry}
		}
		return Reply{Silent: true}
	})
	post(t, qp, writes(3, 3))
	assert.Equal(t, []outcome{{1, ok}, {2, ok}, {4, retry}, {3, flush}, {5, flush}}, poll(t, cq))
}

func TestClosed(t *testing.T) {
	cq := NewCQ(0)
	qp := NewQP(cq, nil, verbs.QPCap{})
	require.ErrorIs(t, cq.Close(), verbs.ErrInUse, "a CQ cannot go before its QPs")
	require.NoError(t, qp.Close())
	require.NoError(t, qp.Close(), "closing twice is nil")
	require.NoError(t, cq.Close())
	require.NoError(t, cq.Close())

	_, err := qp.PostSend(writes(1, 1))
	assert.ErrorIs(t, err, verbs.ErrClosed)
	_, err = qp.PostRecv(make([]verbs.RecvWR, 1))
	assert.ErrorIs(t, err, os.ErrClosed)
	assert.ErrorIs(t, qp.ToErr(), verbs.ErrClosed)
	assert.ErrorIs(t, qp.ToReset(), verbs.ErrClosed)
	_, err = cq.Poll(make([]verbs.WC, 1))
	assert.ErrorIs(t, err, verbs.ErrClosed)
}

func TestCQ(t *testing.T) {
	cq := NewCQ(2)
	cq.Push(verbs.WC{WRID: 7, Status: 99}, verbs.WC{WRID: 6})
	assert.Equal(t, 2, cq.Len())
	assert.Equal(t, []outcome{{7, 99}, {6, ok}}, poll(t, cq), "completions come as they were pushed")

	cq.FailPolls(syscall.EIO)
	_, err := cq.Poll(make([]verbs.WC, 1))
	require.ErrorIs(t, err, syscall.EIO)
	cq.FailPolls(nil)
	require.Empty(t, poll(t, cq))

	cq.Push(make([]verbs.WC, 3)...)
	_, err = cq.Poll(make([]verbs.WC, 1))
	assert.ErrorIs(t, err, syscall.EIO, "a CQ that overflowed has failed")
}

func TestIDsAreUnique(t *testing.T) {
	seen := make(map[uint64]bool)
	for range 100 {
		cq := NewCQ(0)
		qp := NewQP(cq, nil, verbs.QPCap{})
		for _, id := range []uint64{cq.ID(), qp.ID()} {
			require.NotZero(t, id)
			require.False(t, seen[id], "ID %d was given twice", id)
			seen[id] = true
		}
	}
}

// A list with an operation that does not exist is refused whole, as real verbs do.
func TestUnknownOperation(t *testing.T) {
	cq := NewCQ(8)
	qp := NewQP(cq, nil, verbs.QPCap{})
	n, err := qp.PostSend([]verbs.SendWR{{Op: verbs.OpWrite}, {Op: 77}})
	assert.Zero(t, n)
	assert.ErrorIs(t, err, syscall.EINVAL)
	assert.ErrorContains(t, err, "operation 77")
	assert.Empty(t, qp.Accepted())
}
