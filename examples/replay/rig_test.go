package main

import (
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

var update = flag.Bool("update", false, "write the golden files anew")

// call calls replay and returns what it wrote.
func call(t testing.TB, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

// golden compares an output with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "go test -update writes it")
	assert.Equal(t, string(want), got, "go test -update writes %s anew", file)
}

// names of a recording that nobody else may see.
const (
	secretPeer        = "storage-17.example.internal"
	secretIncarnation = "boot-4711"
	secretNIC         = "mlx5_bond_9"
)

// incident records a controller with four routes to two peers: slices by chance, and from
// time to time a path that is dead for a while. It writes about so many records.
func incident(t testing.TB, to io.Writer, form recorder.Format, records int, options ...recorder.Option) {
	t.Helper()
	rec := recorder.New(append([]recorder.Option{recorder.Stream(to, form), recorder.Serial()}, options...)...)
	now := 5 * time.Hour
	rnd := rand.New(rand.NewPCG(3, 14))
	cfg := cc.DefaultConfig()
	cfg.Mode, cfg.Law, cfg.TargetDrain, cfg.Cooldown = cc.Enforce, cc.LawRound, 20*time.Millisecond, 200*time.Millisecond
	ctl, err := cc.New(cfg, cc.WithRecorder(rec), cc.WithClock(func() time.Duration { return now }), cc.WithJitter(func() float64 { return 0.8 + 0.4*rnd.Float64() }))
	require.NoError(t, err)
	var routes [4]*cc.Route
	var gens [4]cc.Generation
	var dead [4]time.Duration // until then
	renew := func(i int) {
		gen, err := routes[i].Renew(gens[i], []cc.QP{{ID: uint64(now/time.Microsecond)<<2 | uint64(i), CQ: 1}})
		require.NoError(t, err)
		gens[i] = gen
	}
	qps := [4]uint64{}
	for i := range routes {
		peer := []string{secretPeer, "other-peer"}[i%2]
		routes[i], err = ctl.Route(rail.Pair{Peer: peer, Incarnation: secretIncarnation, Local: []string{secretNIC, "mlx5_1"}[i/2], Port: 1, Remote: "mlx5_3"})
		require.NoError(t, err)
		renew(i)
		qps[i] = uint64(now/time.Microsecond)<<2 | uint64(i)
	}
	type slice struct {
		cc.Permit
		task  taskstate.Task
		use   cc.Use
		route int
		gen   cc.Generation
	}
	slices := make([]slice, 64)
	success, retryExc := classify.Completion(classify.StatusSuccess, 0), classify.Completion(classify.StatusRetryExcErr, 0x81)
	for n := 0; ; n++ {
		if n%256 == 0 {
			c := rec.Counters()
			if c.Records >= uint64(records) {
				break
			}
			for c.Records > c.Streamed+c.Lost+uint64(c.Slots)/4 { // the stream is behind
				time.Sleep(time.Millisecond)
				c = rec.Counters()
			}
			ctl.Tick(now)
		}
		now += time.Duration(rnd.IntN(200)) * time.Microsecond
		if rnd.IntN(2000) == 0 {
			dead[rnd.IntN(len(dead))] = now + 500*time.Millisecond
		}
		s := &slices[rnd.IntN(len(slices))]
		if s.Held() > 0 {
			if now < dead[s.route] {
				s.Settle(s.use, retryExc, now)
				if s.gen == gens[s.route] {
					renew(s.route)
					qps[s.route] = uint64(now/time.Microsecond)<<2 | uint64(s.route)
				}
			} else {
				s.Settle(s.use, success, now)
			}
			continue
		}
		i := rnd.IntN(len(routes))
		d := routes[i].TryAcquire(&s.Permit, gens[i], 1+rnd.Int64N(64<<10), &s.task)
		if d.Hint == cc.NeedRenew {
			renew(i)
			qps[i] = uint64(now/time.Microsecond)<<2 | uint64(i)
		}
		if d.Admitted() {
			s.use, s.route, s.gen = d.Use, i, gens[i]
			require.NoError(t, s.Posting(qps[i], now))
		}
	}
	require.NoError(t, rec.Close())
	require.Zero(t, rec.Counters().Lost)
}

// recording returns one of about so many records as a file.
func recording(t testing.TB, form recorder.Format, records int) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "incident.rec"))
	require.NoError(t, err)
	incident(t, f, form, records)
	require.NoError(t, f.Close())
	return f.Name()
}
