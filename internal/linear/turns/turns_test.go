package turns_test

import (
	"testing"

	"github.com/rdmagate/rdmagate/internal/linear/turns"
	"github.com/rdmagate/rdmagate/internal/linear/turns/atomic"
	"github.com/rdmagate/rdmagate/internal/linear/turns/sync"
	"github.com/stretchr/testify/assert"
)

// order returns in which order four goroutines come by, three times each.
func order(seed uint64) (who []int) {
	var n atomic.Int64
	var fs []func()
	for g := range 4 {
		fs = append(fs, func() {
			for range 3 {
				n.Add(1)
				who = append(who, g)
			}
		})
	}
	turns.Run(seed, fs...)
	return who
}

func TestSeedDecides(t *testing.T) {
	seen := map[[12]int]bool{}
	for seed := range uint64(100) {
		first := order(seed)
		assert.Equal(t, first, order(seed), "seed %d", seed)
		seen[[12]int(first)] = true
	}
	assert.Greater(t, len(seen), 50, "orders of 100 seeds")
}

// Goroutines stop between a load and a store, unless a lock keeps others out.
func TestMutex(t *testing.T) {
	lost := func(lock, unlock func()) (n int64) {
		for seed := range uint64(100) {
			var sum atomic.Int64
			add := func() {
				lock()
				defer unlock()
				sum.Store(sum.Load() + 1)
			}
			turns.Run(seed, add, add, add)
			n += 3 - sum.Load()
		}
		return n
	}
	var m sync.Mutex
	assert.Zero(t, lost(m.Lock, m.Unlock), "additions lost with a lock")
	assert.Positive(t, lost(func() {}, func() {}), "additions lost without")
}

func TestOutsideOfRun(t *testing.T) {
	var m sync.Mutex
	m.Lock()
	assert.False(t, m.TryLock())
	m.Unlock()
	assert.True(t, m.TryLock())
	m.Unlock()
	var p atomic.Pointer[int]
	assert.Nil(t, p.Swap(new(int)))
	assert.Zero(t, *p.Load())
}
