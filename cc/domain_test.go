package cc

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDomainReserve(t *testing.T) {
	tests := []struct {
		name         string
		window, held int64
		n            int64
		fits         bool
		why          string
	}{
		{"fits", 100, 60, 40, true, "60 + 40 is the window"},
		{"one byte too many", 100, 60, 41, false, "60 + 41 is above the window"},
		{"empty and larger than the window", 100, 0, 1000, true, "a slice is never split"},
		{"nearly empty and larger than the window", 100, 1, 1000, false, "only an empty domain takes it"},
		{"behind an oversized slice", 100, 1000, 1, false, "it blocks until it drains"},
		{"full", 100, 100, 1, false, "nothing is left"},
		{"no sum overflows", MaxBytes, MaxBytes, MaxBytes, false, "two of the largest still fit an int64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d domain
			d.window.Store(tt.window)
			d.inFlight.Store(tt.held)
			assert.Equal(t, tt.fits, d.reserve(tt.n), tt.why)
			want := tt.held
			if tt.fits {
				want += tt.n
			}
			assert.Equal(t, want, d.inFlight.Load(), "bytes in flight")

			var forced domain
			forced.window.Store(tt.window)
			forced.inFlight.Store(tt.held)
			assert.Equal(t, tt.fits, forced.force(tt.n), "observe agrees with enforce: %s", tt.why)
			assert.Equal(t, tt.held+tt.n, forced.inFlight.Load(), "force always takes")
		})
	}
}

// No reservation takes a domain above max(window, slice), however many race.
func TestDomainBoundUnderRaces(t *testing.T) {
	const window, workers, rounds = 100, 4, 20_000
	var d domain
	d.window.Store(window)
	var shadow, worst atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				n := int64(1 + (w*31+i*7)%60)
				if !d.reserve(n) {
					continue
				}
				for now := shadow.Add(n); ; {
					seen := worst.Load()
					if now <= seen || worst.CompareAndSwap(seen, now) {
						break
					}
				}
				shadow.Add(-n)
				d.release(n)
			}
		})
	}
	wg.Wait()
	assert.Zero(t, d.inFlight.Load(), "everything came back")
	assert.LessOrEqual(t, worst.Load(), int64(window), "bytes that were out at once")
	assert.Positive(t, worst.Load())
}
