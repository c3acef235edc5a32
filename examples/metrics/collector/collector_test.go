package collector

import (
	"expvar"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// A controller is an expvar.Var, and neither package knows the other.
var _ expvar.Var = (*cc.Controller)(nil)

// everything exports all that there is.
func everything(c Controller) *Collector {
	var seen Transitions
	pair := rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}
	for range 2 {
		seen.Add(cc.Transition{Pair: pair, To: cc.Suspect, Reason: classify.ReasonRouteTimeout, At: time.Second})
	}
	seen.Add(cc.Transition{Pair: pair, From: cc.Suspect, To: cc.Quarantined, Reason: classify.ReasonRouteTimeout, At: 2 * time.Second, Cooldown: 30 * time.Second})
	seen.Add(cc.Transition{Pair: pair, From: cc.Healthy, To: cc.Healthy, Notice: cc.PersistentFault, Reason: classify.ReasonLocalConfiguration})

	table := rail.NewTable()
	policy := rail.Policy{Threshold: 1, ErrorWindow: time.Second, Cooldown: 30 * time.Second, CooldownCap: time.Hour, ProbeInterval: time.Second}
	for i, failedAt := range []time.Duration{time.Second, 45 * time.Second, 50 * time.Second} { // it is 60 s now
		pair.Port = uint8(i + 1)
		table.Join(pair).Update(pair, failedAt, func(b *rail.Breaker) bool { return b.Fail(policy, failedAt, 1) })
	}
	return &Collector{Controller: c, Routes: All, Transitions: &seen, Admissions: func() uint64 { return 1234 }, Pauses: table}
}

// What is exported is what the snapshot says, in base units.
func TestValues(t *testing.T) {
	want, err := os.Open("testdata/two.prom")
	require.NoError(t, err)
	defer want.Close()
	require.NoError(t, testutil.CollectAndCompare(everything(two()), want))
}

// Names, units and help texts are as the client library wants them, and every metric is
// consistent with its description.
func TestLint(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(everything(two())))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)

	families, err := registry.Gather()
	require.NoError(t, err)
	assert.Len(t, families, len(descriptors), "every description is used once everything is asked for")
}

// One scrape is one snapshot.
func TestOneSnapshot(t *testing.T) {
	c := two()
	for scrapes := range int64(3) {
		require.Equal(t, scrapes, c.looks.Load())
		testutil.CollectAndCount(everything(c))
	}
}

// Without options there are no series of routes, and so as many with thousands of them
// as with a few; with a bound there are no more than it says.
func TestCardinality(t *testing.T) {
	const perDevice, perRoute = 25, 19 // as the package documentation says
	few, lots := many(8), many(5000)
	assert.Equal(t, 8*perDevice+1, testutil.CollectAndCount(&Collector{Controller: few}))
	assert.Equal(t, 8*perDevice+1, testutil.CollectAndCount(&Collector{Controller: lots}))
	assert.Equal(t, 8*perDevice+2+20*perRoute, testutil.CollectAndCount(&Collector{Controller: lots, Routes: First(20, ByInFlight)}))
	assert.Equal(t, 8*perDevice+2+5000*perRoute, testutil.CollectAndCount(&Collector{Controller: lots, Routes: All}))
	assert.Equal(t, 8*perDevice+2, testutil.CollectAndCount(&Collector{Controller: lots, Routes: First(-1, ByInFlight)}))

	var seen Transitions
	for i := range 5000 {
		seen.Add(cc.Transition{Pair: lots.snapshot.Routes[i].Pair, To: cc.State(i % 5), Reason: classify.Reason(i % 16), Cooldown: time.Duration(i)})
	}
	assert.LessOrEqual(t, testutil.CollectAndCount(&Collector{Controller: few, Transitions: &seen}, "rdmagate_transitions_total"), 8*5*16)
}

// The routes picked are those with the most in flight.
func TestFirst(t *testing.T) {
	c := many(100)
	picked := First(3, ByInFlight)(c.Snapshot().Routes)
	require.Len(t, picked, 3)
	for i, r := range picked {
		assert.Equal(t, int64(99-i), r.InFlightBytes)
	}
	err := testutil.CollectAndCompare(&Collector{Controller: c, Routes: First(3, ByInFlight)}, strings.NewReader(`
		# HELP rdmagate_routes_left_out Routes that have no series of their own.
		# TYPE rdmagate_routes_left_out gauge
		rdmagate_routes_left_out 97
	`), "rdmagate_routes_left_out")
	assert.NoError(t, err)
}

// Names are whatever an engine gives: none makes a scrape fail, and no two become one.
func TestNames(t *testing.T) {
	c := &still{}
	names := []string{"plain", "caf\u00e9", "bad\xff", "bad\xfe", `"bad\xff"`, `"`, "\xff", "\ufffd", "line\nbreak", `back\slash`, "\x00"}
	for _, name := range names {
		c.snapshot.Devices = append(c.snapshot.Devices, cc.DeviceSnapshot{Device: name})
		c.snapshot.Routes = append(c.snapshot.Routes, cc.RouteSnapshot{Pair: rail.Pair{Peer: name, Incarnation: name, Local: name, Port: 1, Remote: name}})
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&Collector{Controller: c, Routes: All})
	n, err := testutil.GatherAndCount(registry, "rdmagate_device_window_bytes", "rdmagate_route_window_bytes")
	require.NoError(t, err)
	assert.Equal(t, 2*len(names), n)
	assert.Equal(t, "caf\u00e9", label("caf\u00e9"), "what can stay as it is stays")
}

// Two controllers of a process are told apart by a label of the registerer.
func TestTwoControllers(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for _, name := range []string{"kv", "checkpoints"} {
		prometheus.WrapRegistererWith(prometheus.Labels{"controller": name}, registry).MustRegister(&Collector{Controller: two()})
	}
	n, err := testutil.GatherAndCount(registry, "rdmagate_controller_info")
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.Error(t, registry.Register(&Collector{Controller: two()}), "without a label the two would be one")
}
