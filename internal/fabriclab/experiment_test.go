package fabriclab

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// figures runs an experiment with one seed.
func figures(t *testing.T, name, arm string) map[string]float64 {
	t.Helper()
	if testing.Short() {
		t.Skip("a run of an experiment takes a second, and many with the race detector")
	}
	for _, e := range Experiments() {
		if e.Name == name {
			out, err := e.Run(1, mustArm(t, arm))
			require.NoError(t, err)
			for _, f := range e.Figures {
				require.Contains(t, out.Values, f.Name, name)
			}
			t.Logf("%s, %s: %v", name, arm, out.Values)
			return out.Values
		}
	}
	t.Fatalf("there is no experiment %q", name)
	return nil
}

// short makes a run that is shorter than the experiment.
func short(t *testing.T, arm string, run func(Arm) (Outcome, error)) map[string]float64 {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes many seconds with the race detector")
	}
	out, err := run(mustArm(t, arm))
	require.NoError(t, err)
	t.Logf("%s: %v", arm, out.Values)
	return out.Values
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Experiments() {
		assert.Regexp(t, regexp.MustCompile(`^[a-z0-9-]+/[a-zA-Z0-9-]+$`), e.Name)
		assert.False(t, seen[e.Name], "two experiments are %s", e.Name)
		seen[e.Name] = true
		assert.NotEmpty(t, e.Setup)
		assert.NotEmpty(t, e.Figures)
	}
}

// Without control an incast of 64 hurts its neighbour as much as it is long. One window
// of a BDP for each sender does not help: 64 of them are as much as the fabric holds.
func TestVictim(t *testing.T) {
	none := figures(t, "victim/64", "none")
	assert.Greater(t, none["slowdown of 5 MB"], 8.0)
	assert.Greater(t, none["slowdown of 1 MB"], 20.0)
	assert.InDelta(t, 1, none["last flow"], 0.05)
	static := figures(t, "victim/64", "static")
	assert.Greater(t, static["slowdown of 5 MB"], 8.0)
}

// Without control senders fill the switch; windows of a BDP keep the queue to those, and
// the link in use.
func TestLongIncast(t *testing.T) {
	run := func(arm string) map[string]float64 {
		return short(t, arm, func(a Arm) (Outcome, error) { return longIncast(1, a, 64, 4*time.Millisecond) })
	}
	none, static := run("none"), run("static")
	assert.Greater(t, none["in the fabric, mean"], 4*static["in the fabric, mean"])
	assert.Greater(t, none["use"], 99.0)
	assert.Greater(t, static["use"], 99.0)
}

func TestDCQCN(t *testing.T) {
	run := func(arm string) map[string]float64 {
		return short(t, arm, func(a Arm) (Outcome, error) { return tenToOne(1, a, 8*time.Millisecond) })
	}
	none, static := run("none"), run("static")
	assert.Greater(t, none["queue, peak"], 1.1*static["queue, peak"])
	assert.Less(t, none["lost"], 10.0)
}

func TestFairness(t *testing.T) {
	for _, arm := range []string{"none", "static"} {
		assert.Greater(t, figures(t, "fairness/join-7", arm)["Jain, least from 5 to 15 ms"], 0.95, arm)
	}
}

// Whatever was posted has to go before the other flow has the line.
func TestRecovery(t *testing.T) {
	none, static := figures(t, "recovery/50ms", "none"), figures(t, "recovery/50ms", "static")
	assert.Greater(t, none["95 % of the line after"], 5.0)
	assert.Less(t, static["95 % of the line after"], 2.0)
}

func TestHealthy(t *testing.T) {
	for _, arm := range []string{"none", "static"} {
		v := figures(t, "healthy/single", arm)
		assert.Greater(t, v["goodput"], 99.0, arm)
		assert.Less(t, v["slice time, p99"], 1.02, arm)
		assert.Greater(t, v["goodput, absolute"], 99.0, arm)
	}
}

// Pauses for a slow receiver stop everything else of the same senders.
func TestSlowReceiver(t *testing.T) {
	assert.Less(t, figures(t, "slowreceiver/30ms", "none")["other flows"], 50.0)
	assert.Greater(t, figures(t, "slowreceiver/30ms", "static")["other flows"], 97.0)
}

func TestFanIn(t *testing.T) {
	run := func(arm string) map[string]float64 {
		return short(t, arm, func(a Arm) (Outcome, error) { return fanIn(1, a, 8, 25*time.Millisecond) })
	}
	none, floor := run("none"), run("epoch,max=64KiB")
	assert.Greater(t, none["posted beyond BDP"], 15.0)
	assert.InDelta(t, 1, floor["posted beyond BDP"], 0.2)
	assert.Greater(t, floor["use"], 99.0)
}

// The same seed is the same run, whatever ran before; another is another.
func TestSeeds(t *testing.T) {
	run := func(seed uint64, arm string) (trace uint64) {
		b, err := newBed(seed, mustArm(t, arm), fabric.Config{Topology: fabric.FatTree(4)}, DefaultSettings())
		require.NoError(t, err)
		for i := range 5 {
			b.Flow(1+i, 6+i, fabric.Write).Transfer(int64(2+seed)*mib+1, slice64, nil)
		}
		require.NoError(t, b.FinishTransfers(time.Second))
		return b.Sim.Trace()
	}
	for _, arm := range []string{"none", "round"} {
		first := run(1, arm)
		assert.NotEqual(t, first, run(2, arm), arm)
		assert.Equal(t, first, run(1, arm), arm)
	}
}
