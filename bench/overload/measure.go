package main

import (
	"math"
	"runtime"
	"time"
)

// heap returns the bytes that live objects take.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// heapAndStacks returns the bytes of live objects and of all stacks.
func heapAndStacks() float64 {
	live := heap()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return live + float64(m.StackInuse)
}

// noise is how much a heap may grow that does not: what the runtime and the measuring
// itself keep.
const noise = 256 << 10

// flat ends the case if the heap has grown by more than a few percent since then.
func (c *check) flat(name string, then, now float64) {
	c.atMost(100*(1.05+noise/then), name, 100*now/then, percent)
}

// fastest has the functions take turns, and returns for each the shortest time that it
// took, in nanoseconds: a disturbance only ever makes it longer.
func fastest(rounds int, functions ...func()) []float64 {
	least := make([]float64, len(functions))
	for i := range least {
		least[i] = math.Inf(1)
	}
	for range rounds {
		for i, f := range functions {
			began := time.Now()
			f()
			least[i] = min(least[i], float64(time.Since(began)))
		}
	}
	return least
}

// once returns how long f took, in nanoseconds.
func once(f func()) float64 { return fastest(1, f)[0] }
