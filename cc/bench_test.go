package cc

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// The floor of exact admission in two domains: two compare-and-swap loops to take
// bytes, two to give them back.
func BenchmarkFloorTwoCASPairs(b *testing.B) {
	var device, route atomic.Int64
	add := func(w *atomic.Int64, n int64) {
		for {
			v := w.Load()
			if w.CompareAndSwap(v, v+n) {
				return
			}
		}
	}
	for b.Loop() {
		add(&route, 4096)
		add(&device, 4096)
		add(&device, -4096)
		add(&route, -4096)
	}
}

func BenchmarkPermit(b *testing.B) {
	for _, mode := range []Mode{Off, Observe, Enforce} {
		b.Run(mode.String(), func(b *testing.B) {
			route, gen := benchRoute(b, mode)
			var s slice
			b.ReportAllocs()
			for b.Loop() {
				d := route.TryAcquire(&s.permit, gen, 4096, &s.task)
				s.permit.Posting(1, 0)
				s.permit.Settle(d.Use, success, 0)
			}
		})
	}
}

func BenchmarkRefusal(b *testing.B) {
	route, gen := benchRoute(b, Enforce)
	var full, s slice
	route.TryAcquire(&full.permit, gen, mib, nil)
	b.ReportAllocs()
	for b.Loop() {
		route.TryAcquire(&s.permit, gen, 4096, &s.task)
	}
}

// Two goroutines, each with a route of its own on one device.
func BenchmarkTwoRoutesOfOneDevice(b *testing.B) {
	r := newRig(b, Enforce)
	var next atomic.Int64
	b.SetParallelism(1)
	b.RunParallel(func(pb *testing.PB) {
		id := uint64(next.Add(1))
		route := r.route("D1", "P", string(rune('a'+id)))
		gen, err := route.Renew(0, []QP{{ID: id}})
		require.NoError(b, err)
		var s slice
		for pb.Next() {
			d := route.TryAcquire(&s.permit, gen, 4096, &s.task)
			s.permit.Posting(id, 0)
			s.permit.Settle(d.Use, success, 0)
		}
	})
}

func benchRoute(b *testing.B, mode Mode) (*Route, Generation) {
	r := newRig(b, mode)
	route := r.route("D1", "P", "n1")
	gen, err := route.Renew(0, []QP{{ID: 1, CQ: 1}})
	require.NoError(b, err)
	return route, gen
}
