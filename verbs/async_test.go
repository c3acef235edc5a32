//go:build linux && cgo

package verbs

import (
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs/internal/stub"
)

// patience bounds a wait for something that happens at once or never.
const patience = 20 * time.Second

func openReader(t testing.TB, ctx *Context) *AsyncReader {
	t.Helper()
	r, err := ctx.AsyncEvents()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func next(t *testing.T, r *AsyncReader) AsyncEvent {
	t.Helper()
	e, err := r.Next()
	require.NoError(t, err)
	return e
}

func TestEventsAreResolved(t *testing.T) {
	b := newBench(t, QPCap{})
	r := openReader(t, b.ctx)
	foreign := stub.CreateCQ(b.ctx.ptr, 0xabcdef)
	defer stub.DestroyCQ(foreign)
	unknown := stub.CreateCQ(b.ctx.ptr, uintptr(b.cq.ID())) // someone else's cookie that equals one of ours
	defer stub.DestroyCQ(unknown)
	wrapped, err := b.ctx.WrapCQ(foreign)
	require.NoError(t, err)
	defer wrapped.Close()

	address := uint64(uintptr(unknown))
	cases := []struct {
		name  string
		event classify.EventType
		push  func(event int)
		want  AsyncEvent
		seen  classify.Element // beside the device: what the controller sees
	}{
		{"QP", classify.EventQPFatal,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, b.qp.ptr, 0) },
			AsyncEvent{QP: b.qp, QPID: b.qp.ID(), QPNum: b.qp.Num(), Address: uintptr(b.qp.ptr)}, classify.Element{QP: b.qp.ID()}},
		{"CQ", classify.EventCQErr,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, b.cq.ptr, 0) },
			AsyncEvent{CQ: b.cq, CQID: b.cq.ID(), Address: uintptr(b.cq.ptr)}, classify.Element{CQ: b.cq.ID()}},
		{"wrapped CQ", classify.EventCQErr,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, foreign, 0) },
			AsyncEvent{CQ: wrapped, CQID: wrapped.ID(), Address: uintptr(foreign)}, classify.Element{CQ: wrapped.ID()}},
		{"CQ of someone else", classify.EventCQErr,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, unknown, 0) },
			AsyncEvent{Address: uintptr(unknown)}, classify.Element{CQ: address}},
		{"SRQ of someone else", classify.EventSRQErr,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, unknown, 0) },
			AsyncEvent{Address: uintptr(unknown)}, classify.Element{SRQ: address}},
		{"port", classify.EventPortErr,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, nil, 1) }, AsyncEvent{Port: 1}, classify.Element{Port: 1}},
		{"GID", classify.EventGIDChange,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, nil, 2) }, AsyncEvent{Port: 2}, classify.Element{Port: 2}},
		{"device", classify.EventDeviceFatal,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, nil, 0) }, AsyncEvent{}, classify.Element{}},
		{"unknown type", 77,
			func(e int) { stub.PushEvent(b.ctx.ptr, e, nil, 3) }, AsyncEvent{}, classify.Element{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.push(int(c.event))
			c.want.Type, c.want.Device = c.event, "stub0"
			got := next(t, r)
			assert.Equal(t, c.want, got)
			c.seen.Device = "stub0"
			assert.Equal(t, classify.Event{Type: c.event, Element: c.seen}, got.Event(), "what the controller sees")
			assert.NotEmpty(t, got.String())
		})
	}
}

// TestEventOfAClosedQP has the number and the address of a QP in use again when
// an event of the first is resolved.
func TestEventOfAClosedQP(t *testing.T) {
	b := newBench(t, QPCap{})
	old := b.newQP(t, QPCap{})
	raw := rawEvent{kind: classify.EventQPFatal, element: elementQP, qpNum: old.Num(), cookie: old.ID(), address: uintptr(old.ptr)}
	assert.Same(t, old, raw.resolve("stub0").QP)
	other := raw
	other.address++
	assert.Equal(t, AsyncEvent{Type: raw.kind, Device: "stub0", QPNum: raw.qpNum, Address: other.address}, other.resolve("stub0"),
		"someone else's QP, whose cookie equals one of ours, is nobody's here")
	require.NoError(t, old.Close())
	successor := b.newQP(t, QPCap{})
	defer successor.Close()
	require.Equal(t, old.ptr, successor.ptr, "the stub uses the address again")
	require.Equal(t, old.Num(), successor.Num())

	got := raw.resolve("stub0")
	assert.Nil(t, got.QP, "the successor is not blamed")
	assert.Equal(t, old.ID(), got.QPID, "the event still says whose it was")
}

// Objects that are not ours have numbers too, so that the controller takes their
// events and finds that it knows nothing of them.
func TestForeignEventsNameTheirElement(t *testing.T) {
	const address = 0x7f00_0000_1000
	for _, tc := range []struct {
		name string
		raw  rawEvent
		want classify.Element
	}{
		{"SRQ", rawEvent{kind: classify.EventSRQErr, element: elementSRQ, address: address}, classify.Element{SRQ: address}},
		{"WQ", rawEvent{kind: classify.EventWQFatal, element: elementWQ, address: address}, classify.Element{WQ: address}},
		{"QP", rawEvent{kind: classify.EventQPFatal, element: elementQP, qpNum: 77, address: address}, classify.Element{QP: address}},
		{"CQ", rawEvent{kind: classify.EventCQErr, element: elementCQ, address: address}, classify.Element{CQ: address}},
	} {
		e := tc.raw.resolve("mlx5_0").Event()
		tc.want.Device = "mlx5_0"
		assert.Equal(t, tc.want, e.Element, "%s: what has no ID goes by its address", tc.name)
		_, err := e.Verdict()
		assert.NoError(t, err, "%s: the event names its element", tc.name)
	}
}

// TestAWakeupDrainsTheQueue pushes many events for one edge of the descriptor.
func TestAWakeupDrainsTheQueue(t *testing.T) {
	b := newBench(t, QPCap{})
	r := openReader(t, b.ctx)
	for range 50 {
		stub.PushEvent(b.ctx.ptr, int(classify.EventCommEst), b.qp.ptr, 0)
	}
	stub.PushEvent(b.ctx.ptr, int(classify.EventPortErr), nil, 1)
	for range 50 {
		require.Equal(t, classify.EventCommEst, next(t, r).Type)
	}
	assert.Equal(t, classify.EventPortErr, next(t, r).Type, "the port event behind the burst is not lost")
}

func TestOneReaderPerContext(t *testing.T) {
	ctx := openStub(t)
	r := openReader(t, ctx)
	_, err := ctx.AsyncEvents()
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, r.Close())
	again, err := ctx.AsyncEvents()
	require.NoError(t, err, "after Close there can be another")
	stub.PushEvent(ctx.ptr, int(classify.EventPortActive), nil, 1)
	assert.Equal(t, classify.EventPortActive, next(t, again).Type)
	require.NoError(t, again.Close())
	_, err = again.Next()
	assert.ErrorIs(t, err, ErrClosed, "a closed reader gives nothing")
}

func TestDeviceRemoved(t *testing.T) {
	r := openReader(t, openStub(t))
	stub.Fail("ibv_get_async_event", int(syscall.EIO))
	_, err := r.Next()
	require.ErrorIs(t, err, syscall.EIO)
	assert.ErrorContains(t, err, "removed")
}

func TestReaderOfAForeignContextRestoresTheMode(t *testing.T) {
	foreign := stub.OpenContext()
	defer stub.CloseContext(foreign)
	ctx := newContext(stubLibrary(t), foreign, true)
	fd := ctx.lib.sysAsyncFD(foreign)
	require.False(t, nonblocking(t, fd))
	r, err := ctx.AsyncEvents()
	require.NoError(t, err)
	assert.True(t, nonblocking(t, fd), "the mode belongs to the open file, which both descriptors share")
	require.NoError(t, r.Close())
	assert.False(t, nonblocking(t, fd), "the owner finds its descriptor as it was")
	require.NoError(t, ctx.Close())
}

func nonblocking(t *testing.T, fd int) bool {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	require.NoError(t, err)
	return flags&unix.O_NONBLOCK != 0
}

// within fails the test if f does not return.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s hangs", what)
	}
}

func TestCloseEndsAParkedReader(t *testing.T) {
	ctx := openStub(t)
	for range 20 {
		r, err := ctx.AsyncEvents()
		require.NoError(t, err)
		entered, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			close(entered)
			_, err := r.Next()
			ended <- err
		}()
		<-entered
		within(t, "closing a parked reader", func() { assert.NoError(t, r.Close()) })
		within(t, "the parked reader", func() { assert.ErrorIs(t, <-ended, ErrClosed) })
	}
}

// TestReaderCyclesLeaveNothing opens a context with a parked reader and closes
// both, a thousand times.
func TestReaderCyclesLeaveNothing(t *testing.T) {
	lib := stubLibrary(t)
	cycle := func() {
		ctx, err := lib.open("stub0")
		require.NoError(t, err)
		r, err := ctx.AsyncEvents()
		require.NoError(t, err)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err := r.Next()
			assert.ErrorIs(t, err, ErrClosed)
		}()
		require.NoError(t, r.Close())
		<-ended
		require.NoError(t, ctx.Close())
	}
	for range 20 { // what is made once and kept: threads, the poller
		cycle()
	}
	before := usage(t)
	for range 1000 {
		cycle()
	}
	requireUsage(t, before)
}

// resources counts what a leak would show in.
type resources struct{ goroutines, threads, descriptors, objects int }

func usage(t *testing.T) resources {
	t.Helper()
	return resources{
		goroutines:  goroutines(),
		threads:     entries(t, "/proc/self/task"),
		descriptors: entries(t, "/proc/self/fd"),
		objects:     stub.Live(),
	}
}

// requireUsage waits for goroutines that are about to end, and allows a few
// threads, which the runtime keeps for itself.
func requireUsage(t *testing.T, before resources) {
	t.Helper()
	const spare = 4
	require.Eventually(t, func() bool { return goroutines() <= before.goroutines+1 }, patience, time.Millisecond,
		"goroutines: %d before", before.goroutines) // Eventually has one of its own
	after := usage(t)
	assert.Equal(t, before.descriptors, after.descriptors, "descriptors")
	assert.Equal(t, before.objects, after.objects, "objects of the provider")
	assert.LessOrEqual(t, after.threads, before.threads+spare, "threads")
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	return len(list)
}

// TestDestroyDuringEvents destroys QPs while their events are pending, read and
// resolved, with a consumer that uses the handles it gets.
func TestDestroyDuringEvents(t *testing.T) {
	b := newBench(t, QPCap{})
	r := openReader(t, b.ctx)
	const rounds, events = 200, 8

	var consumer sync.WaitGroup
	consumer.Go(func() {
		for {
			e, err := r.Next()
			if err != nil {
				assert.ErrorIs(t, err, ErrClosed)
				return
			}
			if e.QP == nil {
				continue
			}
			assert.Equal(t, e.QPID, e.QP.ID())
			if _, err := e.QP.Query(); err != nil {
				assert.ErrorIs(t, err, ErrClosed, "the QP may be closed, and says so")
			}
		}
	})
	for range rounds {
		qp := b.newQP(t, QPCap{MaxSendWR: 1})
		for range events {
			stub.PushEvent(b.ctx.ptr, int(classify.EventQPReqErr), qp.ptr, 0)
		}
		within(t, "destroying a QP with events pending", func() { assert.NoError(t, qp.Close()) })
	}
	require.NoError(t, r.Close())
	consumer.Wait()
}

// TestDestroyWithoutAReader has events that nobody reads.
func TestDestroyWithoutAReader(t *testing.T) {
	b := newBench(t, QPCap{})
	qp := b.newQP(t, QPCap{})
	stub.PushEvent(b.ctx.ptr, int(classify.EventQPFatal), qp.ptr, 0)
	within(t, "destroying a QP whose events nobody reads", func() { assert.NoError(t, qp.Close()) })
}
