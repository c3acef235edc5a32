package transfer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The rate counts the time in which something was under way, not the idle time.
func TestMeter(t *testing.T) {
	var m meter
	start := m.read(0)
	m.posted(1000, 1*time.Second)
	m.posted(1000, 2*time.Second)
	m.ended(1000, true, 3*time.Second)
	m.ended(1000, false, 5*time.Second)
	idle := m.read(9 * time.Second)
	assert.Equal(t, reading{inFlight: 0, delivered: 1000, busy: 4 * time.Second}, idle, "busy from 1 s to 5 s; the failed bytes were not delivered")
	assert.InDelta(t, 250, idle.rate(start), 1e-9)
	assert.Zero(t, m.read(10*time.Second).rate(idle), "an idle rail has no rate")

	m.posted(500, 10*time.Second)
	busy := m.read(11 * time.Second)
	assert.Equal(t, reading{inFlight: 500, delivered: 1000, busy: 5 * time.Second}, busy, "an open busy period counts up to now")
}
