//go:build guest

package transfer

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/fabric/verbsfabric"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/internal/softroce"
	prail "github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/rdmagate/rdmagate/verbs"
)

// guestRig is an engine and a server on the two hosts of the Soft-RoCE guest.
type guestRig struct {
	*rig
	lab *softroce.Lab
}

func newGuestRig(t *testing.T, o options, opts ...Option) *guestRig {
	t.Helper()
	lab, err := softroce.Current()
	require.NoError(t, err, "this test needs the Soft-RoCE guest; run it with guestexec")
	t.Cleanup(func() { assert.NoError(t, lab.Heal()) })
	names := func(nics []softroce.NIC) (list []string) {
		for _, n := range nics {
			list = append(list, n.Device)
		}
		return list
	}
	a, err := verbsfabric.Open("guest", names(lab.A)...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, a.Close(), "closing host a: something was not closed") })
	b, err := verbsfabric.Open("guest", names(lab.B)...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, b.Close(), "closing host b: something was not closed") })
	g := &guestRig{&rig{t: t, a: a, b: b}, lab}

	numbers := cc.DefaultConfig()
	numbers.Mode = cc.Enforce
	numbers.StartWindowBytes = 128 << 10
	if o.cc != nil {
		o.cc(&numbers)
	}
	g.ctl, err = cc.New(numbers, cc.WithTransitions(o.hook), cc.WithRecorder(o.recorder))
	require.NoError(t, err)
	cfg := DefaultConfig()
	cfg.AckTimeout, cfg.Retry = 15, 2 // 0.4 s: well above the queues of an emulated fabric
	cfg.ProbeAckTimeout, cfg.ProbeRetry = cfg.AckTimeout, cfg.Retry
	if o.engine != nil {
		o.engine(&cfg)
	}
	host := fabric.Host(a)
	if o.wrap != nil {
		host = o.wrap(a)
	}
	g.engine, err = New(host, g.ctl, cfg, append(opts, WithName("a"))...)
	require.NoError(t, err)
	sc := DefaultServerConfig()
	sc.Name = "b"
	g.server, err = NewServer(b, sc)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, g.engine.Close(), "closing the engine")
		assert.NoError(t, g.server.Close(), "closing the server")
		g.nothingInFlight()
	})
	near, far := net.Pipe()
	go g.server.Serve(far)
	g.peer, err = g.engine.Connect(t.Context(), near)
	require.NoError(t, err)
	return g
}

// A run that was recorded one call at a time is answered the same when it is replayed.
func TestGuestRecordingReplays(t *testing.T) {
	var file bytes.Buffer
	rec := recorder.New(recorder.Serial(), recorder.Stream(&file, recorder.Binary))
	t.Run("a run with a blocked pair", func(t *testing.T) {
		g := newGuestRig(t, options{recorder: rec, cc: func(c *cc.Config) {
			quick(c)
			c.Prober = true
		}})
		undo, err := g.lab.Block(g.lab.A[0], g.lab.B[0])
		require.NoError(t, err)
		for i := range 3 {
			_, err := g.peer.Put(t.Context(), fmt.Sprint("object-", i), g.buffer(4<<20))
			require.NoError(t, err)
		}
		g.until(func() bool { return g.state(0) >= cc.Quarantined }, "the blocked pair")
		require.NoError(t, undo())
		g.until(func() bool { return g.state(0) <= cc.Congested }, "a probe must bring it back")
	})
	require.NoError(t, rec.Close())
	in, err := scenario.NewReader(&file)
	require.NoError(t, err)
	var barred seenBarred
	result, err := replay.Run(in, replay.Options{Tracer: &barred})
	require.NoError(t, err)
	t.Logf("%d statements, %d answers compared", result.Statements, result.Answers)
	assert.Greater(t, result.Answers, int64(500))
	assert.Zero(t, result.Lost, "the recording is complete")
	assert.Zero(t, result.Mismatched, "%v", result.Mismatches)
	assert.Zero(t, result.Different, "%v", result.Differences)
	assert.True(t, bool(barred), "the replay quarantines a route too")
}

// seenBarred looks for a quarantine in a replay.
type seenBarred bool

func (b *seenBarred) Trace(s *replay.Step) {
	for _, t := range s.Transitions {
		*b = *b || t.To == cc.Quarantined
	}
}

// 256 MiB over two NICs a side, with a pair that is blocked for the middle third.
func TestGuestMovesAndChecks256MiB(t *testing.T) {
	const object, objects = 16 << 20, 8 // put, and got back
	var past history
	g := newGuestRig(t, options{hook: past.add, cc: func(c *cc.Config) {
		c.Cooldown, c.CooldownCap, c.ProbeInterval = 2*time.Second, 4*time.Second, 500*time.Millisecond
		// A QP sends again after 134 ms, and Soft-RoCE has been seen to complete a READ
		// without its data then: queues must stay well below.
		c.TargetDrain = 50 * time.Millisecond
		c.Prober = true
	}})
	require.Len(t, g.peer.rails, 4, "two NICs a side make four rails")
	blocked := g.peer.rails[0]
	var retries, checked, before int64
	unblock := func() error { return nil }
	for i := range objects {
		var err error
		switch i {
		case objects / 3:
			unblock, err = g.lab.Block(g.lab.A[0], g.lab.B[0])
			require.NoError(t, err)
		case 2 * objects / 3:
			require.NoError(t, unblock())
			before = blocked.meter.read(g.ctl.Now()).delivered
		}
		name := fmt.Sprint("object-", i)
		sent, err := g.engine.NewBuffer(object)
		require.NoError(t, err)
		fill(sent.Bytes(), uint64(i))
		put, err := g.peer.Put(t.Context(), name, sent)
		require.NoError(t, err)
		got, get, err := g.peer.Get(t.Context(), name)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(sent.Bytes(), got.Bytes()), "object %d must come back as it was put", i)
		assert.Equal(t, taskstate.Normal, put.Task.State, "every slice succeeded in the end: %v", put.Task)
		retries += put.Retries + get.Retries
		checked += put.Checked + get.Checked
		require.NoError(t, sent.Close())
		require.NoError(t, got.Close())
		require.NoError(t, g.peer.Delete(t.Context(), name))
	}
	assert.EqualValues(t, 2*objects*object, checked, "bytes whose checksums were compared")
	assert.NotZero(t, retries, "slices that met the blocked pair must have been retried on another rail")
	assert.NotZero(t, g.classes()[classify.ClassRouteTimeout], "the blocked pair must show as RETRY_EXC_ERR")
	assert.Greater(t, g.peer.rails[0].builds.Load(), uint64(1), "the blocked pair's endpoint must have been built again")
	list := past.of(blocked.route)
	after := blocked.meter.read(g.ctl.Now()).delivered - before
	assert.True(t, slices.ContainsFunc(list, func(tr cc.Transition) bool { return tr.To == cc.Quarantined }),
		"the blocked pair must have been quarantined: %v", list)
	g.until(func() bool { return blocked.route.State() <= cc.Congested }, "a probe must bring the pair back, also without traffic")
	sent, succeeded := g.probes()
	assert.NotZero(t, succeeded, "the trial that succeeded must have been a probe, of %d", sent)
	g.nothingInFlight()
	t.Logf("%d bytes checked, %d slices retried, outcomes %v, %d probes; the pair carried %d bytes after the unblock: %v",
		checked, retries, g.classes(), sent, after, list)
}

// What the engine's tasks say after each kind of real failure.
func TestGuestTaskStates(t *testing.T) {
	firstPair := WithRails(&prail.File{All: []prail.FilePair{{Local: "rxa0", Remote: "rxb0"}}})
	block := func(t *testing.T, g *guestRig) {
		_, err := g.lab.Block(g.lab.A[0], g.lab.B[0])
		require.NoError(t, err)
	}
	withImm := &hooks{post: func(qp fabric.QP, wrs []verbs.SendWR) (int, error) {
		for i := range wrs {
			wrs[i].Op = verbs.OpWriteWithImm // needs a receive, and none is posted
		}
		return qp.PostSend(wrs)
	}}
	for _, tc := range []struct {
		name   string
		wrap   func(fabric.Host) fabric.Host
		before func(*testing.T, *guestRig)
		object func(*Object)
		after  func(*testing.T, *guestRig, *Transfer)
		state  taskstate.State
		reason classify.Reason
		status classify.Status
	}{
		{
			name:   "blocked pair",
			before: block,
			state:  taskstate.Congested, reason: classify.ReasonRouteTimeout, status: classify.StatusRetryExcErr,
		},
		{
			name: "destroyed peer",
			before: func(t *testing.T, g *guestRig) {
				ask := disconnectRequest{Endpoint: g.peer.rails[0].endpoint.Load().remote}
				require.NoError(t, g.peer.control.call(t.Context(), opDisconnect, ask, nil))
			},
			state: taskstate.Congested, reason: classify.ReasonRouteTimeout, status: classify.StatusRetryExcErr,
		},
		{
			name:  "receiver not ready",
			wrap:  withImm.wrap,
			state: taskstate.Congested, reason: classify.ReasonReceiverPressure, status: classify.StatusRNRRetryExcErr,
		},
		{
			name: "bad rkey",
			object: func(o *Object) {
				for nic, key := range o.Keys {
					o.Keys[nic] = Key{Addr: key.Addr, RKey: key.RKey ^ 0x5555}
				}
			},
			state: taskstate.Unknown, reason: classify.ReasonRemoteMetadata, status: classify.StatusRemAccessErr,
		},
		{
			name: "teardown",
			before: func(t *testing.T, g *guestRig) {
				_, err := g.lab.BlackHole(g.lab.A[0], g.lab.B[0])
				require.NoError(t, err)
			},
			after: func(t *testing.T, g *guestRig, tr *Transfer) {
				g.until(func() bool { return g.peer.rails[0].route.InFlight() > 0 }, "nothing was posted")
				require.NoError(t, g.engine.Close())
			},
			state: taskstate.Unknown, reason: classify.ReasonNone,
		},
		{
			name: "deadline in a black hole",
			before: func(t *testing.T, g *guestRig) {
				_, err := g.lab.BlackHole(g.lab.A[0], g.lab.B[0])
				require.NoError(t, err)
			},
			state: taskstate.Congested, reason: classify.ReasonRouteTimeout,
		},
		{
			name:  "success",
			state: taskstate.Normal, reason: classify.ReasonNone,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGuestRig(t, options{cc: wide, wrap: tc.wrap, engine: func(c *Config) {
				c.MaxAttempts, c.AckTimeout, c.RNRRetry = 1, 10, 2
				c.Deadline, c.FlushGrace = 2*time.Second, 200*time.Millisecond
			}}, firstPair)
			const length = 64 << 10 // one slice
			object, err := g.peer.create(t.Context(), "object", length)
			require.NoError(t, err)
			if tc.object != nil {
				tc.object(&object)
			}
			if tc.before != nil {
				tc.before(t, g)
			}
			tr, err := g.peer.Start(Write, g.buffer(length), object)
			require.NoError(t, err)
			if tc.after != nil {
				tc.after(t, g, tr)
			}
			err = tr.Wait(g.limit())
			assert.Equal(t, tc.state == taskstate.Normal, err == nil, "the transfer's error: %v", err)

			d := tr.Detail()
			assert.Equal(t, tc.state, d.State, "%v", d)
			reason, _ := d.Reason.Get()
			assert.Equal(t, tc.reason, reason, "%v", d)
			if tc.status != classify.StatusSuccess {
				v, seen := d.Verdict.Get()
				require.True(t, seen, "the completion must be part of the detail: %v", d)
				assert.EqualValues(t, tc.status, v.Raw(), "status of the completion: %v", v)
				pair, _ := d.Pair.Get()
				assert.Equal(t, g.peer.rails[0].pair, pair, "the path that failed")
				generation, _ := d.Generation.Get()
				assert.EqualValues(t, 1, generation, "the generation that failed")
			}
			g.nothingInFlight()
		})
	}
}

// A slice that met a blocked pair and succeeds on another rail leaves a NORMAL
// task that remembers what it got past.
func TestGuestRetryResolvesTheTimeout(t *testing.T) {
	g := newGuestRig(t, options{cc: wide, engine: func(c *Config) { c.AckTimeout = 10 }})
	_, err := g.lab.Block(g.lab.A[0], g.lab.B[0])
	require.NoError(t, err)
	report, err := g.peer.Put(t.Context(), "object", g.buffer(256<<10)) // a slice for each rail
	require.NoError(t, err)
	assert.NotZero(t, report.Retries, "one slice must have met the blocked pair")
	assert.Equal(t, taskstate.Normal, report.Task.State, "%v", report.Task)
	resolved, _ := report.Task.Resolved.Get()
	assert.True(t, resolved, "%v", report.Task)
	reason, _ := report.Task.Reason.Get()
	assert.Equal(t, classify.ReasonRouteTimeout, reason, "%v", report.Task)
}

func TestGuestPeerVanishes(t *testing.T) {
	g := newGuestRig(t, options{})
	tr := g.start(16 << 20)
	require.NoError(t, g.server.Close())
	require.ErrorIs(t, tr.Wait(g.limit()), ErrPeerGone)
	g.nothingInFlight()
}

// A link that goes down is reported by its own device, and traffic goes on over the
// other.
func TestGuestLinkDownAndUp(t *testing.T) {
	g := newGuestRig(t, options{})
	sent := g.buffer(4 << 20)
	undo, err := g.lab.LinkDown(g.lab.A[0])
	require.NoError(t, err)
	_, err = g.peer.Put(t.Context(), "down", sent)
	require.NoError(t, err, "the rails of the other NIC must do")
	require.NoError(t, undo())
	_, err = g.peer.Put(t.Context(), "up", sent)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(sent.Bytes(), g.stored("down")) && bytes.Equal(sent.Bytes(), g.stored("up")), "every slice must arrive")
	g.nothingInFlight()
}
