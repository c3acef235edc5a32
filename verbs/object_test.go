//go:build linux && cgo

package verbs

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/verbs/internal/stub"
)

func TestParentsStayOpenUnderTheirChildren(t *testing.T) {
	ctx, err := stubLibrary(t).open("stub0")
	require.NoError(t, err)
	ch, err := ctx.CreateCompChannel()
	require.NoError(t, err)
	cq, err := ctx.CreateCQ(CQInit{Depth: 4, Channel: ch})
	require.NoError(t, err)
	recv, err := ctx.CreateCQ(CQInit{Depth: 4})
	require.NoError(t, err)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	mr, err := pd.RegisterMR(testMemory(t, 4096), AccessLocalWrite)
	require.NoError(t, err)
	qp, err := pd.CreateQP(QPInit{SendCQ: cq, RecvCQ: recv})
	require.NoError(t, err)
	events, err := ctx.AsyncEvents()
	require.NoError(t, err)

	refused := []struct {
		name     string
		parent   interface{ Close() error }
		children []string
	}{
		{"context", ctx, []string{name(&ch.object), name(&cq.object), name(&pd.object), name(&events.object)}},
		{"PD", pd, []string{name(&mr.object), name(&qp.object)}},
		{"send CQ", cq, []string{name(&qp.object)}},
		{"receive CQ", recv, []string{name(&qp.object)}},
		{"channel", ch, []string{name(&cq.object)}},
	}
	for _, r := range refused {
		err := r.parent.Close()
		require.ErrorIs(t, err, ErrInUse, "closing the %s with open children", r.name)
		for _, child := range r.children {
			assert.ErrorContains(t, err, child, "the error names the children")
		}
	}
	for _, o := range []interface{ Close() error }{qp, mr, pd, cq, recv, ch, events, ctx} {
		require.NoError(t, o.Close(), "%v has no children any more", o)
		require.NoError(t, o.Close(), "closing %v twice is nil", o)
	}
	checkClosed(t, ctx, pd, ch, cq, qp)
}

func name(o *object) string { return o.kind + " #" }

// checkClosed calls what is left to call on closed objects.
func checkClosed(t *testing.T, ctx *Context, pd *PD, ch *CompChannel, cq *CQ, qp *QP) {
	t.Helper()
	calls := map[string]func() error{
		"AllocPD":           func() error { _, err := ctx.AllocPD(); return err },
		"Query":             func() error { _, err := ctx.Query(); return err },
		"QueryPort":         func() error { _, err := ctx.QueryPort(1); return err },
		"GIDs":              func() error { _, err := ctx.GIDs(1); return err },
		"GID":               func() error { _, err := ctx.GID(1, 0); return err },
		"AsyncEvents":       func() error { _, err := ctx.AsyncEvents(); return err },
		"CreateCQ":          func() error { _, err := ctx.CreateCQ(CQInit{Depth: 1}); return err },
		"CreateCompChannel": func() error { _, err := ctx.CreateCompChannel(); return err },
		"RegisterMR":        func() error { _, err := pd.RegisterMR(testMemory(t, 1), 0); return err },
		"CreateQP":          func() error { _, err := pd.CreateQP(QPInit{SendCQ: cq}); return err },
		"Wait":              func() error { _, err := ch.Wait(); return err },
		"Poll":              func() error { _, err := cq.Poll(make([]WC, 1)); return err },
		"RequestNotify":     func() error { return cq.RequestNotify(false) },
		"PostSend":          func() error { _, err := qp.PostSend(make([]SendWR, 1)); return err },
		"PostRecv":          func() error { _, err := qp.PostRecv(make([]RecvWR, 1)); return err },
		"ToErr":             qp.ToErr,
		"QP.Query":          func() error { _, err := qp.Query(); return err },
	}
	for name, call := range calls {
		err := call()
		assert.ErrorIs(t, err, ErrClosed, "%s on a closed object", name)
		assert.ErrorIs(t, err, os.ErrClosed)
		var e *Error
		if assert.ErrorAs(t, err, &e) {
			assert.NotEmpty(t, e.Call)
			assert.NotEmpty(t, e.Remedy, "%s says what to do", name)
		}
	}
}

// What nobody created is treated as closed, and never reaches C.
func TestZeroValuesAreClosed(t *testing.T) {
	calls := map[string]func() error{
		"closing": func() error {
			for _, o := range []interface{ Close() error }{new(Context), new(PD), new(MR), new(CQ), new(QP), new(CompChannel), new(AsyncReader)} {
				require.NoError(t, o.Close(), "%T", o)
			}
			new(CompChannel).Stop()
			return ErrClosed
		},
		"ToInit":          func() error { return new(QP).ToInit(InitAttr{}) },
		"ToRTR":           func() error { return new(QP).ToRTR(RTRAttr{}) },
		"ToRTS":           func() error { return new(QP).ToRTS(RTSAttr{}) },
		"Next":            func() error { _, err := new(AsyncReader).Next(); return err },
		"CheckPort":       func() error { return new(Context).CheckPort(1) },
		"QP of a zero CQ": func() error { _, err := openPD(t).CreateQP(QPInit{SendCQ: new(CQ)}); return err },
	}
	for name, call := range calls {
		assert.ErrorIs(t, call(), ErrClosed, name)
	}
	checkClosed(t, new(Context), new(PD), new(CompChannel), new(CQ), new(QP))
	assert.True(t, new(CQ).Closed())
}

func openPD(t *testing.T) *PD {
	t.Helper()
	pd, err := openStub(t).AllocPD()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pd.Close()) })
	return pd
}

func TestFailedCallsLeaveNothingBehind(t *testing.T) {
	ctx := openStub(t)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	cq, err := ctx.CreateCQ(CQInit{Depth: 1})
	require.NoError(t, err)
	memory := testMemory(t, 64)
	before := stub.Live()

	cases := []struct {
		function string
		call     func() error
	}{
		{"ibv_alloc_pd", func() error { _, err := ctx.AllocPD(); return err }},
		{"ibv_create_cq", func() error { _, err := ctx.CreateCQ(CQInit{Depth: 1}); return err }},
		{"ibv_create_comp_channel", func() error { _, err := ctx.CreateCompChannel(); return err }},
		{"ibv_reg_mr", func() error { _, err := pd.RegisterMR(memory, 0); return err }},
		{"ibv_create_qp", func() error { _, err := pd.CreateQP(QPInit{SendCQ: cq}); return err }},
	}
	for _, c := range cases {
		stub.Fail(c.function, int(syscall.ENOMEM))
		err := c.call()
		require.ErrorIs(t, err, syscall.ENOMEM, c.function)
		assert.ErrorContains(t, err, c.function)
		assert.ErrorContains(t, err, "RLIMIT_MEMLOCK", "the usual cause is named")
	}
	assert.Equal(t, before, stub.Live(), "no object is left")

	stub.Fail("ibv_destroy_cq", int(syscall.EBUSY))
	require.ErrorIs(t, cq.Close(), syscall.EBUSY)
	_, err = cq.Poll(make([]WC, 1))
	assert.NoError(t, err, "a CQ that could not be destroyed still works")
	require.NoError(t, cq.Close())
	require.NoError(t, pd.Close())
}

func TestBadInput(t *testing.T) {
	ctx, other := openStub(t), openStub(t)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	defer pd.Close()
	cq, err := ctx.CreateCQ(CQInit{Depth: 1})
	require.NoError(t, err)
	defer cq.Close()
	foreign, err := other.CreateCQ(CQInit{Depth: 1})
	require.NoError(t, err)
	defer foreign.Close()
	memory := testMemory(t, 64)
	const beyondInt32 = 1 << 32 // its lower half is 0
	long := &MR{object: newObject("MR", "stub0"), length: 1 << 40}

	cases := []struct {
		name string
		call func() error
		want string
	}{
		{"context pointer nil", func() error { _, err := WrapContext(nil); return err }, "pointer is nil"},
		{"CQ pointer nil", func() error { _, err := ctx.WrapCQ(nil); return err }, "pointer is nil"},
		{"CQ of another context", func() error { _, err := ctx.WrapCQ(foreign.ptr); return err }, "another struct ibv_context"},
		{"MR of length 0", func() error { _, err := pd.RegisterMR(memory[:0], 0); return err }, "length 0"},
		{"MR of nil", func() error { _, err := pd.RegisterMR(nil, 0); return err }, "length 0"},
		{"MR of Go memory", func() error { _, err := pd.RegisterMR(make([]byte, 64), 0); return err }, "Go memory"},
		{"MR with unknown access", func() error { _, err := pd.RegisterMR(memory, 1<<9); return err }, "0x200"},
		{"MR with remote write only", func() error { _, err := pd.RegisterMR(memory, AccessRemoteWrite); return err }, "without local write"},
		{"memory of length 0", func() error { _, err := AllocMemory(0); return err }, "length is 0"},
		{"CQ of depth 0", func() error { _, err := ctx.CreateCQ(CQInit{}); return err }, "depth is 0"},
		{"QP without CQ", func() error { _, err := pd.CreateQP(QPInit{}); return err }, "SendCQ is nil"},
		{"QP with a CQ of another context", func() error { _, err := pd.CreateQP(QPInit{SendCQ: foreign}); return err }, "another context"},
		{"QP with capacity below 0", func() error {
			_, err := pd.CreateQP(QPInit{SendCQ: cq, Cap: QPCap{MaxSendWR: -1}})
			return err
		}, "below 0"},
		{"CQ deeper than a C int", func() error { _, err := ctx.CreateCQ(CQInit{Depth: beyondInt32 + 1}); return err }, "depth is 4294967297"},
		{"vector above a C int", func() error { _, err := ctx.CreateCQ(CQInit{Depth: 1, Vector: beyondInt32}); return err }, "vector is 4294967296"},
		{"vector below 0", func() error { _, err := ctx.CreateCQ(CQInit{Depth: 1, Vector: -1}); return err }, "vector is -1"},
		{"QP with capacity above a C int", func() error {
			_, err := pd.CreateQP(QPInit{SendCQ: cq, Cap: QPCap{MaxSendWR: beyondInt32 + 2}})
			return err
		}, "MaxSendWR:4294967298"},
		{"SGE longer than a message", func() error { _, err := long.SGE(0, beyondInt32+4096); return err }, "4294971392 bytes from 0"},
		{"SGE behind the region", func() error { _, err := long.SGE(long.length-1, 2); return err }, "2 bytes from 1099511627775"},
		{"SGE before the region", func() error { _, err := long.SGE(-1, 2); return err }, "2 bytes from -1"},
		{"SGE of a length below 0", func() error { _, err := long.SGE(0, -1); return err }, "-1 bytes from 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.call()
			require.ErrorIs(t, err, syscall.EINVAL)
			assert.ErrorContains(t, err, c.want)
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.NotEmpty(t, e.Remedy)
		})
	}
}

func TestGoMemoryIsRecognized(t *testing.T) {
	var global [64]byte
	_ = global
	assert.True(t, isGoMemory(unsafe.Pointer(&make([]byte, 1<<20)[0])), "a large slice")
	assert.True(t, isGoMemory(unsafe.Pointer(new(int32))), "a small object")
	assert.False(t, isGoMemory(unsafe.Pointer(&testMemory(t, 1)[0])), "mmap memory")
	assert.False(t, isGoMemory(nil))
}

func TestForeignObjectsAreNotDestroyed(t *testing.T) {
	foreign := stub.OpenContext()
	defer stub.CloseContext(foreign)
	pointer := stub.CreateCQ(foreign, 0xabcdef)
	defer stub.DestroyCQ(pointer)
	before := stub.Live()

	ctx := newContext(stubLibrary(t), foreign, true)
	assert.True(t, ctx.Foreign())
	assert.Equal(t, "stub0", ctx.Device())
	cq, err := ctx.WrapCQ(pointer)
	require.NoError(t, err)
	assert.True(t, cq.Foreign())
	assert.Equal(t, 64, cq.Depth())
	require.ErrorIs(t, ctx.Close(), ErrInUse, "a wrapped context has children too")

	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	qp, err := pd.CreateQP(QPInit{SendCQ: cq})
	require.NoError(t, err)
	require.ErrorIs(t, cq.Close(), ErrInUse)
	for _, o := range []interface{ Close() error }{qp, pd, cq, ctx} {
		require.NoError(t, o.Close())
	}
	assert.Equal(t, before, stub.Live(), "the foreign context and CQ are still there, ours are gone")
}

func TestIDsAreNeverReused(t *testing.T) {
	b := newBench(t, QPCap{})
	seen := make(map[uint64]bool)
	for range 50 {
		qp := b.newQP(t, QPCap{})
		require.Equal(t, b.qp.Num(), qp.Num(), "the stub gives the same number again, as hardware may")
		require.False(t, seen[qp.ID()], "ID %d was given twice", qp.ID())
		seen[qp.ID()] = true
		require.NoError(t, qp.Close())
	}
}

func TestConcurrentCloseIsOneDestroy(t *testing.T) {
	b := newBench(t, QPCap{})
	before := stub.Live()
	qp := b.newQP(t, QPCap{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { assert.NoError(t, qp.Close()) })
	}
	group.Wait()
	assert.Equal(t, before, stub.Live())
}

func TestErrorText(t *testing.T) {
	err := error(&Error{Call: "ibv_post_send", Object: "QP #5 of mlx5_0", Reason: "posted 1 of 2 requests",
		Remedy: "poll", Errno: syscall.ENOMEM, Err: ErrClosed})
	assert.Equal(t, "verbs: ibv_post_send on QP #5 of mlx5_0: posted 1 of 2 requests: cannot allocate memory: already closed; poll", err.Error())
	assert.True(t, errors.Is(err, syscall.ENOMEM) && errors.Is(err, ErrClosed))
}
