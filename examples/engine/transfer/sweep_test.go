package transfer

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/rdmagate/rdmagate/verbs"
)

// A deadline that passes because the worker did not poll says nothing about the
// path: nothing is counted, no QP is failed.
func TestDeadlineWithAStalledPoller(t *testing.T) {
	var once sync.Once
	h := &hooks{}
	o := options{wrap: h.wrap, cc: wide, engine: func(c *Config) {
		c.Workers = 1
		c.Deadline, c.StallGap = 50*time.Millisecond, 20*time.Millisecond
	}}
	bubble(t, o, func(t *testing.T, r *rig) {
		r.slow(10e6)
		tr := r.start(2 << 20)
		ended := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(ended) })
		h.setPoll(func(cq fabric.CQ, wcs []verbs.WC) (int, error) {
			if r.worksOn(cq) {
				once.Do(func() { <-ended }) // the worker stands still
			}
			return cq.Poll(wcs[:1]) // and takes a while to catch up
		})
		require.NoError(t, tr.Wait(r.limit()))
		assert.NotZero(t, r.classes()[classify.ClassNonFailure], "the void deadlines must be noticed")
		assert.Zero(t, r.classes()[classify.ClassRouteTimeout], "no path failed")
		assert.Zero(t, tr.retries.Load(), "no slice failed")
		assert.Equal(t, taskstate.Normal, tr.State(), "%v", tr.Detail())
	})
}

// The flush that follows a deadline does not hide why the attempt ended.
func TestDeadlineIsTheVerdict(t *testing.T) {
	o := options{
		cc:     func(c *cc.Config) { wide(c); patient(c) },
		engine: func(c *Config) { c.Deadline, c.MaxAttempts = time.Second, 1 },
	}
	bubble(t, o, func(t *testing.T, r *rig) {
		tr := r.hang()
		require.ErrorContains(t, tr.Wait(r.limit()), "deadline passed")
		assert.NotZero(t, r.classes()[classify.ClassDerivedFlush], "the failed QPs must have flushed")
		assert.Equal(t, taskstate.Congested, tr.State(), "%v", tr.Detail())
		r.nothingInFlight()
	})
}

// A QP that neither completes nor flushes is destroyed, and the teardown gives the
// bytes back.
func TestTeardownOfAQPThatDoesNotFlush(t *testing.T) {
	h := &hooks{fail: func(fabric.QP) error { return errors.New("the device does not answer") }}
	o := options{wrap: h.wrap, engine: func(c *Config) { c.Deadline, c.FlushGrace = 50*time.Millisecond, 20*time.Millisecond }}
	bubble(t, o, func(t *testing.T, r *rig) {
		r.slow(50e6)
		tr := r.start(8 << 20)
		_, err := r.net.BlackHole(r.a.NICs()[0], r.b.NICs()[0])
		require.NoError(t, err)
		require.NoError(t, tr.Wait(r.limit()))
		assert.NotZero(t, r.classes()[classify.ClassCancelled], "the teardown must have settled what hung")
		assert.True(t, string(tr.buffer.Bytes()) == string(r.stored("object")), "every slice must arrive by other rails")
		r.nothingInFlight()
	})
}

// After a deadline the success still counts: the bytes are where they belong.
func TestSuccessAfterTheDeadline(t *testing.T) {
	h := &hooks{fail: func(fabric.QP) error { return nil }} // the QP goes on
	o := options{wrap: h.wrap, cc: wide, engine: func(c *Config) {
		c.Deadline, c.FlushGrace = 50*time.Millisecond, time.Hour
		c.MaxAttempts = 1
	}}
	bubble(t, o, func(t *testing.T, r *rig) {
		for _, nic := range r.b.NICs() {
			_, err := r.net.Delay(nic, 200*time.Millisecond)
			require.NoError(t, err)
		}
		tr := r.start(256 << 10)
		require.NoError(t, tr.Wait(r.limit()))
		assert.NotZero(t, r.classes()[classify.ClassRouteTimeout], "the deadlines must have passed")
		assert.Equal(t, taskstate.Normal, tr.State(), "a late success makes the task NORMAL: %v", tr.Detail())
		r.nothingInFlight()
	})
}

// When no rail has an endpoint for longer than the engine's patience, the transfer
// says so and why.
func TestNoUsablePath(t *testing.T) {
	h := &hooks{}
	o := options{wrap: h.wrap, cc: wide, engine: func(c *Config) { c.Patience = 100 * time.Millisecond }}
	bubble(t, o, func(t *testing.T, r *rig) {
		h.setNewQP(func() error { return errors.New("no QP left on this device") })
		for _, rail := range r.peer.rails {
			rail.retire(rail.endpoint.Load())
		}
		object, err := r.peer.create(t.Context(), "object", 1<<20)
		require.NoError(t, err)
		tr, err := r.peer.Start(Write, r.buffer(1<<20), object)
		require.NoError(t, err)
		err = tr.Wait(r.limit())
		require.ErrorIs(t, err, ErrNoUsablePath)
		assert.NotErrorIs(t, err, ErrAllPaused)
		assert.ErrorContains(t, err, "no QP left on this device", "the error must say why the rails are down")
		assert.Equal(t, taskstate.LongUnavailable, tr.State(), "%v", tr.Detail())
	})
}
