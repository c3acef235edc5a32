package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/replay"
)

// A series of any length has a bounded number of cells, which lose no answer and no
// extreme.
func TestSeriesIsBounded(t *testing.T) {
	var s series
	const n = 200_000
	most := int64(0)
	for i := range n {
		at := time.Duration(i*i) * time.Microsecond // denser in the beginning
		window := int64(i * 7919 % 1_000_003)
		most = max(most, window)
		s.look(replay.Shown{RouteSnapshot: cc.RouteSnapshot{WindowBytes: window, InFlightBytes: window / 2}}, at)
		s.decided(cc.Admit, at)
		assert.LessOrEqual(t, len(s.cells), mostCells)
	}
	assert.Greater(t, len(s.cells), mostCells/8, "there is still something to draw")
	answers, top, last := 0, int64(0), int64(-1)
	for _, c := range s.cells {
		assert.Greater(t, c.number, last, "cells are in order")
		last = c.number
		answers += int(c.answers[cc.Admit])
		top = max(top, c.window.most)
		assert.LessOrEqual(t, c.inFlight.most, c.window.most)
		assert.LessOrEqual(t, c.window.least, c.window.last)
	}
	assert.Equal(t, n, answers)
	assert.Equal(t, most, top)
}

// How often one looks grows with the logarithm of the time.
func TestSamplerIsBounded(t *testing.T) {
	var s sampler
	for i := range 5_000_000 {
		s.due(time.Duration(i) * time.Microsecond)
	}
	assert.Less(t, s.taken, everyStep+parts*10)
	assert.Greater(t, s.taken, everyStep+parts)
}
