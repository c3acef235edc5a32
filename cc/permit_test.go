package cc

import (
	"fmt"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each edge is taken once, whatever comes in whatever order.
func TestEdges(t *testing.T) {
	cancelled, torn := cancel, teardown
	tests := []struct {
		name     string
		unposted bool
		outcomes []classify.Verdict
		edges    []Edges
		held     bool // bytes are still out at the end
	}{
		{name: "completion takes both", outcomes: []classify.Verdict{success}, edges: []Edges{Ended | Released}},
		{name: "flush takes both", outcomes: []classify.Verdict{flush}, edges: []Edges{Ended | Released}},
		{name: "teardown takes both", outcomes: []classify.Verdict{torn}, edges: []Edges{Ended | Released}},
		{name: "second completion", outcomes: []classify.Verdict{success, success}, edges: []Edges{Ended | Released, 0}},
		{name: "teardown twice", outcomes: []classify.Verdict{torn, torn}, edges: []Edges{Ended | Released, 0}},
		{name: "completion after teardown", outcomes: []classify.Verdict{torn, flush, success}, edges: []Edges{Ended | Released, 0, 0}},
		{name: "deadline keeps the bytes", outcomes: []classify.Verdict{deadline}, edges: []Edges{Ended}, held: true},
		{name: "flush after deadline", outcomes: []classify.Verdict{deadline, flush}, edges: []Edges{Ended, Released}},
		{name: "success after deadline", outcomes: []classify.Verdict{deadline, success}, edges: []Edges{Ended, Released}},
		{name: "teardown after deadline", outcomes: []classify.Verdict{deadline, torn, flush}, edges: []Edges{Ended, Released, 0}},
		{name: "deadline twice", outcomes: []classify.Verdict{deadline, deadline}, edges: []Edges{Ended, 0}, held: true},
		{name: "deadline after completion", outcomes: []classify.Verdict{success, deadline}, edges: []Edges{Ended | Released, 0}},
		{name: "stalled deadline takes neither", outcomes: []classify.Verdict{stalled}, edges: []Edges{0}, held: true},
		{name: "completion after stalled deadline", outcomes: []classify.Verdict{stalled, success}, edges: []Edges{0, Ended | Released}},
		{name: "cancel keeps the bytes", outcomes: []classify.Verdict{cancelled}, edges: []Edges{Ended}, held: true},
		{name: "cancel, deadline, flush", outcomes: []classify.Verdict{cancelled, deadline, flush}, edges: []Edges{Ended, 0, Released}},
		{name: "deadline, cancel, flush", outcomes: []classify.Verdict{deadline, cancelled, flush}, edges: []Edges{Ended, 0, Released}},
		{name: "rejected post releases", outcomes: []classify.Verdict{classify.RejectedPost(12)}, edges: []Edges{Ended | Released}},
		{name: "no verdict", outcomes: []classify.Verdict{{}}, edges: []Edges{0}, held: true},
		{name: "metadata signal takes none", outcomes: []classify.Verdict{classify.Of(classify.SignalStaleMetadata)}, edges: []Edges{0}, held: true},
		{name: "unposted: only its owner gives it back", unposted: true, outcomes: []classify.Verdict{cancelled, deadline, torn, success}, edges: []Edges{0, 0, 0, 0}, held: true},
	}
	for _, mode := range []Mode{Observe, Enforce} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/%s", mode, tt.name), func(t *testing.T) {
				r := newRig(t, mode)
				route := r.route("D1", "P", "n1")
				gen := r.renew(route, 1)
				var s slice
				if d := route.TryAcquire(&s.permit, gen, 64*kib, &s.task); assert.True(t, d.Admitted()) {
					s.use = d.Use
				}
				if !tt.unposted {
					require.NoError(t, s.permit.Posting(1, r.now))
				}
				for i, v := range tt.outcomes {
					assert.Equal(t, tt.edges[i], r.settle(&s, v), "edges of outcome %d, %s", i+1, v)
				}
				if tt.held {
					r.inFlight(route, 64*kib, 64*kib)
					assert.Equal(t, 64*kib, s.permit.Held())
					if tt.unposted {
						assert.True(t, s.permit.Unposted())
					} else {
						assert.Equal(t, Released, r.settle(&s, teardown)&Released, "a teardown releases what is held")
					}
				}
				r.inFlight(route, 0, 0)
				assert.Zero(t, s.permit.Held())
				r.post(&s, route, r.renew(route, 2), mib, 2) // a whole window fits again
			})
		}
	}
}

func TestUnposted(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	assert.False(t, s.permit.Unposted(), "a free permit has nothing to release")

	d := route.TryAcquire(&s.permit, gen, 64*kib, &s.task)
	assert.True(t, s.permit.Unposted(), "before Posting")
	r.inFlight(route, 0, 0)
	assert.False(t, s.permit.Unposted(), "a second time")
	assert.Zero(t, s.permit.Settle(d.Use, success, r.now), "a completion of a work request that was never posted")

	r.post(&s, route, gen, 64*kib, 1)
	assert.True(t, s.permit.Unposted(), "after Posting, when the verb refused it")
	r.inFlight(route, 0, 0)
	assert.Equal(t, "UNKNOWN", s.task.State().String(), "a rejected post leaves the task as it was")

	r.post(&s, route, gen, 64*kib, 1)
	r.settle(&s, deadline)
	assert.True(t, s.permit.Unposted(), "the release edge is open after a deadline")
	r.inFlight(route, 0, 0)
}

// A completion of an earlier admission in the same memory changes nothing.
func TestLateCompletionOfFormerOwner(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	var s slice
	gen := r.renew(route, 7)
	r.post(&s, route, gen, mib, 7)
	old := s.use
	r.settle(&s, deadline)
	r.settle(&s, teardown)

	gen = r.renew(route, 7) // the same QP number again
	r.post(&s, route, gen, mib, 7)
	for _, v := range []classify.Verdict{success, retryExc, flush, deadline, cancel, teardown} {
		assert.Zero(t, s.permit.Settle(old, v, r.now), "%s with the old use number", v)
	}
	r.inFlight(route, mib, mib)
	var other slice
	assert.Equal(t, Defer, route.TryAcquire(&other.permit, gen, mib, &other.task).Answer, "the window is full")
	assert.Equal(t, Ended|Released, r.settle(&s, success))
	r.inFlight(route, 0, 0)
}

// A permit whose memory was zeroed does not begin with its former use numbers.
func TestUseNumbersOfZeroedPermit(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	seen := map[Use]bool{}
	for range 1000 {
		s := new(slice)
		for range 3 {
			r.post(s, route, gen, kib, 1)
			require.False(t, seen[s.use], "use number %d was given before", s.use)
			require.NotZero(t, s.use)
			seen[s.use] = true
			r.settle(s, success)
		}
	}
}

func TestUseNumberNeverZero(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	s := slice{permit: Permit{use: recordedUse - 1}}
	r.post(&s, route, gen, kib, 1)
	assert.Equal(t, Use(1), s.use)
	assert.Equal(t, Ended|Released, r.settle(&s, success))
}

func TestAcquireHeldPermit(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	r.post(&s, route, gen, 64*kib, 1)
	d := route.TryAcquire(&s.permit, gen, kib, &s.task)
	assert.ErrorIs(t, d.Err, ErrHeld)
	assert.Equal(t, Refused, d.Answer)
	assert.Contains(t, d.String(), "65536 bytes")
	r.inFlight(route, 64*kib, 64*kib)
	assert.Equal(t, Ended|Released, r.settle(&s, success), "the open admission is unharmed")
}

func TestPosting(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)

	t.Run("free permit", func(t *testing.T) {
		var s slice
		r.post(&s, route, gen, kib, 1)
		r.settle(&s, success)
		assert.ErrorIs(t, s.permit.Posting(1, r.now), ErrNotHeld)
	})
	t.Run("twice", func(t *testing.T) {
		var s slice
		r.post(&s, route, gen, kib, 1)
		assert.ErrorIs(t, s.permit.Posting(1, r.now), ErrNotHeld)
		assert.Equal(t, Ended|Released, r.settle(&s, success))
	})
	t.Run("foreign QP rolls back", func(t *testing.T) {
		var s slice
		route.TryAcquire(&s.permit, gen, kib, nil)
		err := s.permit.Posting(99, r.now)
		assert.ErrorIs(t, err, ErrUnknownQP)
		assert.ErrorContains(t, err, "QP 99")
		r.inFlight(route, 0, 0)
	})
	t.Run("renewed meanwhile rolls back", func(t *testing.T) {
		var s slice
		route.TryAcquire(&s.permit, gen, kib, &s.task)
		next := r.renew(route, 2)
		assert.ErrorIs(t, s.permit.Posting(1, r.now), ErrStaleGeneration)
		r.inFlight(route, 0, 0)
		assert.Equal(t, "UNKNOWN", s.task.State().String())
		gen = next
	})
	t.Run("retired meanwhile rolls back", func(t *testing.T) {
		var a, b slice
		r.post(&a, route, gen, kib, 2)
		route.TryAcquire(&b.permit, gen, kib, &b.task)
		r.settle(&a, deadline)
		assert.ErrorIs(t, b.permit.Posting(2, r.now), ErrStaleGeneration)
		r.inFlight(route, kib, kib)
		assert.Equal(t, Released, r.settle(&a, teardown))
		r.inFlight(route, 0, 0)
	})
}

func TestBytesOutOfRange(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	for _, n := range []int64{0, -1, -1 << 63, MaxBytes + 1, 1<<63 - 1} {
		var s slice
		d := route.TryAcquire(&s.permit, gen, n, &s.task)
		assert.ErrorContains(t, d.Err, fmt.Sprint(n), "the error names the value")
		assert.Equal(t, Refused, d.Answer)
		r.inFlight(route, 0, 0)
		assert.Equal(t, "UNKNOWN", s.task.State().String())
	}
	var s slice
	r.post(&s, route, gen, MaxBytes, 1) // absurd but allowed: both windows are empty
	r.inFlight(route, MaxBytes, MaxBytes)
	r.settle(&s, success)
	r.inFlight(route, 0, 0)
}

// Posting is what starts the clock of a delay; it is kept for the laws.
func TestPostingStampsTime(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	d := route.TryAcquire(&s.permit, gen, kib, nil)
	r.now += time.Millisecond
	require.NoError(t, s.permit.Posting(1, r.now))
	assert.Equal(t, r.now, s.permit.postedAt)
	s.permit.Settle(d.Use, success, r.now)
}

// Posting without an admission is the gravest mistake a caller can make: it is told
// also for a permit that was never admitted before.
func TestPostingWithoutAdmission(t *testing.T) {
	for _, mode := range []Mode{Observe, Enforce} {
		r := newRig(t, mode)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var zero, refused slice
		assert.ErrorIs(t, zero.permit.Posting(1, r.now), ErrNotHeld)
		route.TryAcquire(&refused.permit, gen, 0, nil)
		assert.ErrorIs(t, refused.permit.Posting(1, r.now), ErrNotHeld)
		assert.False(t, refused.permit.Unposted())
	}
}

// Sums stay sound with the largest slices.
func TestLargestSlices(t *testing.T) {
	r := newRig(t, Observe)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var a, b slice
	r.post(&a, route, gen, MaxBytes, 1)
	d := route.TryAcquire(&b.permit, gen, MaxBytes, nil)
	assert.ErrorContains(t, d.Err, "settle some first")
	r.inFlight(route, MaxBytes, MaxBytes)
	r.settle(&a, success)
	r.inFlight(route, 0, 0)

	r = newRig(t, Enforce)
	route = r.route("D1", "P", "n1")
	gen = r.renew(route, 1)
	for range 5 {
		require.True(t, route.TryAcquire(&a.permit, gen, MaxBytes, nil).Admitted())
		a.permit.Unposted()
		assert.Zero(t, route.Snapshot().Flow.DeliveredBytes, "nothing was posted")
	}
}
