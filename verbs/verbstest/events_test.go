package verbstest

import (
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

func TestEvents(t *testing.T) {
	cq := NewCQ(0)
	qp := NewQP(cq, nil, verbs.QPCap{})
	e := NewEvents("mlx5_0")
	e.PushQP(classify.EventQPFatal, qp)
	e.PushCQ(classify.EventCQErr, cq)
	e.PushPort(classify.EventPortErr, 2)
	e.PushDevice(classify.EventDeviceFatal)
	e.End(syscall.EIO)

	want := []classify.Event{
		{Type: classify.EventQPFatal, Element: classify.Element{Device: "mlx5_0", QP: qp.ID()}},
		{Type: classify.EventCQErr, Element: classify.Element{Device: "mlx5_0", CQ: cq.ID()}},
		{Type: classify.EventPortErr, Element: classify.Element{Device: "mlx5_0", Port: 2}},
		{Type: classify.EventDeviceFatal, Element: classify.Element{Device: "mlx5_0"}},
	}
	for _, w := range want {
		got, err := e.Next()
		require.NoError(t, err)
		assert.Equal(t, w, got.Event())
	}
	_, err := e.Next()
	assert.ErrorIs(t, err, syscall.EIO, "the source ends when its events are read")
}

func TestCloseEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEvents("mlx5_0")
		ended := make(chan error)
		go func() {
			_, err := e.Next()
			ended <- err
		}()
		synctest.Wait()
		require.NoError(t, e.Close())
		require.ErrorIs(t, <-ended, verbs.ErrClosed)
		require.NoError(t, e.Close(), "closing twice is nil")
	})
}
