//go:build guest

package verbs_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/labverbs"
	"github.com/rdmagate/rdmagate/verbs"
)

// hangs is how long a request is watched that shall have no completion: many
// retry budgets of the default configuration.
const hangs = 2 * time.Second

func requireFlushed(t *testing.T, wcs []verbs.WC, first int) {
	t.Helper()
	for i, wc := range wcs {
		assert.Equal(t, classify.StatusWRFlushErr, wc.Status, "request %d", first+i)
		assert.EqualValues(t, first+i, wc.WRID, "completions come in the order of the posts")
	}
}

func TestGuestFaults(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[0], lab.B[0], labverbs.Config{})
	const n = 4
	for _, fault := range labverbs.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			wcs, err := fault.Provoke(lab, pair, n)
			require.NoError(t, err)
			assert.Equal(t, fault.Root, wcs[0].Status)
			assert.EqualValues(t, 0, wcs[0].WRID)
			assert.Equal(t, pair.From.QP.Num(), wcs[0].QPNum)
			requireFlushed(t, wcs[1:], 1)

			attr, err := pair.From.QP.Query()
			require.NoError(t, err)
			assert.Equal(t, verbs.StateErr, attr.State, "the QP is in ERR")
			require.NoError(t, pair.Post(pair.Requests(verbs.OpWrite, 1)), "a post in ERR succeeds")
			wcs, err = labverbs.Collect(pair.From.CQ, 1)
			require.NoError(t, err)
			requireFlushed(t, wcs, 0)

			require.Eventually(t, func() bool { return pair.Reconnect() == nil }, labverbs.Limit, 10*time.Millisecond,
				"a new QP connects once the fault is gone")
			requireWorks(t, pair)
		})
	}
}

// requireWorks moves one slice over the pair.
func requireWorks(t *testing.T, pair *labverbs.Pair) {
	t.Helper()
	require.NoError(t, pair.Post(pair.Requests(verbs.OpWrite, 1)))
	wcs, err := labverbs.Collect(pair.From.CQ, 1)
	require.NoError(t, err)
	require.Equal(t, classify.StatusSuccess, wcs[0].Status)
}

func TestGuestReceiverOfATooLongSend(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[0], lab.B[0], labverbs.Config{})
	require.NoError(t, pair.PostReceives(2, 8))
	require.NoError(t, pair.Post(pair.Requests(verbs.OpSend, 1)))
	wcs, err := labverbs.Collect(pair.To.CQ, 2)
	require.NoError(t, err)
	assert.Equal(t, classify.StatusLocQPOpErr, wcs[0].Status)
	assert.Equal(t, classify.StatusWRFlushErr, wcs[1].Status)
}

func TestGuestOtherPairsGoOnWhileOneIsBlocked(t *testing.T) {
	lab := guestLab(t)
	cut := connect(t, lab.A[0], lab.B[0], labverbs.Config{})
	others := []*labverbs.Pair{
		connect(t, lab.A[0], lab.B[1], labverbs.Config{}),
		connect(t, lab.A[1], lab.B[0], labverbs.Config{}),
	}
	_, err := lab.Block(cut.From.NIC, cut.To.NIC)
	require.NoError(t, err)
	require.NoError(t, cut.Post(cut.Requests(verbs.OpWrite, 1)))
	wcs, err := labverbs.Collect(cut.From.CQ, 1)
	require.NoError(t, err)
	assert.Equal(t, classify.StatusRetryExcErr, wcs[0].Status)
	for _, pair := range others {
		requireWorks(t, pair)
	}
}

// slow has a retry budget that a test can block and unblock a path within.
var slow = labverbs.Config{Timeout: 18, Retry: 6}

func TestGuestFullSendQueue(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[0], lab.B[0], slow)
	room := pair.From.QP.Cap().MaxSendWR
	require.Equal(t, 15, room)
	undo, err := lab.Block(pair.From.NIC, pair.To.NIC)
	require.NoError(t, err)

	list := pair.Requests(verbs.OpWrite, room+3)
	require.NoError(t, pair.Post(list[:1]))
	n, err := pair.From.QP.PostSend(list[1:])
	require.ErrorIs(t, err, syscall.ENOMEM, "the queue holds %d", room)
	assert.Equal(t, room-1, n, "a part of the list went")
	n, err = pair.From.QP.PostSend(list[1:2])
	require.ErrorIs(t, err, syscall.ENOMEM)
	assert.Zero(t, n)

	require.NoError(t, undo())
	wcs, err := labverbs.Collect(pair.From.CQ, room)
	require.NoError(t, err)
	for i, wc := range wcs {
		require.Equal(t, classify.StatusSuccess, wc.Status, "request %d was taken and completes", i)
		require.EqualValues(t, i, wc.WRID)
	}
	requireWorks(t, pair)
}

func TestGuestApplicationMadeError(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[0], lab.B[0], slow)
	_, err := lab.Block(pair.From.NIC, pair.To.NIC)
	require.NoError(t, err)
	list := pair.Requests(verbs.OpWrite, 4)
	require.NoError(t, pair.Post(list[:3]))
	require.NoError(t, pair.From.QP.ToErr())
	require.NoError(t, pair.Post(list[3:]), "a post in ERR succeeds")
	wcs, err := labverbs.Collect(pair.From.CQ, 4)
	require.NoError(t, err)
	requireFlushed(t, wcs, 0)
}

func TestGuestNoCompletions(t *testing.T) {
	lab := guestLab(t)
	cases := []struct {
		name   string
		config labverbs.Config
		cut    func(p *labverbs.Pair) error
		then   func(p *labverbs.Pair) error
	}{
		{"RESET", slow,
			func(p *labverbs.Pair) error { _, err := lab.Block(p.From.NIC, p.To.NIC); return err },
			func(p *labverbs.Pair) error { return p.From.QP.ToReset() }},
		{"destroyed", slow,
			func(p *labverbs.Pair) error { _, err := lab.Block(p.From.NIC, p.To.NIC); return err },
			func(p *labverbs.Pair) error { return p.From.QP.Close() }},
		{"black hole", labverbs.Config{},
			func(p *labverbs.Pair) error { _, err := lab.BlackHole(p.From.NIC, p.To.NIC); return err },
			func(*labverbs.Pair) error { return nil }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, lab.Heal())
			pair := connect(t, lab.A[0], lab.B[0], c.config)
			require.NoError(t, c.cut(pair))
			require.NoError(t, pair.Post(pair.Requests(verbs.OpWrite, 3)))
			require.NoError(t, c.then(pair))
			wcs, err := labverbs.Watch(pair.From.CQ, hangs)
			require.NoError(t, err)
			assert.Empty(t, wcs, "these requests have no completion at all")
		})
	}
}

func TestGuestBadInput(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[0], lab.B[0], labverbs.Config{})

	list := pair.Requests(verbs.OpWrite, 1)
	list[0].More = make([]verbs.SGE, pair.From.QP.Cap().MaxSendSGE)
	_, err := pair.From.QP.PostSend(list)
	assert.ErrorIs(t, err, syscall.EINVAL, "more SGEs than the QP has")

	hole := unmapped(t)
	_, err = pair.From.PD.RegisterMR(hole, verbs.AccessLocalWrite)
	assert.ErrorIs(t, err, syscall.EFAULT, "memory that cannot be paged in")
	assert.ErrorContains(t, err, "cannot be pinned")

	assert.ErrorIs(t, pair.From.Ctx.Close(), verbs.ErrInUse)
	assert.ErrorIs(t, pair.From.PD.Close(), verbs.ErrInUse)
	assert.ErrorIs(t, pair.From.CQ.Close(), verbs.ErrInUse)
	requireWorks(t, pair)
}

// unmapped returns memory that may not be accessed.
func unmapped(t *testing.T) []byte {
	t.Helper()
	b, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(b)) })
	return b
}
