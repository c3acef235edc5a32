package linear

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	histories = flag.Int("histories", 0, "how many histories of each scenario to check; 0 is enough for some seconds")
	firstSeed = flag.Uint64("seed", 1, "the seed of the first history")
	only      = flag.String("scenario", "", "the only scenario to check")
	inTurns   = flag.Bool("turns", false, "let goroutines take turns; set by TestAdmissionInTurns in the build that it makes")
)

const (
	patience = 10 * time.Second // with one history; it takes a millisecond
	enough   = 3                // histories that are not legal
)

// howMany returns how many histories of each scenario to check.
func howMany(long, short int) int {
	switch {
	case *histories > 0:
		return *histories
	case testing.Short():
		return short
	}
	return long
}

// Whatever goroutines do at once with a controller is what they could have done one
// after the other.
func TestAdmission(t *testing.T) {
	all := checkScenarios(t, howMany(1200, 150))
	if *histories > 0 || *only != "" {
		return // too few to have everything in them
	}
	assert.Positive(t, all.together, "admissions that overlap")
	assert.Positive(t, all.aboveWindow, "admissions above a window")
	assert.Positive(t, all.contested, "refusals that overlap acquisitions")
	assert.Positive(t, all.justified, "refusals that have to be right")
	assert.Positive(t, all.exact, "numbers of bytes in flight that have to be right")
	assert.Positive(t, all.resized, "windows that moved")
	if *inTurns {
		assert.Positive(t, all.outdated, "refusals for an old generation")
		assert.Greater(t, all.together, all.admitted/3, "admissions that overlap")
	}
}

func checkScenarios(t *testing.T, n int) (all counts) {
	for i := range scenarios {
		sc := &scenarios[i]
		if *only != "" && *only != sc.name {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			c := checkHistories(t, sc, n)
			t.Logf("%+v", c)
			all.plus(c)
		})
	}
	require.Positive(t, all.histories, "histories of a scenario called %q", *only)
	return all
}

// checkHistories checks the histories of n seeds, or until enough are not legal.
func checkHistories(t *testing.T, sc *scenario, n int) (c counts) {
	illegal := 0
	for i := 0; i < n && illegal < enough; i++ {
		seed := *firstSeed + uint64(i)
		rng := rand.New(rand.NewPCG(seed, 0))
		g, err := newController(sc.config(rng), sc.devices, sc.routes)
		require.NoError(t, err)
		site := newSite(sc, g, rng)
		steps := site.run(seed, *inTurns)
		require.Equal(t, *inTurns, steps > 0, "whether package cc takes turns")
		c.steps += steps
		c.histories++
		for device := range sc.devices {
			events := site.book.events(device)
			c.add(events, sc.start())
			if result, info := check(sc, events); result != porcupine.Ok {
				illegal++
				report(t, sc, seed, result, info)
			}
		}
	}
	return c
}

// check looks for a legal order of the events on one device.
func check(sc *scenario, events []event) (porcupine.CheckResult, porcupine.LinearizationInfo) {
	m, h := model(sc.start(), sc.moving), history(events, sc.moving)
	result, info := porcupine.CheckOperationsTimeout(m, h, patience), porcupine.LinearizationInfo{}
	if result != porcupine.Ok {
		result, info = porcupine.CheckOperationsVerbose(m, h, patience)
	}
	return result, info
}

// report fails the test with a history that is not legal, or took too long to say.
func report(t *testing.T, sc *scenario, seed uint64, result porcupine.CheckResult, info porcupine.LinearizationInfo) {
	f, err := os.CreateTemp("", "linear-*.html")
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, porcupine.Visualize(model(sc.start(), sc.moving), info, f))
	t.Errorf("%s: scenario %q, seed %d; the history is in %s", result, sc.name, seed, f.Name())
	if *inTurns {
		t.Logf("again: go test -run InTurns -scenario %q -seed %d -histories 1", sc.name, seed)
	}
}
