package transfer

import (
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

// quick has cooldowns that end within a test's traffic.
func quick(c *cc.Config) { c.Cooldown, c.ProbeInterval = 200*time.Millisecond, 50*time.Millisecond }

// history keeps the transitions of a controller.
type history struct {
	mu   sync.Mutex
	list []cc.Transition
}

func (h *history) add(t cc.Transition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, t)
}

func (h *history) of(r *cc.Route) (list []cc.Transition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.list {
		if t.Pair == r.Pair() {
			list = append(list, t)
		}
	}
	return list
}

func (r *rig) state(rail int) cc.State { return r.peer.rails[rail].route.State() }

// A blocked pair is quarantined after a few timeouts, tried now and then on a fresh
// endpoint, and used again once it is unblocked.
func TestBlockedPairIsQuarantinedAndComesBack(t *testing.T) {
	var past history
	bubble(t, options{cc: quick, hook: past.add}, func(t *testing.T, r *rig) {
		r.slow(5e6)
		tr := r.start(20 << 20)
		blocked := r.peer.rails[0]
		undo, err := r.net.Block(r.a.NICs()[0], r.b.NICs()[0])
		require.NoError(t, err)
		r.until(func() bool { return r.state(0) == cc.Quarantined }, "the pair must be quarantined")
		time.Sleep(time.Second) // a few trials, all in vain
		assert.Contains(t, []cc.State{cc.Quarantined, cc.Probing}, r.state(0), "what is blocked must not come back")
		spent := r.classes()[classify.ClassRouteTimeout]
		assert.LessOrEqual(t, spent, uint64(16), "a quarantined pair costs a slice for each trial, and not one for each round")
		require.False(t, done(tr), "the rest is about a transfer under way")

		require.NoError(t, undo())
		before := blocked.meter.read(r.ctl.Now()).delivered
		r.until(func() bool { return r.state(0) <= cc.Congested }, "a trial must bring the pair back")
		require.NoError(t, tr.Wait(r.limit()))
		assert.Greater(t, blocked.meter.read(r.ctl.Now()).delivered, before+(256<<10), "the pair must carry traffic again, not only the trial")
		assert.True(t, string(tr.buffer.Bytes()) == string(r.stored("object")), "every slice must arrive")
		for _, other := range r.peer.rails[1:] {
			for _, tr := range past.of(other.route) {
				assert.LessOrEqual(t, tr.To, cc.Congested, "%s has nothing to do with it: %v", other.pair, tr)
			}
		}
		r.nothingInFlight()
	})
}

func done(t *Transfer) bool {
	select {
	case <-t.Done():
		return true
	default:
		return false
	}
}

// When all pairs are quarantined for longer than the engine's patience, the
// transfer says so.
func TestEveryPairQuarantined(t *testing.T) {
	bubble(t, options{engine: func(c *Config) { c.MaxAttempts, c.Patience = 100, 2*time.Second }}, func(t *testing.T, r *rig) {
		r.slow(50e6)
		tr := r.start(8 << 20)
		r.blockAll()
		began := time.Now()
		require.ErrorIs(t, tr.Wait(r.limit()), ErrAllPaused)
		assert.GreaterOrEqual(t, time.Since(began), r.engine.cfg.Patience, "a transfer waits before it gives up")
		assert.Equal(t, taskstate.LongUnavailable, tr.State(), "%v", tr.Detail())
		for i := range r.peer.rails {
			assert.Equal(t, cc.Quarantined, r.state(i), "rail %d", i)
		}
		r.nothingInFlight()
	})
}

// A trial is not run on an endpoint that was in use when the pair was barred, even
// if that one looks fine.
func TestTrialGetsANewEndpoint(t *testing.T) {
	bubble(t, options{cc: quick}, func(t *testing.T, r *rig) {
		sent := r.buffer(4 << 20)
		_, err := r.peer.Put(r.limit(), "first", sent)
		require.NoError(t, err)
		rail := r.peer.rails[0]
		old := rail.endpoint.Load()
		for _, qp := range old.qps[0][:1] { // the controller hears of it, the engine does not
			for range 3 {
				_, _, err := r.ctl.Event(classify.Event{Type: classify.EventCQErr,
					Element: classify.Element{Device: rail.pair.Local, CQ: qp.cq.ID()}}, r.ctl.Now())
				require.NoError(t, err)
			}
		}
		require.Equal(t, cc.Quarantined, r.state(0))
		require.False(t, old.retired.Load(), "the endpoint looks fine to the engine")
		time.Sleep(time.Second)
		_, err = r.peer.Put(r.limit(), "second", sent)
		require.NoError(t, err)
		assert.True(t, old.retired.Load(), "the trial needs a new endpoint")
		r.until(func() bool { return rail.builds.Load() == 2 }, "and the engine builds it")
		_, err = r.peer.Put(r.limit(), "third", sent)
		require.NoError(t, err)
		assert.LessOrEqual(t, r.state(0), cc.Congested, "the trial succeeded")
	})
}

// The monitor runs: windows follow what the fabric delivers.
func TestWindowsMove(t *testing.T) {
	small := func(c *cc.Config) {
		c.StartWindowBytes, c.Epoch, c.TargetDrain = 64<<10, 10*time.Millisecond, 100*time.Millisecond
	}
	bubble(t, options{cc: small}, func(t *testing.T, r *rig) {
		r.slow(20e6)
		require.NoError(t, r.start(16<<20).Wait(r.limit()))
		assert.Greater(t, r.peer.rails[0].route.Snapshot().WindowBytes, int64(64<<10), "the window must grow while it is the limit and the path is at ease")
		drain, observed := r.peer.rails[0].route.Snapshot().Flow.DrainTime.Get()
		assert.True(t, observed && drain > 0, "drain time %v, observed %v", drain, observed)
		assert.Equal(t, drain, r.peer.NewSampler().Sample()[0].Drain, "a sample shows what the controller observed")
	})
}

// A worker that stands still is a stalled poller to the controller, and one that
// rests is not.
func TestPollersBeat(t *testing.T) {
	h := &hooks{}
	bubble(t, options{wrap: h.wrap, cc: wide, engine: func(c *Config) { c.Workers = 1 }}, func(t *testing.T, r *rig) {
		time.Sleep(5 * time.Second) // at rest
		pressure := func() cc.Pressure { return r.peer.rails[0].route.Snapshot().Flow.Pressure }
		r.slow(10e6)
		tr := r.start(8 << 20)
		r.until(func() bool { return pressure() != cc.PressureNeutral }, "an epoch must be judged")
		assert.NotEqual(t, cc.PressureVoid, pressure(), "a rest is no stall, and a worker that polls does not stall")
		var once sync.Once
		stalled := make(chan struct{})
		h.setPoll(func(cq fabric.CQ, wcs []verbs.WC) (int, error) {
			if r.worksOn(cq) {
				once.Do(func() { <-stalled })
			}
			return cq.Poll(wcs)
		})
		r.until(func() bool { return pressure() == cc.PressureVoid }, "the epochs of a stall must be void")
		close(stalled)
		require.NoError(t, tr.Wait(r.limit()))
	})
}
