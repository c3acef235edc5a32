//go:build guest

package verbs_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/labverbs"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/verbs"
)

// recordAll reads the events of every device of the guest.
func recordAll(t *testing.T, lab *softroce.Lab) map[string]*labverbs.Recorder {
	t.Helper()
	all := make(map[string]*labverbs.Recorder)
	for _, nic := range lab.All() {
		ctx, err := verbs.Open(nic.Device)
		require.NoError(t, err)
		r, err := labverbs.Record(ctx)
		require.NoError(t, err)
		t.Cleanup(func() {
			assert.NoError(t, r.Close())
			assert.NoError(t, ctx.Close())
		})
		all[nic.Device] = r
	}
	return all
}

// requireOnly checks that the devices but one saw nothing of the types.
func requireOnly(t *testing.T, all map[string]*labverbs.Recorder, device string, types ...classify.EventType) {
	t.Helper()
	for name, r := range all {
		if name == device {
			continue
		}
		for _, e := range r.Seen() {
			assert.NotContains(t, types, e.Type, "event on %s, where nothing happened", name)
		}
	}
}

func TestGuestPortEvents(t *testing.T) {
	lab := guestLab(t)
	all := recordAll(t, lab)
	nic := lab.A[1]

	undo, err := lab.LinkDown(nic)
	require.NoError(t, err)
	e, _, err := all[nic.Device].Await(classify.EventPortErr)
	require.NoError(t, err)
	assert.Equal(t, classify.Event{
		Type:    classify.EventPortErr,
		Element: classify.Element{Device: nic.Device, Port: 1},
	}, e.Event())
	checkDownPort(t, nic)

	require.NoError(t, undo())
	e, _, err = all[nic.Device].Await(classify.EventPortActive)
	require.NoError(t, err)
	assert.EqualValues(t, 1, e.Port)
	requireOnly(t, all, nic.Device, classify.EventPortErr, classify.EventPortActive)
}

// checkDownPort says what a caller meets on a port that is down.
func checkDownPort(t *testing.T, nic softroce.NIC) {
	t.Helper()
	ctx, err := verbs.Open(nic.Device)
	require.NoError(t, err)
	defer ctx.Close()
	port, err := ctx.QueryPort(1)
	require.NoError(t, err)
	assert.Equal(t, verbs.PortDown, port.State)
	assert.ErrorIs(t, ctx.CheckPort(1), syscall.ENETDOWN)

	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	defer pd.Close()
	cq, err := ctx.CreateCQ(verbs.CQInit{Depth: 4})
	require.NoError(t, err)
	defer cq.Close()
	qp, err := pd.CreateQP(verbs.QPInit{SendCQ: cq})
	require.NoError(t, err)
	defer qp.Close()
	require.NoError(t, qp.ToInit(verbs.InitAttr{}))
	err = qp.ToRTR(verbs.RTRAttr{DestQPNum: 1})
	require.ErrorIs(t, err, syscall.ENETDOWN)
	assert.ErrorContains(t, err, nic.Device)
}

func TestGuestGIDChange(t *testing.T) {
	lab := guestLab(t)
	all := recordAll(t, lab)
	nic := lab.B[0]
	_, undo, err := lab.AddAddress(nic)
	require.NoError(t, err)
	e, _, err := all[nic.Device].Await(classify.EventGIDChange)
	require.NoError(t, err)
	assert.Equal(t, nic.Device, e.Device)
	assert.EqualValues(t, 1, e.Port)
	require.NoError(t, undo())
	requireOnly(t, all, nic.Device, classify.EventGIDChange)
}

func TestGuestCloseEndsAParkedReader(t *testing.T) {
	lab := guestLab(t)
	ctx, err := verbs.Open(lab.A[0].Device)
	require.NoError(t, err)
	r, err := ctx.AsyncEvents()
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := r.Next()
		ended <- err
	}()
	require.ErrorIs(t, ctx.Close(), verbs.ErrInUse, "the reader keeps the context open")
	require.NoError(t, r.Close())
	select {
	case err := <-ended:
		require.ErrorIs(t, err, verbs.ErrClosed)
	case <-time.After(labverbs.Limit):
		t.Fatal("the parked reader does not return")
	}
	require.NoError(t, ctx.Close())
}

func TestGuestReaderCyclesLeaveNothing(t *testing.T) {
	lab := guestLab(t)
	cycle := func() {
		ctx, err := verbs.Open(lab.A[0].Device)
		require.NoError(t, err)
		r, err := labverbs.Record(ctx)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.NoError(t, ctx.Close())
	}
	for range 20 { // what is made once and kept: threads, the poller
		cycle()
	}
	const spare = 4 // threads that the runtime may start for itself
	goroutines, threads, descriptors := runtime.NumGoroutine(), entries(t, "/proc/self/task"), entries(t, "/proc/self/fd")
	for range 1000 {
		cycle()
	}
	// The last reader's goroutine may have a few instructions left.
	for end := time.Now().Add(labverbs.Limit); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines, "goroutines")
	assert.Equal(t, descriptors, entries(t, "/proc/self/fd"), "descriptors")
	assert.LessOrEqual(t, entries(t, "/proc/self/task"), threads+spare, "threads")
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	return len(list)
}

// overflow makes a CQ fail by more completions than it holds.
func overflow(t *testing.T, pair *labverbs.Pair) {
	t.Helper()
	require.NoError(t, pair.Post(pair.Requests(verbs.OpWrite, 15)))
}

var tinyCQ = labverbs.Config{CQDepth: 3}

func TestGuestCQEvent(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[0], lab.B[0], tinyCQ)
	r, err := labverbs.Record(pair.From.Ctx)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	overflow(t, pair)
	e, _, err := r.Await(classify.EventCQErr)
	require.NoError(t, err)
	assert.Same(t, pair.From.CQ, e.CQ, "the event finds the handle")
	assert.Equal(t, pair.From.CQ.ID(), e.Event().Element.CQ)
}

func TestGuestQPEvent(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[0], lab.B[0], labverbs.Config{})
	r, err := labverbs.Record(pair.From.Ctx)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	// rdma_rxe tells of a drained queue only if it was drained before it was told to.
	require.NoError(t, pair.Post(pair.Requests(verbs.OpWrite, 4)))
	_, err = labverbs.Collect(pair.From.CQ, 4)
	require.NoError(t, err)
	require.NoError(t, pair.From.QP.Drain())
	e, _, err := r.Await(classify.EventSQDrained)
	require.NoError(t, err)
	assert.Same(t, pair.From.QP, e.QP, "the event finds the handle")
	assert.Equal(t, pair.From.QP.ID(), e.Event().Element.QP)
	assert.Equal(t, pair.From.QP.Num(), e.QPNum)
}

// TestGuestDestroyDuringEvents closes QPs and CQs that have just made events,
// with and without a reader that is busy with them.
func TestGuestDestroyDuringEvents(t *testing.T) {
	lab := guestLab(t)
	for _, read := range []bool{true, false} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 20 {
				destroyWithEvents(t, lab, read)
			}
		}()
		select {
		case <-done:
		case <-time.After(labverbs.Limit):
			t.Fatalf("destroying a QP or CQ with events hangs; a reader was there: %v", read)
		}
	}
}

func destroyWithEvents(t *testing.T, lab *softroce.Lab, read bool) {
	pair, err := labverbs.Connect(lab.A[0], lab.B[0], tinyCQ)
	if !assert.NoError(t, err) {
		return
	}
	var r *labverbs.Recorder
	if read {
		if r, err = labverbs.Record(pair.From.Ctx); !assert.NoError(t, err) {
			return
		}
	}
	assert.NoError(t, pair.Post(pair.Requests(verbs.OpWrite, 15)))
	assert.NoError(t, pair.From.QP.Drain())
	assert.NoError(t, pair.From.QP.Close())
	assert.NoError(t, pair.From.CQ.Close())
	if r != nil {
		assert.NoError(t, r.Close())
	}
	assert.NoError(t, pair.Close())
}
