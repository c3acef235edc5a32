package transfer

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	prail "github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// carried returns the bytes that each rail has delivered.
func (r *rig) carried() (list []int64) {
	for _, rail := range r.peer.rails {
		list = append(list, rail.meter.read(r.ctl.Now()).delivered)
	}
	return list
}

// What fits goes over the pairs of the same rail, in turn: those of equal positions.
func TestSlicesTakeTurnsOnTheBestRails(t *testing.T) {
	bubble(t, options{cc: wide}, func(t *testing.T, r *rig) {
		const slice = 64 << 10
		_, err := r.peer.Put(r.limit(), "even", r.buffer(4*slice))
		require.NoError(t, err)
		assert.Equal(t, []int64{2 * slice, 2 * slice, 0, 0}, r.carried(), "slices of one round")
		for _, name := range []string{"a", "b", "c", "d"} {
			_, err = r.peer.Put(r.limit(), name, r.buffer(slice))
			require.NoError(t, err)
		}
		assert.Equal(t, []int64{4 * slice, 4 * slice, 0, 0}, r.carried(), "one slice in each of four rounds")
	})
}

// When the best rails are full the others carry what is left.
func TestFullRailsArePassedOver(t *testing.T) {
	fixed := func(c *cc.Config) { c.MaxWindowBytes = c.StartWindowBytes }
	bubble(t, options{cc: fixed}, func(t *testing.T, r *rig) {
		_, err := r.peer.Put(r.limit(), "object", r.buffer(8<<20))
		require.NoError(t, err)
		for i, bytes := range r.carried() {
			assert.NotZero(t, bytes, "rail %d", i)
		}
	})
}

// A suspect pair is asked after all healthy ones, and a paused one last.
func TestTroubledRailsComeLast(t *testing.T) {
	bubble(t, options{cc: wide}, func(t *testing.T, r *rig) {
		for i, b := range []prail.Breaker{{Count: 1}, {Paused: true, Resume: 1 << 62, NextTrial: 1 << 62}} {
			r.setPause(i, b)
		}
		var leads []int
		order := func() (list []int) {
			c := newCandidates(r.peer, 0)
			c.begin()
			assert.Equal(t, prail.Found, c.outcome)
			for len(c.list) > 0 {
				leads = append(leads, c.lead)
				k, rail := c.next(nil)
				for i := range r.peer.rails {
					if r.peer.rails[i] == rail {
						list = append(list, i)
					}
				}
				c.pass(k)
			}
			return list
		}
		assert.Equal(t, []int{2, 3, 0, 1}, order(), "cross-rail pairs that are healthy, the suspect, the paused")
		assert.Equal(t, []int{2, 1, 1, 1}, leads, "pairs that take turns")
		samples := r.peer.NewSampler().Sample()
		assert.Equal(t, []bool{false, false, true, true}, []bool{samples[0].First, samples[1].First, samples[2].First, samples[3].First})
	})
}

// setPause makes the controller's pause table say something of a rail.
func (r *rig) setPause(rail int, b prail.Breaker) {
	r.t.Helper()
	pair := r.peer.rails[rail].pair
	peer := r.table.Join(pair)
	defer peer.Leave(pair)
	peer.Update(pair, r.ctl.Now(), func(at *prail.Breaker) bool {
		at.Count, at.Paused, at.Resume, at.NextTrial, at.LastFailure = b.Count, b.Paused, b.Resume, b.NextTrial, r.ctl.Now()
		return true
	})
	r.ctl.Due(r.ctl.Now()) // the controller takes it in
}

// A slice that failed asks another rail first, and its own if that is the only one.
func TestFailedSliceAsksAnotherRail(t *testing.T) {
	bubble(t, options{cc: wide}, func(t *testing.T, r *rig) {
		c := newCandidates(r.peer, 0)
		c.begin()
		for _, rail := range r.peer.rails {
			_, other := c.next(rail)
			assert.NotSame(t, rail, other)
		}
		for len(c.list) > 1 {
			c.pass(0)
		}
		last := c.rail(0)
		_, rail := c.next(last)
		assert.Same(t, last, rail)
	})
}

func TestAllPausedIsToldApart(t *testing.T) {
	bubble(t, options{cc: wide, engine: func(c *Config) { c.Patience = 1 }}, func(t *testing.T, r *rig) {
		for i := range r.peer.rails {
			r.setPause(i, prail.Breaker{Paused: true, Resume: 1 << 62, NextTrial: 1 << 62})
		}
		report, err := r.peer.Put(r.limit(), "object", r.buffer(64<<10))
		require.ErrorIs(t, err, ErrAllPaused)
		require.ErrorIs(t, err, ErrNoUsablePath)
		assert.Equal(t, taskstate.LongUnavailable, report.Task.State)
	})
}

// Pairs that a rail file leaves out, or that are in other subnets, get no rail.
func TestExcludedPairs(t *testing.T) {
	pin := func(pairs ...string) *prail.File {
		var f prail.File
		for i := 0; i < len(pairs); i += 2 {
			f.All = append(f.All, prail.FilePair{Local: pairs[i], Remote: pairs[i+1]})
		}
		return &f
	}
	apart := []netip.Addr{netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("10.2.0.1")}
	var log bytes.Buffer
	for _, tc := range []struct {
		name  string
		opts  []Option
		rails []string
		want  string
	}{
		{name: "a rail file", opts: []Option{WithRails(pin("sima1", "simb0"))}, rails: []string{"sima1:1->simb0"}},
		{name: "a rail file with a NIC that nobody has", opts: []Option{WithRails(pin("sima1", "simb0", "sima7", "simb0")),
			WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}, rails: []string{"sima1:1->simb0"}},
		{name: "a prefix", opts: []Option{WithPrefix(16, 0)}, rails: []string{"sima0:1->simb0", "sima1:1->simb1"}},
		{name: "a rail file of other NICs", opts: []Option{WithRails(pin("mlx5_0", "mlx5_0"))}, want: `no local NIC is named "mlx5_0"`},
		{name: "a prefix that nobody shares", opts: []Option{WithPrefix(32, 0)}, want: "sima0 to simb0: other subnet: local in 10.1.0.1/32, remote in 10.1.0.2/32"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := startRig(t, options{addrs: apart}, tc.opts...)
			near, far := net.Pipe()
			go r.server.Serve(far)
			p, err := r.engine.Connect(r.limit(), near)
			if tc.want != "" {
				require.ErrorIs(t, err, ErrNoPath)
				assert.ErrorContains(t, err, tc.want)
				assert.Empty(t, r.ctl.Snapshot().Routes)
				return
			}
			require.NoError(t, err)
			var rails []string
			for _, rail := range p.rails {
				rails = append(rails, rail.pair.Local+":1->"+rail.pair.Remote)
			}
			assert.Equal(t, tc.rails, rails)
			_, err = p.Put(r.limit(), "object", r.buffer(1<<20))
			require.NoError(t, err)
			require.NoError(t, r.engine.Close(), "nobody logs any more")
		})
	}
	assert.Equal(t, 1, strings.Count(log.String(), "the rail file does not fit"), "what is misspelt is told: %s", &log)
	assert.Contains(t, log.String(), "sima7")
}
