package cc

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The whole life of a permit allocates nothing, nor does a refusal that is repeated.
func TestFastPathAllocations(t *testing.T) {
	for _, mode := range []Mode{Off, Observe, Enforce} {
		r := newRig(t, mode)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var s slice
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			d := route.TryAcquire(&s.permit, gen, 64*kib, &s.task)
			s.permit.Posting(1, r.now)
			s.permit.Settle(d.Use, success, r.now)
		}), "mode %s: acquire, post, settle", mode)

		var full, refused slice
		d := route.TryAcquire(&full.permit, gen, mib, &full.task)
		if mode == Enforce {
			assert.Zero(t, testing.AllocsPerRun(1000, func() {
				route.TryAcquire(&refused.permit, gen, kib, &refused.task)
			}), "a refusal that is repeated")
		}
		full.permit.Settle(d.Use, teardown, r.now)
	}
}
