package linear

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A history in turns comes again with its seed. In the build with the overlay it is that
// of the controller.
func TestSeedDecides(t *testing.T) {
	for i := range scenarios {
		sc := &scenarios[i]
		if !*inTurns {
			sc = &tallied
		}
		for seed := range uint64(10) {
			first := repeat(t, sc, seed)
			assert.True(t, slices.Equal(first, repeat(t, sc, seed)), "scenario %q, seed %d", sc.name, seed)
			assert.False(t, slices.Equal(first, repeat(t, sc, seed+1)), "scenario %q, seed %d and the next", sc.name, seed)
		}
	}
}

func repeat(t *testing.T, sc *scenario, seed uint64) (events []event) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var g gate = newTally(sc, none, seed)
	if *inTurns {
		var err error
		g, err = newController(sc.config(rng), sc.devices, sc.routes)
		require.NoError(t, err)
	}
	site := newSite(sc, g, rng)
	site.run(seed, true)
	for device := range sc.devices {
		events = append(events, site.book.events(device)...)
	}
	return events
}
