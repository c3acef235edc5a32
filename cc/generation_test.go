package cc

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAcquireByGeneration(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	var s slice

	d := route.TryAcquire(&s.permit, 0, kib, &s.task)
	assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonNeedsRenew}, d.Ruling, "before the first endpoint")

	g1 := r.renew(route, 1)
	g2 := r.renew(route, 2)
	d = route.TryAcquire(&s.permit, g1, kib, &s.task)
	assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonStaleGeneration}, d.Ruling, "on the old endpoint")

	d = route.TryAcquire(&s.permit, g2+1, kib, &s.task)
	assert.ErrorContains(t, d.Err, "the newest is 2", "a generation that Renew never returned")

	r.post(&s, route, g2, kib, 2)
	r.settle(&s, deadline)
	var next slice
	d = route.TryAcquire(&next.permit, g2, kib, &next.task)
	assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonNeedsRenew}, d.Ruling, "a counted deadline retires the generation")
	assert.True(t, route.Snapshot().NeedsRenew)
	assert.Equal(t, "UNKNOWN", next.task.State().String(), "a retired generation says nothing to the task")

	g3 := r.renew(route, 3)
	r.post(&next, route, g3, kib, 3)
	r.settle(&s, teardown)
	r.settle(&next, success)
	r.inFlight(route, 0, 0)
	assert.Equal(t, []RefusalCount{
		{Reason: classify.ReasonStaleGeneration, Count: 1},
		{Reason: classify.ReasonNeedsRenew, Count: 2},
	}, route.Snapshot().Refusals)
}

// A failed completion retires its QP, which is the caller's; the generation stays.
func TestCompletionErrorKeepsGeneration(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1, 2)
	var a, b slice
	r.post(&a, route, gen, kib, 1)
	r.settle(&a, retryExc)
	r.post(&b, route, gen, kib, 2)
	r.settle(&b, success)
	assert.False(t, route.Snapshot().NeedsRenew)
}

// A QP that nobody else names has a name in the table that no caller gives, and keeps it.
func TestNamesOfQPs(t *testing.T) {
	own, given := &qp{QP: QP{ID: 7}}, &qp{QP: QP{ID: 8, Incarnation: 5}}
	names := named([]*qp{own, given})
	assert.Equal(t, uint64(7), names[0].Number)
	assert.GreaterOrEqual(t, names[0].Incarnation, uint64(1)<<63)
	assert.Equal(t, rail.QP{Number: 8, Incarnation: 5}, names[1])
	assert.Equal(t, names, named([]*qp{own, given}))
	assert.NotEqual(t, names[0], named([]*qp{{QP: QP{ID: 7}}})[0], "another QP that has its number")
}

func TestRenewErrors(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)

	cur, err := route.Renew(0, []QP{{ID: 2}})
	assert.ErrorIs(t, err, ErrStaleGeneration)
	assert.Equal(t, gen, cur, "the loser of a race learns the current number")
	_, err = route.Renew(gen+5, []QP{{ID: 2}})
	assert.ErrorIs(t, err, ErrStaleGeneration)
	cur, err = route.Renew(gen, nil)
	assert.ErrorContains(t, err, "at least one")
	assert.Zero(t, cur)
	_, err = route.Renew(gen, []QP{{ID: 0}})
	assert.ErrorContains(t, err, "QP 1 of 1 has ID 0")
	_, err = route.Renew(gen, []QP{{ID: 3}, {ID: 0}, {ID: 4}})
	assert.ErrorContains(t, err, "QP 2 of 3 has ID 0")
	_, err = route.Renew(gen, []QP{{ID: 5}, {ID: 5}})
	assert.ErrorContains(t, err, "QP 5 is named twice")

	assert.Equal(t, gen, route.Snapshot().Generation, "nothing changed")
	assert.Equal(t, gen+1, r.renew(route, 1), "an endpoint may take over QPs of the one before")
	elsewhere := r.route("D2", "P", "n1")
	r.renew(elsewhere, 1) // QP numbers are those of a device
}

// Of many workers that rebuild at once exactly one wins each time.
func TestRenewRace(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	const workers, rounds = 4, 200
	var wins atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			gen := Generation(0)
			for range rounds {
				next, err := route.Renew(gen, []QP{{ID: uint64(w + 1)}})
				if err == nil {
					wins.Add(1)
				}
				gen = next
			}
		})
	}
	wg.Wait()
	assert.Equal(t, Generation(wins.Load()), route.Snapshot().Generation, "one number for each win")
}

// Bytes of an old generation count until they are settled.
func TestRenewReleasesNothing(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	old := make([]slice, 4)
	for i := range old {
		r.post(&old[i], route, gen, 256*kib, 1)
	}
	gen = r.renew(route, 2)
	r.inFlight(route, mib, mib)
	var s slice
	require.Equal(t, Defer, route.TryAcquire(&s.permit, gen, kib, &s.task).Answer)
	for i := range old {
		r.settle(&old[i], teardown)
	}
	r.inFlight(route, 0, 0)
	r.post(&s, route, gen, mib, 2)
}

// The hardware gives a QP number again once its QP is gone: the number belongs to
// whoever named it last, and what its former owner does later takes nothing away.
func TestQPNumberIsReused(t *testing.T) {
	r := newRig(t, Enforce)
	gone, next := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	r.renew(gone, 17)
	r.renew(next, 17)
	fatal := classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "D1", QP: 17}}
	reach := func() int {
		_, reached, err := r.ctl.Event(fatal, r.now)
		require.NoError(t, err)
		return reached
	}
	assert.Equal(t, 1, reach())
	assert.Equal(t, Healthy, gone.State(), "the former owner has nothing to do with it")
	assert.Equal(t, Suspect, next.State())
	r.renew(gone, 18)
	assert.Equal(t, 1, reach(), "the number is still that of the other route")
}
