package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Generated schedules are valid, travel as JSON, are the same for the same seed, and have
// every kind of fault in time.
func TestGenerate(t *testing.T) {
	for _, pace := range []Pace{SimPace(), GuestPace()} {
		seen := map[Kind]bool{}
		for seed := range uint64(50) {
			s := Generate(seed, pace)
			require.NoError(t, s.Validate(), "%v", s)
			assert.Equal(t, s, Generate(seed, pace))
			text, err := json.Marshal(s)
			require.NoError(t, err)
			var back Schedule
			require.NoError(t, json.Unmarshal(text, &back))
			assert.Equal(t, s, back)
			assert.NotEqual(t, s.Faults, Generate(seed+1, pace).Faults)
			for i, f := range s.Faults {
				seen[f.Kind] = true
				for _, o := range s.Faults[:i] {
					assert.False(t, o.target() == f.target() && f.At <= o.At+o.For, "one undo ends a fault, so two of them must not overlap: %v, %v", o, f)
				}
			}
		}
		for _, k := range Kinds() {
			assert.Equal(t, pace.Weights[k] > 0, seen[k], "%v on %s", k, pace.Fabric)
		}
	}
}

func TestLoadAndSave(t *testing.T) {
	file := filepath.Join(t.TempDir(), "schedule.json")
	s := Generate(3, SimPace())
	require.NoError(t, s.Save(file))
	list, err := Load(file)
	require.NoError(t, err)
	assert.Equal(t, []Schedule{s}, list)

	for _, tc := range []struct{ text, want string }{
		{`{"fabric":"sim","faults":[{"kind":"earthquake"}]}`, `there is no fault "earthquake"`},
		{`{"fabric":"real"}`, `fabric "real"`},
		{`{"fabric":"sim","setup":{"nics":1,"peers":0,"workers":0,"law":"none"}}`, `law "none"`},
		{`{"fabric":"sim","setup":{"nics":3,"peers":1,"workers":1,"law":"epoch","max_bytes":4096},"faults":[{"kind":"block","local":7}]}`, "there is no such place"},
		{`{"fabric":"sim","setup":{"nics":3,"peers":1,"workers":1,"law":"epoch","max_bytes":4096},"faults":[{"kind":"block"}]}`, "dead from the start"},
		{`{"fabric":"sim","length":"1s","setup":{"nics":3,"peers":1,"workers":1,"law":"epoch","max_bytes":4096},"faults":[{"kind":"restart","for":"2s"}]}`, "must be within 0 to 1s"},
		{`{"fabric":"sim","length":"1s","setup":{"nics":3,"peers":1,"workers":1,"law":"epoch","max_bytes":4096},"faults":[{"kind":"rate"}]}`, "the amount must be"},
		{`nonsense`, "invalid character"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(tc.text), 0o644))
		_, err := Load(file)
		assert.ErrorContains(t, err, tc.want, tc.text)
	}
}

// What is left is what the failure needs, however much there was.
func TestShrink(t *testing.T) {
	runs := 0
	needs := func(s Schedule) bool {
		runs++
		link := slices.IndexFunc(s.Faults, func(f Fault) bool { return f.Kind == LinkDown && f.For >= Duration(10*time.Millisecond) })
		return link >= 0 && slices.ContainsFunc(s.Faults[link:], func(f Fault) bool { return f.Kind == Restart }) && s.Setup.Streams > 1
	}
	found := 0
	for seed := uint64(0); found < 5; seed++ {
		s := Generate(seed, SimPace())
		if !needs(s) {
			continue
		}
		found++
		runs = 0
		least := Shrink(s, 500, needs)
		require.NoError(t, least.Validate())
		assert.True(t, needs(least), "what is returned still fails")
		assert.Len(t, least.Faults, 2, "%v", least)
		assert.Less(t, least.Faults[0].For, Duration(20*time.Millisecond), "%v", least)
		assert.Equal(t, 2, least.Setup.Streams)
		assert.Equal(t, 1, least.Setup.Workers)
		assert.Less(t, least.Length, Duration(50*time.Millisecond), "%v", least)
		assert.LessOrEqual(t, runs, 502)
	}
	s := Generate(1, SimPace())
	assert.Equal(t, s, Shrink(s, 100, func(Schedule) bool { return false }), "what does not fail again stays as it is")
}

func TestReach(t *testing.T) {
	r := route{peer: 1, local: 2, remote: 3}
	for _, tc := range []struct {
		fault         Fault
		alone, shared bool // the peers' NICs are their own, or the same
	}{
		{Fault{Kind: Block, Peer: 1, Local: 2, Remote: 3}, true, true},
		{Fault{Kind: Block, Peer: 0, Local: 2, Remote: 3}, false, true},
		{Fault{Kind: Block, Peer: 1, Local: 2, Remote: 4}, false, false},
		{Fault{Kind: LinkDown, Local: 2}, true, true},
		{Fault{Kind: LinkDown, Local: 3}, false, false},
		{Fault{Kind: LinkDown, Far: true, Peer: 0, Remote: 3}, false, true},
		{Fault{Kind: LinkDown, Far: true, Peer: 1, Remote: 3}, true, true},
		{Fault{Kind: DestroyEndpoint, Peer: 0, Local: 2, Remote: 3}, false, false},
		{Fault{Kind: DestroyEndpoint, Peer: 1, Local: 2, Remote: 3}, true, true},
		{Fault{Kind: Restart, Peer: 1}, true, true},
		{Fault{Kind: Restart, Peer: 0}, false, false},
		{Fault{Kind: DeviceFatal, Local: 2}, true, true},
		{Fault{Kind: StallPoller}, true, true},
		{Fault{Kind: Cancel}, false, false},
	} {
		assert.Equal(t, tc.alone, (&ledger{}).reaches(tc.fault, r), "%v", tc.fault)
		assert.Equal(t, tc.shared, (&ledger{shared: true}).reaches(tc.fault, r), "%v, shared", tc.fault)
	}
}

// Evidence comes late, but not for ever.
func TestLedger(t *testing.T) {
	l := &ledger{setup: Setup{NICs: 3, Peers: 1}, numbers: Numbers{}}
	r := route{0, 1, 1}
	const late, bound = 10 * time.Second, time.Minute
	blamed := func(at time.Duration) bool { _, explained := l.blamed(r, at, late, bound); return explained }
	endBlock := l.begin(Fault{Kind: Block, Local: 1, Remote: 1}, 5*time.Second)
	assert.False(t, blamed(4*time.Second), "not before it began")
	assert.True(t, blamed(time.Hour), "as long as it lasts")
	endBlock(20 * time.Second)
	assert.True(t, blamed(30*time.Second))
	assert.False(t, blamed(31*time.Second))
	touched, ever := l.touched(r, time.Minute)
	assert.True(t, ever)
	assert.Equal(t, 20*time.Second, touched)

	l.begin(Fault{Kind: KillQP, Local: 1, Remote: 1}, 40*time.Second)(40 * time.Second)
	kinds, explained := l.blamed(r, 41*time.Second, late, bound)
	assert.Equal(t, []Kind{KillQP}, kinds)
	assert.False(t, explained, "a flush is no reason")

	l.begin(Fault{Kind: LinkDown, Local: 1}, 50*time.Second)(50 * time.Second)
	assert.True(t, blamed(100*time.Second), "a port is marked until it has recovered")
	assert.False(t, blamed(111*time.Second))
	l.begin(Fault{Kind: Restart}, 200*time.Second)
	l.clear()
	assert.Len(t, l.causes, 1, "what lasts is not forgotten")
}
