package cc

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Flags are no bytes, in whichever word they are.
func TestFlagsAreNoBytes(t *testing.T) {
	for acquired := range uint64(flagBits + 1) {
		for settled := range uint64(flagBits + 1) {
			assert.Equal(t, int64(5), held(units(12)|acquired, units(7)|settled), "flags %b and %b", acquired, settled)
			assert.Equal(t, int64(0), held(units(7)|acquired, units(7)|settled), "flags %b and %b", acquired, settled)

			var f flight
			f.leasedSettled.Store(units(40) | acquired)
			f.directSettled.Store(units(30) | settled)
			f.undelivered.Store(21)
			assert.Equal(t, int64(49), f.delivered(), "flags %b and %b", acquired, settled)
		}
	}
}

// A direct reservation counts what is out on the lease too, and an empty route takes
// any.
func TestTakeDirectBesideALease(t *testing.T) {
	var f flight
	f.leasedAcquired.Store(units(60))
	assert.False(t, f.takeDirect(41, 100))
	assert.True(t, f.takeDirect(40, 100))
	assert.False(t, f.takeDirect(1, 100))
	assert.Equal(t, int64(100), f.inFlight())
	f.leasedSettled.Store(units(60))
	assert.True(t, f.takeDirect(60, 100))
	f.directSettled.Store(units(100))
	assert.True(t, f.takeDirect(1000, 100), "nothing is out")
}
