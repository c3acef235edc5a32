package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBusy(t *testing.T) {
	d, err := busy([]byte("cpu  100 20 30 9999 8888 4 5 7777 0 0\ncpu0 50 10 15 4999 4444 2 3 0 0 0\n"))
	require.NoError(t, err)
	assert.Equal(t, 1590*time.Millisecond, d, "user, nice, system, interrupts; not idle, waiting or stolen")
	_, err = busy([]byte("intr 1 2 3"))
	assert.ErrorContains(t, err, "intr 1 2 3")
}

func TestCostByBytes(t *testing.T) {
	c := cost{Process: 2 * time.Second, Guest: 3 * time.Second}
	assert.Equal(t, map[string]float64{cpuByGB: 4, cpuBySlice: 4000, guestByGB: 6}, c.figures(0.5e9, 1e6))
	assert.Empty(t, c.figures(0, 1e6), "nothing arrived")
}
