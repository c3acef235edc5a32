package fabriclab

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

func mustArm(t testing.TB, name string) Arm {
	t.Helper()
	a, err := ParseArm(name)
	require.NoError(t, err)
	return a
}

func mustBed(t testing.TB, arm string, cfg fabric.Config, s Settings) *Bed {
	t.Helper()
	b, err := newBed(1, mustArm(t, arm), cfg, s)
	require.NoError(t, err)
	return b
}

// Every transfer ends and every byte comes back, whatever the arm: writes and reads,
// large slices and small ones, several QPs, two rails, a poller that stands still for
// longer than the controller allows, and a link that goes down and up.
func TestConservation(t *testing.T) {
	arms := DefaultArms()
	if testing.Short() {
		arms = []string{"aimd", "round"}
	}
	for _, arm := range arms {
		t.Run(arm, func(t *testing.T) {
			s := DefaultSettings()
			s.QPs, s.Timeout, s.Retry = 2, 9, 2 // gives up after 6 ms
			b := mustBed(t, arm, fabric.Config{Topology: fabric.Star(12), NICs: 2}, s)
			const bytes = 20*mib + 5
			ended := 0
			done := func(time.Duration) { ended++ }
			var flows []*Flow
			for from := 1; from < 6; from++ {
				for _, op := range []fabric.Op{fabric.Write, fabric.Read} {
					f := b.Flow(from, 0, op)
					f.Transfer(bytes, slice64, done)
					f.Transfer(bytes, mib, done)
					flows = append(flows, f)
				}
			}
			b.Engine(2).StallPolling(time.Millisecond, 1200*time.Millisecond)
			link := b.Sim.NIC(0, 1).Link()
			b.Sim.At(2*time.Millisecond, func() { link.Down(fabric.Notice{Lost: true}) })
			b.Sim.At(40*time.Millisecond, func() { link.Up(fabric.Notice{Lost: true}) })
			require.NoError(t, b.FinishTransfers(5*time.Second))
			assert.Equal(t, 20, ended)
			assert.NotZero(t, b.failures, "the link was missed")
			assert.Zero(t, b.open)
			assert.Zero(t, b.posted())
			for _, f := range flows {
				assert.Empty(t, f.queue[f.head:])
			}
		})
	}
}

// What a QP has sent in vain is sent again, on the next endpoint, and arrives once.
func TestFailedSlicesAreRetried(t *testing.T) {
	s := DefaultSettings()
	s.Timeout, s.Retry, s.BuildPause = 8, 1, time.Millisecond
	b := mustBed(t, "none", fabric.Config{Topology: fabric.Star(2)}, s)
	f := b.Flow(1, 0, fabric.Write)
	landed := 0
	f.watch = func(*slice, time.Duration) { landed++ }
	f.Transfer(8*mib, slice64, nil)
	b.Sim.At(100*time.Microsecond, func() { b.Sim.NIC(0, 0).Link().Down(fabric.Notice{}) })
	b.Sim.At(10*time.Millisecond, func() { b.Sim.NIC(0, 0).Link().Up(fabric.Notice{}) })
	require.NoError(t, b.FinishTransfers(time.Second))
	assert.Equal(t, 128, landed)
	assert.Positive(t, b.failures)
	assert.Positive(t, len(f.routes[0].former))
}

// Posts of one engine are as far apart as they cost, and polls take a batch each
// interval.
func TestThreads(t *testing.T) {
	s := DefaultSettings()
	s.PostCost, s.PostJitter, s.PollEvery, s.PollBatch = 3*time.Microsecond, 0, 50*time.Microsecond, 2
	b := mustBed(t, "none", fabric.Config{Topology: fabric.Star(2)}, s)
	f := b.Flow(1, 0, fabric.Write)
	var posts, polls []time.Duration
	f.watch = func(s *slice, now time.Duration) { posts, polls = append(posts, s.postedAt), append(polls, now) }
	f.Transfer(10*4096, 4096, nil)
	require.NoError(t, b.FinishTransfers(time.Second))
	for i := range posts {
		assert.Equal(t, time.Duration(i)*s.PostCost, posts[i], "post %d", i)
	}
	for i := 0; i < 10; i += 2 {
		assert.Equal(t, polls[0]+time.Duration(i/2)*s.PollEvery, polls[i], "poll of slice %d", i)
		assert.Equal(t, polls[i], polls[i+1])
	}
}

func TestStalledPollerTakesNothing(t *testing.T) {
	b := mustBed(t, "none", fabric.Config{Topology: fabric.Star(2)}, DefaultSettings())
	b.Engine(1).StallPolling(0, 5*time.Millisecond)
	var at time.Duration
	b.Flow(1, 0, fabric.Write).Transfer(1, 1, func(now time.Duration) { at = now })
	require.NoError(t, b.FinishTransfers(time.Second))
	assert.Equal(t, 5*time.Millisecond, at)
}

// The simple arms keep their limits.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		arm   string
		limit int64
	}{
		{"none", 128 * slice64}, // the send queue
		{"static", 2 * slice64}, // one BDP is less than a slice here
		{"epoch,start=256KiB", 4 * slice64},
		{"epoch", slice64},
		{"aimd", 128 * slice64},
	} {
		b := mustBed(t, c.arm, fabric.Config{Topology: fabric.Star(2)}, DefaultSettings())
		f := b.Flow(1, 0, fabric.Write)
		f.Stream(slice64)
		most := b.watchPosted(time.Microsecond)
		b.Sim.Run(2 * time.Millisecond)
		assert.Equal(t, float64(c.limit)/1e6, most.peak(0, 2*time.Millisecond), c.arm)
		require.NoError(t, b.Finish())
	}
}

// The device's AIMD halves for each slice that failed, and forgets slowly.
func TestAIMD(t *testing.T) {
	s := DefaultSettings()
	s.Timeout, s.Retry, s.BuildPause, s.Depth = 8, 0, time.Millisecond, 16
	b := mustBed(t, "aimd", fabric.Config{Topology: fabric.Star(2)}, s)
	f := b.Flow(1, 0, fabric.Write)
	f.Transfer(slice64*16, slice64, nil)
	b.Sim.NIC(0, 0).Link().Down(fabric.Notice{})
	b.Sim.At(4*time.Millisecond, func() { b.Sim.NIC(0, 0).Link().Up(fabric.Notice{}) })
	b.Sim.Run(1500 * time.Microsecond)
	a := f.engine.control.(*aimd)
	assert.Equal(t, int64(aimdStep), max(a.window(f.routes[0].device), aimdStep), "16 failures of 64 MiB")
	require.NoError(t, b.FinishTransfers(time.Second))
	assert.Equal(t, int64(17*aimdStep), a.window(f.routes[0].device))
}

func TestPreload(t *testing.T) {
	for _, arm := range []string{"epoch", "round"} {
		for _, want := range []int64{64 * kib, 64 * mib} {
			b := mustBed(t, arm, fabric.Config{Topology: fabric.Star(2)}, DefaultSettings())
			f := b.Flow(1, 0, fabric.Write)
			b.preload(f, want)
			assert.Equal(t, float64(want), f.window(), "%s to %d", arm, want)
			f.Transfer(10*mib, slice64, nil)
			require.NoError(t, b.FinishTransfers(time.Second))
		}
	}
}

func TestParseArm(t *testing.T) {
	for _, name := range append(DefaultArms(), "round,target=100us,epoch=10ms,high=1,low=2,max=16MiB,device=16MiB,silence=0s") {
		a, err := ParseArm(name)
		require.NoError(t, err, name)
		assert.Equal(t, name, a.Name)
	}
	a := mustArm(t, "round,start=128KiB,target=100us")
	assert.Equal(t, 128*kib, a.Config.StartWindowBytes)
	assert.Equal(t, 100*time.Microsecond, a.Config.TargetDrain)
	for _, bad := range []string{"", "fast", "none,start=1", "round,start=1", "round,start=x", "round,warp=9", "epoch,target=3"} {
		_, err := ParseArm(bad)
		assert.Error(t, err, fmt.Sprintf("%q", bad))
	}
}

// Of several times to ask again the first one counts; the engine asks at each that was
// the first when it was named.
func TestWake(t *testing.T) {
	b := mustBed(t, "none", fabric.Config{Topology: fabric.Star(2)}, DefaultSettings())
	f := b.Flow(1, 0, fabric.Write)
	e := f.engine
	for _, after := range []time.Duration{5, 9, 3} {
		e.wake(after)
	}
	var asked []time.Duration
	for now := time.Duration(1); now <= 10; now++ {
		f.blocked = true
		if b.Sim.Run(now); !f.blocked {
			asked = append(asked, now)
		}
	}
	assert.Equal(t, []time.Duration{3, 5}, asked)
	e.wake(2)
	f.blocked = true
	b.Sim.Run(12)
	assert.False(t, f.blocked, "a wake that is past stands in nobody's way")
}
