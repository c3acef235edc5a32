package fabriclab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/fabric"
)

// A large slice, which exceeds the window, is passed by smaller ones for two drain times of
// the controller and no longer. These are of the epoch before, so not those of the moment.
func TestMix(t *testing.T) {
	v := short(t, "epoch", func(a Arm) (Outcome, error) { return mix(1, a, 100e9, false, 15*time.Millisecond) })
	assert.Greater(t, v["behind smaller ones, longest"], 1.0)
	assert.Less(t, v["behind smaller ones, longest"], 5.0)
	v = short(t, "none", func(a Arm) (Outcome, error) { return mix(1, a, 100e9, false, 15*time.Millisecond) })
	assert.Less(t, v["behind smaller ones, longest"], 1.0)
	assert.InDelta(t, 80, v["large slices"], 1, "five queues in turn")
}

// A wait ends with the admission; what came before the last smaller slice is behind it.
func TestWaits(t *testing.T) {
	b := mustBed(t, "none", fabric.Config{Topology: fabric.Star(2)}, DefaultSettings())
	f := b.Flow(1, 0, fabric.Write)
	f.waits = []wait{}
	s := f.newSlice(&transfer{left: 1}, mib)
	f.queue = []*slice{s}
	f.overtake(&slice{bytes: 1}, 3)
	assert.Zero(t, s.overtaken, "it was not refused yet")
	s.refused = 5
	f.overtake(&slice{bytes: 1}, 7)
	f.overtake(&slice{bytes: mib}, 9)
	assert.Equal(t, []wait{{5, 20, 7}}, f.waited(20))
	f.take(s, 12)
	assert.Equal(t, []wait{{5, 12, 7}}, f.waited(20))
}

// Early suspicion takes a dying path out of use long before QPs give up; without
// control a rebuilt endpoint is posted on again.
func TestDeath(t *testing.T) {
	run := func(arm string, light bool) map[string]float64 {
		return short(t, arm, func(a Arm) (Outcome, error) { return death(1, a, peerFault, light, 700*time.Millisecond) })
	}
	none := run("none", false)
	assert.Greater(t, none["last new slice into it after"], 500.0)
	assert.Greater(t, none["lost slices"], 100.0)
	gated := run("round", false)
	assert.Less(t, gated["last new slice into it after"], 100.0)
	assert.Less(t, gated["lost slices"], 20.0)
	// With room for more than the one slice that is lost.
	assert.Less(t, run("round,start=1MiB", true)["last new slice into it after"], 100.0)
	assert.Greater(t, run("round,start=1MiB,silence=0s", true)["last new slice into it after"], 100.0)
}

// A port event reaches the controller in the same instant, or as late as it comes.
func TestPortEvents(t *testing.T) {
	for _, f := range []fault{portFault, lateFault} {
		d, err := newTwoRails(1, mustArm(t, "epoch"), 1e9, false)
		require.NoError(t, err)
		d.Sim.At(20*time.Millisecond, func() { d.die(f) })
		d.Sim.Run(20*time.Millisecond + f.notice.Late)
		quarantined := 0
		for _, m := range d.moves {
			if m.Notice == cc.NoNotice {
				quarantined++
				assert.Equal(t, cc.Quarantined, m.To, f.name)
				assert.Equal(t, d.Sim.Now(), m.At, f.name)
			}
		}
		assert.Equal(t, 2, quarantined, f.name)
		require.NoError(t, d.Finish())
	}
}

func TestRepair(t *testing.T) {
	o := outage{"", 1e9, 1500 * time.Millisecond, 2 * time.Second, 5 * time.Second}
	for _, arm := range []string{"none", "epoch"} {
		v := short(t, arm, func(a Arm) (Outcome, error) { return repair(1, a, peerFault, o) })
		assert.Positive(t, v["user slices again after"], arm)
		assert.Less(t, v["user slices again after"], 1.3, "%s: longer than a probe interval", arm)
	}
}

// A congested path is used on, unless a storm lasts for longer than suspicion takes.
func TestDiversion(t *testing.T) {
	run := func(longest time.Duration) float64 {
		w := congested.with(longest)
		w.storms = 100 * time.Millisecond
		v := short(t, "round", func(a Arm) (Outcome, error) { return diversion(1, a, w, 500*time.Millisecond) })
		assert.Zero(t, v["lost slices"])
		return v["SUSPECT or QUARANTINED"]
	}
	assert.Zero(t, run(20*time.Millisecond))
	assert.Positive(t, run(300*time.Millisecond))
}

// The model without packets is as slow as the fabric, and storms that are longer than
// suspicion takes are seen in it.
func TestHour(t *testing.T) {
	fabric := short(t, "round", func(a Arm) (Outcome, error) { return diversion(1, a, congested, 500*time.Millisecond) })
	model := short(t, "round", func(a Arm) (Outcome, error) { return hourOf(1, a, congested, 500*time.Millisecond) })
	for _, figure := range []string{"slice time, median", "goodput"} {
		assert.InEpsilon(t, fabric[figure], model[figure], 0.4, figure)
	}
	stormy := short(t, "round", func(a Arm) (Outcome, error) {
		return hourOf(1, a, congested.with(300*time.Millisecond), 10*time.Second)
	})
	assert.Positive(t, stormy["SUSPECT or QUARANTINED"])
}

// Trials of many are spread, as far as jitter goes and no further.
func TestHerd(t *testing.T) {
	out, err := herd(1, mustArm(t, "epoch"), false, 24*time.Second, 36*time.Second, 50)
	require.NoError(t, err)
	trials := out.Series[0].Values
	sum := func(from, until int) (n float64) {
		for _, v := range trials[from:until] {
			n += v
		}
		return n
	}
	assert.Zero(t, sum(0, 24), "%v", trials)
	assert.Equal(t, 50.0, sum(24, 37), "%v", trials)
	assert.Less(t, out.Values["peak of a second"], 15.0)
	out, err = herd(1, mustArm(t, "epoch"), true, 0, 24*time.Second, 50)
	require.NoError(t, err)
	assert.Greater(t, out.Values["mean of a second"], 25.0, "a trial each 0.8 to 1.2 s, and the time that it takes to fail")
}
