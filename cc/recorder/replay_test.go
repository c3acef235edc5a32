package recorder_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chance makes calls by chance.
type chance struct {
	*rand.Rand
	now     time.Duration
	ctl     *cc.Controller
	routes  []*cc.Route
	gens    []cc.Generation
	qps     []uint64
	pollers []*cc.Poller
	lastQP  uint64
	permits [16]struct {
		cc.Permit
		use   cc.Use
		route int
	}
	lists [3]struct {
		cc.List
		use cc.Use
	}
	tasks [8]taskstate.Task
}

// newChance makes a controller with six routes on two devices.
func newChance(t *testing.T, seed uint64, rec *recorder.Recorder) *chance {
	c := &chance{Rand: rand.New(rand.NewPCG(seed, 3)), now: time.Minute}
	cfg := cc.DefaultConfig()
	cfg.Mode, cfg.Prober = []cc.Mode{cc.Enforce, cc.Observe}[seed%2], seed%3 == 0
	cfg.Law, cfg.KeepLastRoute = []cc.Law{cc.LawEpoch, cc.LawRound}[seed/2%2], seed%5 == 0
	cfg.StartWindowBytes, cfg.MinWindowBytes, cfg.DeviceWindowBytes = 128<<10, 64<<10, 512<<10
	ctl, err := cc.New(cfg, cc.WithRecorder(rec), cc.WithClock(func() time.Duration { return c.now }),
		cc.WithJitter(func() float64 { return 0.8 + 0.4*c.Float64() }))
	require.NoError(t, err)
	c.ctl = ctl
	for i := range 6 {
		local := fmt.Sprint("D", i%2)
		if i < 2 {
			p, err := ctl.NewPoller(local, 1)
			require.NoError(t, err)
			c.pollers = append(c.pollers, p)
		}
		route, err := ctl.Route(rail.Pair{Peer: fmt.Sprint("P", i%3), Local: local, Port: uint8(1 + i/4), Remote: fmt.Sprint("n", i)})
		require.NoError(t, err)
		c.routes, c.gens, c.qps = append(c.routes, route), append(c.gens, 0), append(c.qps, 0)
		c.renew(i)
	}
	return c
}

func (c *chance) renew(i int) {
	c.lastQP++
	if gen, err := c.routes[i].Renew(c.gens[i], []cc.QP{{ID: c.lastQP, CQ: uint64(1 + c.IntN(2))}}); err == nil {
		c.gens[i], c.qps[i] = gen, c.lastQP
	}
}

func (c *chance) outcome() classify.Verdict {
	switch c.IntN(12) {
	case 0:
		return retryExc
	case 1:
		return classify.Of([]classify.Signal{classify.SignalCancel, classify.SignalTeardown, classify.SignalDeadlineProgressing}[c.IntN(3)])
	case 2:
		return classify.Completion(classify.Status(c.IntN(24)), c.Uint32N(256))
	}
	return success
}

func (c *chance) step() {
	if c.IntN(3) == 0 {
		c.now += time.Duration(c.ExpFloat64() * float64(2*time.Millisecond))
	}
	i, l := c.IntN(len(c.routes)), &c.lists[c.IntN(len(c.lists))]
	p, task := &c.permits[c.IntN(len(c.permits))], &c.tasks[c.IntN(len(c.tasks))]
	route, gen := c.routes[i], c.gens[i]
	switch c.IntN(100) {
	case 0:
		c.now += time.Duration(c.Int64N(int64(40 * time.Second)))
	case 1, 2, 3:
		c.renew(i)
	case 4:
		e := []classify.EventType{classify.EventPortErr, classify.EventPortActive, classify.EventQPFatal, classify.EventCQErr}[c.IntN(4)]
		_, _, _ = c.ctl.Event(classify.Event{Type: e, Element: classify.Element{Device: fmt.Sprint("D", i%2), Port: 1, QP: c.qps[i], CQ: 2}}, c.now)
	case 5, 6, 7, 8:
		for _, p := range c.pollers {
			p.Beat(c.now)
		}
		c.ctl.Tick(c.now)
	case 9:
		for _, r := range c.ctl.Due(c.now) {
			if d := r.TryProbe(&p.Permit, gen, 64); d.Admitted() {
				p.use, p.route = d.Use, i
			}
		}
	case 10:
		if d := route.Handoff(&p.Permit, gen, task); d.Admitted() {
			p.use, p.route = d.Use, i
		}
	case 11:
		p.Unposted()
	case 12:
		task.NextAttempt()
	case 13, 14, 15:
		sizes := make([]int64, 1+c.IntN(8))
		for k := range sizes {
			sizes[k] = 4<<10 + c.Int64N(4<<10)
		}
		if d := route.TryAcquireList(&l.List, gen, sizes, task); d.Admitted() {
			l.use = d.Use
			if l.Posting(c.qps[i], c.now) == nil && c.IntN(4) == 0 {
				l.Unposted(c.IntN(8))
			}
		}
	case 16, 17, 18, 19:
		l.Settle(l.use, c.Uint32(), c.outcome(), c.now)
	default:
		switch {
		case c.IntN(2) == 0:
			p.Settle(p.use, c.outcome(), c.now)
		default:
			if d := route.TryAcquire(&p.Permit, gen, 1+c.Int64N(96<<10), task); d.Admitted() {
				p.use, p.route = d.Use, i
			}
			_ = p.Posting(c.qps[p.route], c.now)
		}
	}
}

// A serial recording is all that there is to know: replayed, every call is answered as it
// was, and tells of the same transitions.
func TestSerialRecordingReplays(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rec := recorder.New(recorder.Serial())
			c := newChance(t, seed, rec)
			for range 4000 {
				c.step()
			}
			var dump bytes.Buffer
			require.NoError(t, rec.Dump(&dump, []recorder.Format{recorder.Text, recorder.Binary}[seed/2%2]))
			in, err := scenario.NewReader(&dump)
			require.NoError(t, err)
			result, err := replay.Run(in, replay.Options{})
			require.NoError(t, err)
			for _, m := range append(result.Mismatches, result.Differences...) {
				t.Errorf("%+v", m)
				break
			}
			assert.Zero(t, result.Mismatched+result.Different, "of %d answers", result.Answers)
			assert.Greater(t, result.Answers, int64(2000))
		})
	}
}
