package main

import (
	"sync/atomic"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
)

// padded is a word that shares its cache line with nothing.
type padded struct {
	_ [64]byte
	atomic.Int64
	_ [56]byte
}

// floors are what any admission is made of.
func floors() []scenario {
	return []scenario{
		alone(floor, floorLoop, "an inlined call that does nothing", func() measure.Loop {
			return func(n int) {
				for i := range n {
					sink = int64(i)
				}
			}
		}),
		alone(floor, floorEmpty, "a call that is not inlined and does nothing", func() measure.Loop {
			return func(n int) {
				for range n {
					empty()
				}
			}
		}),
		alone(floor, floorLoad, "what a check of a healthy pause table costs", func() measure.Loop {
			w := new(padded)
			return func(n int) {
				for range n {
					sink = w.Load()
				}
			}
		}),
		alone(floor, floorAdds, "inexact counting in one domain: add, subtract", func() measure.Loop {
			w := new(padded)
			return func(n int) {
				for range n {
					w.Add(sliceBytes)
					w.Add(-sliceBytes)
				}
			}
		}),
		alone(floor, floorCAS, "exact admission in two domains and nothing else", func() measure.Loop { return casPairs(new(padded), new(padded)) }),
		casPairsTwice(floorCAS+ownRoutes, false),
		casPairsTwice(floorCAS+sameRoute, true),
	}
}

// sink keeps the compiler from dropping what is only read.
var sink int64 //lint:ignore U1000 it is written so that reads are kept

//go:noinline
func empty() {}

// casPairs takes bytes from a device and a route, each exactly within its window,
// and gives them back.
func casPairs(device, route *padded) measure.Loop {
	return func(n int) {
		for range n {
			if !reserve(&route.Int64, sliceBytes, windowBytes) {
				continue
			}
			if !reserve(&device.Int64, sliceBytes, deviceBytes) {
				release(&route.Int64, sliceBytes)
				continue
			}
			release(&device.Int64, sliceBytes)
			release(&route.Int64, sliceBytes)
		}
	}
}

func reserve(w *atomic.Int64, n, window int64) bool {
	for {
		v := w.Load()
		if v+n > window {
			return false
		}
		if w.CompareAndSwap(v, v+n) {
			return true
		}
	}
}

func release(w *atomic.Int64, n int64) {
	for {
		v := w.Load()
		if w.CompareAndSwap(v, v-n) {
			return
		}
	}
}

func casPairsTwice(name string, same bool) scenario {
	return scenario{kind: floor, note: "the same from two cores", Scenario: measure.Scenario{Name: name, Workers: 2,
		Setup: func() ([]measure.Loop, func(), error) {
			device, one, two := new(padded), new(padded), new(padded)
			if same {
				two = one
			}
			return []measure.Loop{casPairs(device, one), casPairs(device, two)}, nil, nil
		}}}
}
