//go:build linux && cgo

package verbs

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func goroutines() int { return runtime.NumGoroutine() }

func newChannel(t *testing.T, ctx *Context) (*CompChannel, *CQ) {
	t.Helper()
	ch, err := ctx.CreateCompChannel()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ch.Close()) })
	cq, err := ctx.CreateCQ(CQInit{Depth: 16, Channel: ch})
	require.NoError(t, err)
	t.Cleanup(func() { within(t, "destroying the CQ", func() { assert.NoError(t, cq.Close()) }) })
	return ch, cq
}

func TestCompletionWakesTheChannel(t *testing.T) {
	b := newBench(t, QPCap{})
	ch, cq := newChannel(t, b.ctx)
	qp, err := b.pd.CreateQP(QPInit{SendCQ: cq, SignalAll: true})
	require.NoError(t, err)
	defer qp.Close()
	require.NoError(t, qp.ToErr())

	for i := range 3 {
		require.NoError(t, cq.RequestNotify(false))
		got := make(chan *CQ)
		go func() {
			cq, err := ch.Wait()
			assert.NoError(t, err)
			got <- cq
		}()
		_, err := qp.PostSend([]SendWR{{WRID: uint64(i)}})
		require.NoError(t, err)
		within(t, "the channel", func() { assert.Same(t, cq, <-got) })
		wcs := make([]WC, 4)
		n, err := cq.Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		assert.EqualValues(t, i, wcs[0].WRID)
	}
}

func TestStopEndsTheWait(t *testing.T) {
	ch, cq := newChannel(t, openStub(t))
	ended := make(chan error, 1)
	go func() {
		_, err := ch.Wait()
		ended <- err
	}()
	within(t, "Stop", ch.Stop)
	within(t, "the waiter", func() { assert.ErrorIs(t, <-ended, ErrClosed) })
	ch.Stop()
	_, err := cq.Poll(make([]WC, 1))
	assert.NoError(t, err, "CQs of a stopped channel can still be polled")
}

// TestDestroyACQWithEvents has an event that was sent and never waited for.
func TestDestroyACQWithEvents(t *testing.T) {
	b := newBench(t, QPCap{})
	ch, cq := newChannel(t, b.ctx)
	qp, err := b.pd.CreateQP(QPInit{SendCQ: cq})
	require.NoError(t, err)
	require.NoError(t, qp.ToErr())
	require.NoError(t, cq.RequestNotify(false))
	_, err = qp.PostSend(make([]SendWR, 1))
	require.NoError(t, err)
	require.NoError(t, qp.Close())
	within(t, "destroying a CQ with an event pending", func() { assert.NoError(t, cq.Close()) })
	ch.Stop()
	_, err = ch.Wait()
	assert.ErrorIs(t, err, ErrClosed)
}

func TestChannelOfAnotherContext(t *testing.T) {
	ch, _ := newChannel(t, openStub(t))
	_, err := openStub(t).CreateCQ(CQInit{Depth: 1, Channel: ch})
	assert.ErrorContains(t, err, "another context")
}
