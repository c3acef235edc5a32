package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A controller that is off admits everything and keeps nothing, whatever it is
// told. In a build with the tag rdmagate_off every controller is:
//
//	go test -tags rdmagate_off ./cc
func TestOffKeepsNothing(t *testing.T) {
	mode := Off
	if !enabled {
		mode = Enforce // has to be the same
	}
	r := newRig(t, mode)
	assert.Equal(t, Off, r.ctl.Mode())
	assert.Equal(t, Off, r.ctl.Config().Mode)
	a, b := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	assert.False(t, a.Snapshot().NeedsRenew, "everything is admitted")
	gen, err := a.Renew(0, []QP{{ID: 1, CQ: 1}})
	require.NoError(t, err)
	var s slice
	for range 10 {
		d := a.TryAcquire(&s.permit, gen, 5*mib, &s.task)
		require.True(t, d.Admitted())
		require.True(t, b.Handoff(&s.permit, gen, &s.task).Admitted())
		require.True(t, b.Acquire(t.Context(), &s.permit, gen, 5*mib, &s.task).Admitted())
		require.True(t, b.TryProbe(&s.permit, gen, kib).Admitted())
		require.NoError(t, s.permit.Posting(1, r.now))
		require.Zero(t, s.permit.Settle(d.Use, retryExc, r.now))
		require.False(t, s.permit.Unposted())
		require.Zero(t, s.permit.Held())
	}
	v, reached, err := r.ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}, r.now)
	require.NoError(t, err)
	assert.Equal(t, classify.ScopePort, v.Scope(), "an event is classified all the same")
	assert.Zero(t, reached)
	r.ctl.Tick(r.now + time.Hour)
	assert.Empty(t, r.ctl.Due(r.now))
	assert.Equal(t, Healthy, a.State())
	assert.Zero(t, a.InFlight())
	assert.Equal(t, "UNKNOWN", s.task.State().String(), "no evidence")
	r.ctl.Close()
	assert.True(t, a.TryAcquire(&s.permit, gen, kib, nil).Admitted(), "also when it is closed")
	_, err = r.ctl.Route(rail.Pair{Peer: "P", Local: "D1", Port: 1, Remote: "n1"})
	assert.ErrorIs(t, err, ErrClosed)
}

// empty is a call that does nothing.
//
//go:noinline
func empty() {}

// The whole life of a permit in mode off, over an empty call in the same run: the
// calls are inlined. The loops are plain ones, since b.Loop keeps results alive.
func BenchmarkOff(b *testing.B) {
	r := newRig(b, Off)
	route := r.route("D1", "P", "n1")
	var s slice
	b.Run("empty call", func(b *testing.B) {
		for range b.N {
			empty()
		}
	})
	b.Run("empty call and permit", func(b *testing.B) {
		for range b.N {
			empty()
			d := route.TryAcquire(&s.permit, 1, 4096, &s.task)
			if !d.Admitted() || s.permit.Posting(1, 0) != nil || s.permit.Settle(d.Use, success, 0) != 0 {
				b.Fatal("off keeps nothing")
			}
		}
	})
}
