package chaos

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inBubble simulates a schedule.
func inBubble(t *testing.T, plan Schedule, o Options) (r Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		o.Seed = plan.Seed
		r, err = simulate(t.Context(), plan, o)
		require.NoError(t, err, "%v", plan)
	})
	return r
}

// Nothing is lost under some schedules; bench/chaos runs more.
func TestSeeds(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		plan := Generate(seed, SimPace())
		r := inBubble(t, plan, Options{})
		assert.Empty(t, r.Broken, "%v", plan)
		assert.NotZero(t, r.Done.Puts+r.Done.Gets, "transfers must succeed meanwhile")
		assert.Positive(t, r.Took)
	}
}

// plain is a schedule of a second, on four rails and two dead pairs, for the faults given.
func plain(faults ...Fault) Schedule {
	return Schedule{
		Seed: 1, Fabric: "sim", Length: Duration(time.Second), Faults: faults,
		Setup: Setup{NICs: 3, Peers: 2, Workers: 2, Law: "epoch", Streams: 3, MaxBytes: 256 << 10, Think: Duration(10 * time.Millisecond)},
	}
}

// Each kind of fault of the simulated fabric does what it says, and is survived.
func TestKinds(t *testing.T) {
	at := func(k Kind) Fault {
		return Fault{Kind: k, Local: 1, Remote: 1, At: Duration(50 * time.Millisecond), For: Duration(400 * time.Millisecond)}
	}
	amount := func(k Kind, a float64) Fault {
		f := at(k)
		f.Amount = a
		return f
	}
	far := at(LinkDown)
	far.Far = true
	for i, tc := range []struct {
		fault Fault
		seen  func(r Result) bool
		what  string
	}{
		{at(Block), func(r Result) bool { return r.Seen[0].Quarantined > 0 && r.Status["transport retries exceeded"] > 0 }, "the pair must be quarantined"},
		{amount(Flap, 1), func(r Result) bool { return r.Seen[0].Quarantined > 0 && r.Slowest > Duration(200*time.Millisecond) }, "the pair must prove itself"},
		{at(BlackHole), func(r Result) bool {
			return r.Seen[0].Suspect > 0 && r.Status["work request flushed"] > 0 && r.Torn == 0
		}, "deadlines must end what hangs"},
		{at(Hang), func(r Result) bool { return r.Torn > 0 }, "what hangs must end with its QP"},
		{at(LinkDown), func(r Result) bool { return r.Seen[0].Quarantined >= 4 }, "all pairs of the port must be quarantined"},
		{far, func(r Result) bool { return r.Seen[0].Quarantined > 0 }, "pairs with the far port must be quarantined"},
		{amount(Rate, 1e6), func(r Result) bool { return len(r.States) > 1 }, "routes must be congested"},
		{amount(Delay, 20000), func(r Result) bool { return len(r.States) > 1 }, "routes must be congested"},
		{amount(KillQP, 8), func(r Result) bool { return r.Status["work request flushed"] > 2 && r.Seen[0].Quarantined == 0 }, "a flush says nothing about a path"},
		{at(DestroyEndpoint), func(r Result) bool { return r.Status["transport retries exceeded"] > 0 }, "nobody answers"},
		{at(StaleKey), func(r Result) bool { return r.Status["remote access error"] > 0 && r.Seen[0].Quarantined == 0 }, "keys are refused, and the path is not to blame"},
		{at(ShallowQueue), func(r Result) bool { return r.Requests > 0 }, "transfers go on"},
		{at(StallPoller), func(r Result) bool { return r.Seen[0].Failed == 0 }, "no slice fails for a worker that stands still"},
		{at(RefusePost), func(r Result) bool { return r.Seen[0].Quarantined == 0 }, "a refused post is no evidence about a path"},
		{amount(Cancel, 3), func(r Result) bool { return r.Done.Failed["cancelled"] > 0 }, "transfers must be cancelled"},
		{at(Rebuild), func(r Result) bool { return r.Seen[0].Failed == 0 }, "nothing on the wire is lost"},
		{at(GIDChange), func(r Result) bool { return r.Seen[0].Failed == 0 }, "nothing on the wire is lost"},
		{at(Restart), func(r Result) bool { return r.Done.Failed["peer gone"] > 0 }, "transfers with the old server fail"},
		{at(DeviceFatal), func(r Result) bool { return r.Seen[0].Quarantined >= 4 }, "all pairs of the device must be quarantined"},
	} {
		if testing.Short() && i%4 != 0 {
			continue // the race detector sees all kinds in the seeds
		}
		t.Run(tc.fault.Kind.String(), func(t *testing.T) {
			if traits[tc.fault.Kind].instant {
				tc.fault.For = 0
			}
			plan := plain(tc.fault)
			r := inBubble(t, plan, Options{})
			assert.Empty(t, r.Broken)
			require.NotEmpty(t, r.Seen)
			assert.Equal(t, tc.fault.Kind, r.Seen[0].Kind)
			assert.True(t, tc.seen(r), "%s: %+v, %+v, %d torn, %v", tc.what, r.Seen, r.Done, r.Torn, r.Status)
		})
	}
}
