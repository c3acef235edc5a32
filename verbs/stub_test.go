//go:build linux && cgo

package verbs

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/verbs/internal/stub"
)

// TestMain fails if the tests together leave objects in the provider.
func TestMain(m *testing.M) {
	status := m.Run()
	if n := stub.Live(); n != 0 && status == 0 {
		fmt.Fprintf(os.Stderr, "FAIL: %d objects of the stub provider were never destroyed\n", n)
		status = 1
	}
	os.Exit(status)
}

// stubLibrary returns a library whose functions are those of the stub provider.
func stubLibrary(t testing.TB) *library {
	t.Helper()
	lib, err := fillTable("stub", stub.Resolver(), nil)
	require.NoError(t, err)
	return lib
}

func openStub(t testing.TB) *Context {
	t.Helper()
	ctx, err := stubLibrary(t).open("stub0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ctx.Close()) })
	return ctx
}

// bench is a QP with all it stands on, over the stub provider.
type bench struct {
	ctx *Context
	pd  *PD
	cq  *CQ
	qp  *QP
}

// newBench makes a QP in state RTS. All of it is closed at the end of the test.
func newBench(t testing.TB, capacity QPCap) *bench {
	t.Helper()
	b := &bench{ctx: openStub(t)}
	var err error
	b.pd, err = b.ctx.AllocPD()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.pd.Close()) })
	b.cq, err = b.ctx.CreateCQ(CQInit{Depth: 64})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.cq.Close()) })
	b.qp = b.newQP(t, capacity)
	t.Cleanup(func() { require.NoError(t, b.qp.Close()) })
	return b
}

func (b *bench) newQP(t testing.TB, capacity QPCap) *QP {
	t.Helper()
	qp, err := b.pd.CreateQP(QPInit{SendCQ: b.cq, Cap: capacity})
	require.NoError(t, err)
	require.NoError(t, qp.ToInit(InitAttr{Access: AccessRemoteWrite}))
	require.NoError(t, qp.ToRTR(RTRAttr{DestQPNum: 5}))
	require.NoError(t, qp.ToRTS(RTSAttr{Timeout: 12}))
	return qp
}

func testMemory(t testing.TB, n int) []byte {
	t.Helper()
	m, err := AllocMemory(n)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m.Bytes()
}
