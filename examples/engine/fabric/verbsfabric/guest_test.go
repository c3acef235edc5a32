//go:build guest

package verbsfabric

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/verbs"
)

func open(t *testing.T, names ...string) *Host {
	t.Helper()
	h, err := Open("guest", names...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Close(), "something was left open") })
	return h
}

func TestGuestHost(t *testing.T) {
	all, err := Devices()
	require.NoError(t, err)
	assert.Equal(t, []string{"rxa0", "rxa1", "rxb0", "rxb1"}, all)

	_, err = Open("guest", "rxa0", "rxa9")
	require.ErrorIs(t, err, syscall.ENODEV)
	assert.ErrorContains(t, err, "rxb1", "the error must list the devices that there are")
	_, err = Open("guest", "rxa0", "rxa0")
	assert.ErrorContains(t, err, `device "rxa0" is named twice`)

	h := open(t, "rxb1", "rxa0")
	assert.Equal(t, "guest, rxb1 rxa0", h.Name())
	assert.Equal(t, "rxb1", h.NICs()[0].Name())
	assert.EqualValues(t, 1, h.NICs()[0].Port())

	info := h.NICs()[1].Info()
	assert.Equal(t, "rxa0", info.Name)
	assert.Equal(t, rail.LinkEthernet, info.Link)
	assert.Empty(t, info.Unusable)
	assert.Positive(t, info.Rate)
	if assert.Len(t, info.Addrs, 1) {
		assert.True(t, info.Addrs[0].Is4(), "the address that QPs use: %v", info.Addrs)
	}

	mem, err := h.Alloc(5000)
	require.NoError(t, err)
	assert.Len(t, mem, 5000)
	require.NoError(t, h.Free(mem))
	assert.ErrorContains(t, h.Free(mem), "which Alloc did not return", "memory is freed once")
	_, err = h.Alloc(0)
	assert.Error(t, err)
}

// One WRITE from host to host, and the flush of a failed QP.
func TestGuestQP(t *testing.T) {
	a, b := open(t, "rxa0"), open(t, "rxb0")
	near, memA, regionA, cq := newQP(t, a)
	far, memB, regionB, _ := newQP(t, b)
	require.NoError(t, near.Connect(far.Address()))
	require.NoError(t, far.Connect(near.Address()))
	copy(memA, "payload")

	write := verbs.SendWR{
		WRID: 7, Op: verbs.OpWrite, Flags: verbs.SendSignaled, RKey: regionB.RKey(), RemoteAddr: regionB.Addr(),
		SGE: verbs.SGE{Addr: regionA.Addr(), Length: 7, LKey: regionA.LKey()},
	}
	assert.Equal(t, classify.StatusSuccess, complete(t, near, cq, write))
	assert.Equal(t, "payload", string(memB[:7]))
	require.NoError(t, near.Fail())
	assert.Equal(t, classify.StatusWRFlushErr, complete(t, near, cq, write))

	bad := far.Address()
	bad.MTU = 1500
	assert.ErrorContains(t, near.Connect(bad), "path MTU of 1500 bytes")
	bad.GID = "nonsense"
	assert.ErrorContains(t, near.Connect(bad), "the peer's GID")
	_, err := b.NICs()[0].NewQP(cq, fabric.QPConfig{SendDepth: 1})
	assert.ErrorContains(t, err, "not this NIC's", "a CQ of another device")
}

func newQP(t *testing.T, h *Host) (fabric.QP, []byte, fabric.Region, fabric.CQ) {
	t.Helper()
	nic := h.NICs()[0]
	mem, err := h.Alloc(4096)
	require.NoError(t, err)
	region, err := nic.Register(mem)
	require.NoError(t, err)
	cq, err := nic.NewCQ(16)
	require.NoError(t, err)
	qp, err := nic.NewQP(cq, fabric.QPConfig{SendDepth: 4, RecvDepth: 1, Timeout: 14, Retry: 3, RNRRetry: 3})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, qp.Close())
		assert.NoError(t, cq.Close())
		assert.NoError(t, region.Close())
	})
	return qp, mem, region, cq
}

// complete posts one work request and returns the status of its completion.
func complete(t *testing.T, qp fabric.QP, cq fabric.CQ, wr verbs.SendWR) classify.Status {
	t.Helper()
	n, err := qp.PostSend([]verbs.SendWR{wr})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	wcs := make([]verbs.WC, 4)
	require.Eventually(t, func() bool {
		n, err = cq.Poll(wcs)
		return err != nil || n > 0
	}, time.Minute, time.Millisecond, "no completion came")
	require.NoError(t, err)
	assert.Equal(t, wr.WRID, wcs[0].WRID)
	return wcs[0].Status
}

func TestGuestEvents(t *testing.T) {
	lab, err := softroce.Current()
	require.NoError(t, err, "this test needs the Soft-RoCE guest; run it with guestexec")
	t.Cleanup(func() { assert.NoError(t, lab.Heal()) })
	nic := open(t, "rxa1").NICs()[0]

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = nic.NextEvent(ctx)
	require.ErrorIs(t, err, context.Canceled)

	_, err = lab.LinkDown(lab.A[1])
	require.NoError(t, err)
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := nic.NextEvent(ctx)
	require.NoError(t, err, "the reader must work again after a context has ended")
	assert.Equal(t, classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "rxa1", Port: 1}}, e)
}
