// Package turns runs goroutines one at a time and lets a seed decide who goes on at
// each step. What goes wrong in one such run goes wrong in the next with that seed.
//
// Its subpackages atomic and sync have the types of the standard ones that package
// cc uses. They take a step before each operation. A build in which cc and its
// neighbours import those can be interleaved at each atomic operation and lock; see
// package linear. Outside of [Run] they are the standard types and nothing more.
package turns

import "math/rand/v2"

// run is one call of Run. Only the goroutine whose turn it is touches it.
type run struct {
	rng     *rand.Rand
	stay    int // one step in so many may pass the turn on
	waiting []chan struct{}
	steps   int
	still   bool // the goroutine whose turn it is takes no steps
	done    chan struct{}
}

// running is nil unless goroutines take turns. It changes while none of them runs.
var running *run

// stays are how seldom the turn is passed on. With few steps between, many goroutines
// are at the same place; with more, one stands still while others do much.
var stays = []int{2, 4, 8, 16}

// Run runs the functions, each in a goroutine of its own, and returns when all have
// returned. It returns how many steps they took. Two runs at once are not possible.
func Run(seed uint64, fs ...func()) (steps int) {
	r := &run{rng: rand.New(rand.NewPCG(seed, 0)), done: make(chan struct{})}
	r.stay = stays[r.rng.IntN(len(stays))]
	for _, f := range fs {
		turn := make(chan struct{}, 1)
		r.waiting = append(r.waiting, turn)
		go func() {
			<-turn
			f()
			r.next()
		}()
	}
	running = r
	r.next()
	<-r.done
	running = nil
	return r.steps
}

// next gives the turn to one of those that wait, or ends the run if none is left.
func (r *run) next() {
	if len(r.waiting) == 0 {
		close(r.done)
		return
	}
	i, last := r.rng.IntN(len(r.waiting)), len(r.waiting)-1
	turn := r.waiting[i]
	r.waiting[i] = r.waiting[last]
	r.waiting = r.waiting[:last]
	turn <- struct{}{}
}

// Step is a point at which another goroutine may go on.
func Step() {
	r := running
	if r == nil || r.still {
		return
	}
	r.steps++
	if r.rng.IntN(r.stay) == 0 {
		r.pass()
	}
}

// Blocked is a point at which another goroutine has to go on. It reports whether
// goroutines take turns at all; if not, the caller has to block.
func Blocked() bool {
	r := running
	if r == nil {
		return false
	}
	if len(r.waiting) == 0 {
		panic("turns: the last goroutine waits for a lock that nobody will release")
	}
	r.pass()
	return true
}

// pass lets another goroutine go on, maybe the same.
func (r *run) pass() {
	turn, still := make(chan struct{}, 1), r.still
	r.still = false
	r.waiting = append(r.waiting, turn)
	r.next()
	<-turn
	r.still = still
}

// Still calls f without steps: only a lock can pass the turn on. It is for what does
// things in an order that the seed does not decide, such as that of a map.
func Still(f func()) {
	r := running
	if r == nil {
		f()
		return
	}
	r.still = true
	f()
	r.still = false
}
