package transfer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
)

// probed leaves trials to the prober, which looks often.
func probed(o options) options {
	o.cc = func(c *cc.Config) {
		wide(c)
		quick(c)
		c.Prober = true
	}
	engine := o.engine
	o.engine = func(c *Config) {
		c.ProbePause = 10 * time.Millisecond
		if engine != nil {
			engine(c)
		}
	}
	return o
}

// quarantine blocks the first pair and has transfers find out.
func (r *rig) quarantine() (undo func() error) {
	r.t.Helper()
	undo, err := r.net.Block(r.a.NICs()[0], r.b.NICs()[0])
	require.NoError(r.t, err)
	_, err = r.peer.Put(r.limit(), "while blocked", r.buffer(1<<20))
	require.NoError(r.t, err)
	r.until(func() bool { return r.state(0) >= cc.Quarantined }, "the pair must be quarantined")
	return undo
}

// probes returns how many probes were posted, and how many succeeded.
func (r *rig) probes() (sent, succeeded uint64) {
	t := r.engine.Totals()
	return t.Probes, t.ProbesSucceeded
}

// From the quarantine on no transfer loses a slice, neither while the pair is blocked
// nor when it comes back, which it does without any transfer.
func TestProbesBringAPairBack(t *testing.T) {
	bubble(t, probed(options{}), func(t *testing.T, r *rig) {
		undo := r.quarantine()
		spent, sent := r.classes()[classify.ClassRouteTimeout], r.buffer(1<<20)
		for _, name := range []string{"a", "b", "c"} {
			report, err := r.peer.Put(r.limit(), name, sent)
			require.NoError(t, err)
			assert.Zero(t, report.Retries, "slices that met the blocked pair")
			time.Sleep(time.Second)
			assert.True(t, r.peer.rails[0].route.State() >= cc.Quarantined, "what is blocked does not come back")
		}
		failed, succeeded := r.probes()
		assert.NotZero(t, failed, "probes must have been sent")
		assert.Equal(t, uint64(0), succeeded)

		require.NoError(t, undo())
		r.until(func() bool { return r.state(0) <= cc.Congested }, "a probe must bring the pair back, without traffic")
		_, succeeded = r.probes()
		assert.NotZero(t, succeeded)
		r.until(func() bool { ep := r.peer.rails[0].current(); return ep != nil && !ep.narrow }, "a full endpoint")
		before := r.carried()[0]
		report, err := r.peer.Put(r.limit(), "after", sent)
		require.NoError(t, err)
		assert.Zero(t, report.Retries)
		assert.Greater(t, r.carried()[0], before, "the pair is in use again")
		assert.Equal(t, spent, r.classes()[classify.ClassRouteTimeout], "the trials must not have been slices")
	})
}

// A pair that is dead for long has an endpoint of one QP; when it comes back it has a full
// one.
func TestEndpointOfADeadPair(t *testing.T) {
	bubble(t, probed(options{}), func(t *testing.T, r *rig) {
		count := func(ep *endpoint) (n int) {
			for range ep.all {
				n++
			}
			return n
		}
		first := r.peer.rails[0]
		full := count(first.current())
		require.Greater(t, full, 1)
		undo := r.quarantine()
		r.until(func() bool { return first.current() != nil }, "the first endpoint after the verdict")
		assert.Equal(t, full, count(first.current()), "it may come back soon")
		r.until(func() bool { ep := first.current(); return ep != nil && ep.narrow }, "an endpoint for probes")
		assert.EqualValues(t, missedOften, first.missed.Load())
		assert.Equal(t, 1, count(first.current()))
		require.NoError(t, undo())
		r.until(func() bool { ep := first.current(); return ep != nil && !ep.narrow }, "an endpoint for all")
		assert.Equal(t, full, count(first.current()))
		assert.LessOrEqual(t, r.state(0), cc.Congested)
		first.missed.Store(missedOften - 1) // as when others brought it back
		r.until(func() bool { return first.missed.Load() == 0 }, "what is in use has missed none")
	})
}

// A suspicion is verified on an endpoint of one QP, which is built sooner.
func TestEndpointOfASuspectPair(t *testing.T) {
	bubble(t, probed(options{}), func(t *testing.T, r *rig) {
		undo, err := r.net.Block(r.a.NICs()[0], r.b.NICs()[0])
		require.NoError(t, err)
		_, err = r.peer.Put(r.limit(), "object", r.buffer(64<<10))
		require.NoError(t, err)
		require.Equal(t, cc.Suspect, r.state(0))
		var ep *endpoint
		r.until(func() bool { ep = r.peer.rails[0].current(); return ep != nil }, "an endpoint")
		assert.True(t, ep.narrow)
		require.NoError(t, undo())
	})
}

// A probe fails in its own time, however long the slices of transfers are retried.
func TestProbesFailSoon(t *testing.T) {
	o := probed(options{})
	quickly := o.engine
	o.engine = func(c *Config) { quickly(c); c.AckTimeout, c.Deadline = 16, time.Minute } // 1 s
	bubble(t, o, func(t *testing.T, r *rig) {
		undo := r.quarantine()
		before, _ := r.probes()
		time.Sleep(time.Second)
		after, _ := r.probes()
		assert.Greater(t, after-before, uint64(2))
		require.NoError(t, undo())
	})
}

// A port that goes down takes its pairs out, and probes bring them back once it is up.
func TestProbesAfterALinkWasDown(t *testing.T) {
	bubble(t, probed(options{}), func(t *testing.T, r *rig) {
		undo, err := r.net.LinkDown(r.a.NICs()[0])
		require.NoError(t, err)
		r.until(func() bool { return r.state(0) >= cc.Quarantined && r.state(2) >= cc.Quarantined }, "both pairs of the port")
		report, err := r.peer.Put(r.limit(), "down", r.buffer(1<<20))
		require.NoError(t, err)
		assert.Zero(t, report.Retries)
		require.NoError(t, undo())
		r.until(func() bool { return r.state(0) <= cc.Congested && r.state(2) <= cc.Congested }, "probes must bring both back")
		report, err = r.peer.Put(r.limit(), "up", r.buffer(1<<20))
		require.NoError(t, err)
		assert.Zero(t, report.Retries)
		assert.Zero(t, r.classes()[classify.ClassRouteTimeout], "no slice was lost on the way")
	})
}

// A suspicion is verified: a probe that succeeds ends it, one that fails confirms it.
func TestProbesVerifyASuspicion(t *testing.T) {
	for _, tc := range []struct {
		name    string
		blocked bool
		want    cc.State
	}{{"the path is good", false, cc.Healthy}, {"the path is dead", true, cc.Quarantined}} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, probed(options{}), func(t *testing.T, r *rig) {
				undo, err := r.net.Block(r.a.NICs()[0], r.b.NICs()[0])
				require.NoError(t, err)
				_, err = r.peer.Put(r.limit(), "object", r.buffer(64<<10))
				require.NoError(t, err)
				require.Equal(t, cc.Suspect, r.state(0), "after one failure")
				if !tc.blocked {
					require.NoError(t, undo())
				}
				r.until(func() bool { return r.state(0) == tc.want }, "the probe must decide")
				assert.EqualValues(t, 1, r.classes()[classify.ClassRouteTimeout], "one slice is what it cost")
			})
		})
	}
}

// A quarantined pair is tried on a fresh endpoint, which the prober has built and tries
// as soon as it is there, however rarely it looks otherwise.
func TestProbeGetsANewEndpoint(t *testing.T) {
	o := probed(options{})
	quickly := o.engine
	o.engine = func(c *Config) { quickly(c); c.ProbePause = 5 * time.Second }
	bubble(t, o, func(t *testing.T, r *rig) {
		_, err := r.peer.Put(r.limit(), "object", r.buffer(1<<20))
		require.NoError(t, err)
		old := r.peer.rails[0].endpoint.Load()
		for range 3 { // the controller hears of it, the engine does not
			_, _, err := r.ctl.Event(classify.Event{Type: classify.EventCQErr,
				Element: classify.Element{Device: r.peer.rails[0].pair.Local, CQ: old.qps[0][0].cq.ID()}}, r.ctl.Now())
			require.NoError(t, err)
		}
		require.Equal(t, cc.Quarantined, r.state(0))
		r.until(old.retired.Load, "the endpoint looks fine, and must go nevertheless")
		asked := time.Now()
		r.until(func() bool { return r.state(0) <= cc.Congested }, "the probe must bring the pair back")
		assert.Less(t, time.Since(asked), time.Second)
	})
}

// A probe that hangs is ended by its deadline like any other slice.
func TestProbeInABlackHole(t *testing.T) {
	o := probed(options{engine: func(c *Config) { c.Deadline, c.FlushGrace = time.Second, 100*time.Millisecond }})
	bubble(t, o, func(t *testing.T, r *rig) {
		hole := r.swallow()
		time.Sleep(10 * time.Second)
		sent, _ := r.probes()
		assert.GreaterOrEqual(t, sent, uint64(3), "after each deadline another one")
		require.NoError(t, hole())
		r.until(func() bool { return r.state(0) <= cc.Congested }, "a probe must bring the pair back")
	})
}

// swallow makes a black hole of the first pair, while a probe of it is due.
func (r *rig) swallow() (undo func() error) {
	r.t.Helper()
	unblock := r.quarantine()
	require.NoError(r.t, unblock())
	undo, err := r.net.BlackHole(r.a.NICs()[0], r.b.NICs()[0])
	require.NoError(r.t, err)
	return undo
}

// While a probe hangs on an endpoint that was retired, its successor is left alone.
func TestOneProbeOnARail(t *testing.T) {
	bubble(t, probed(options{}), func(t *testing.T, r *rig) {
		undo, err := r.net.Block(r.a.NICs()[0], r.b.NICs()[0])
		require.NoError(t, err)
		_, err = r.peer.Put(r.limit(), "object", r.buffer(64<<10))
		require.NoError(t, err)
		require.Equal(t, cc.Suspect, r.state(0))
		require.NoError(t, undo())
		_, err = r.net.BlackHole(r.a.NICs()[0], r.b.NICs()[0])
		require.NoError(t, err)
		r.until(func() bool { sent, _ := r.probes(); return sent == 1 }, "a suspect pair is due")
		for range 3 {
			r.until(func() bool { return r.peer.rails[0].current() != nil }, "the next endpoint")
			r.peer.rails[0].retire(r.peer.rails[0].current())
			time.Sleep(time.Second)
		}
		sent, _ := r.probes()
		assert.EqualValues(t, 1, sent, "the first probe is still out")
	})
}

// A peer that is closed takes a probe on the wire down with it.
func TestCloseWithAProbeOnTheWire(t *testing.T) {
	bubble(t, probed(options{}), func(t *testing.T, r *rig) {
		r.swallow()
		r.until(func() bool { return r.state(0) == cc.Probing }, "a probe must hang")
		began := time.Now()
		r.peer.Close()
		assert.Less(t, time.Since(began), r.engine.cfg.Deadline, "it is not waited for")
		r.nothingInFlight()
	})
}
