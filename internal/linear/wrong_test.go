package linear

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/rdmagate/rdmagate/internal/linear/turns/atomic"
	"github.com/stretchr/testify/assert"
)

// flaw is what is wrong with a tally.
type flaw int

const (
	none            flaw = iota
	looksThenAdds        // two may find the same room
	windowOnce           // when there is room the window may have moved
	aboveWindow          // a large slice is admitted beside others
	longLists            // a list above the window is admitted to an empty domain
	keepsRoute           // what the device refuses stays out on the route
	forgetsDevice        // what comes back comes back to the route alone
	returnsTwice         // of two that settle a slice, both give it back
	refusesAtRandom      // though there is room
	flaws
)

var flawNames = [flaws]string{"none", "looks, then adds", "reads the window once", "above a window", "long lists",
	"keeps the route's bytes", "forgets the device", "gives back twice", "refuses at random"}

// tally is a small controller of one device, right but for its flaw.
type tally struct {
	flaw flaw
	out  [maxRoutes + 1]atomic.Int64
	size [maxRoutes + 1]atomic.Int64
	most state
	held []atomic.Uint64 // of each slot: its use number, and below it the slices that hold bytes

	mu  sync.Mutex // guards rng
	rng *rand.Rand
}

const useShift = 32 // of a use number in tally.held

func newTally(sc *scenario, f flaw, seed uint64) *tally {
	g := &tally{flaw: f, most: sc.start(), held: make([]atomic.Uint64, sc.slots), rng: rand.New(rand.NewPCG(seed, 1<<32))}
	for d, w := range g.most {
		g.size[d].Store(w.size)
	}
	return g
}

func (g *tally) try(s *slot) (bool, int) {
	n, route := s.bytes(s.all()), routeDomain(s.route)
	if !g.take(route, n, len(s.sizes) > 1) {
		return false, route
	}
	if !g.take(deviceDomain, n, len(s.sizes) > 1) {
		if g.flaw != keepsRoute {
			g.out[route].Add(-n)
		}
		return false, deviceDomain
	}
	g.held[s.number].Store(uint64(g.use(s)+1)<<useShift | uint64(s.all()))
	return true, -1
}

// use returns the number of the slot's latest admission.
func (g *tally) use(s *slot) uint32 { return uint32(g.held[s.number].Load() >> useShift) }

func (g *tally) dice(n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rng.IntN(n)
}

func (g *tally) take(domain int, n int64, list bool) bool {
	out, size := &g.out[domain], &g.size[domain]
	for w := (window{size: size.Load()}); ; {
		if w.out = out.Load(); g.flaw != windowOnce {
			w.size = size.Load()
		}
		alone := w.out == 0 && (!list || g.flaw == longLists) || n > w.size && g.flaw == aboveWindow
		switch {
		case w.out+n > w.size && !alone, g.flaw == refusesAtRandom && g.dice(20) == 0:
			return false
		case g.flaw == looksThenAdds:
			runtime.Gosched()
			out.Add(n)
			return true
		case !out.CompareAndSwap(w.out, w.out+n):
		case g.flaw == windowOnce || size.Load() == w.size:
			return true
		default: // the window moved
			out.Add(-n)
		}
	}
}

func (g *tally) giveUp(s *slot, from int) {
	g.giveBack(s, g.use(s), s.all()&^(1<<from-1))
}

func (g *tally) post(s *slot, lost bool) bool {
	if lost {
		g.giveUp(s, 0)
		return false
	}
	s.use.Store(g.use(s))
	return true
}

func (g *tally) settle(s *slot, use, mask uint32, e ending) uint32 {
	if e == cancel {
		return 0
	}
	return g.giveBack(s, use, mask)
}

// giveBack looks at the slot only if it gives something back: until its caller has said
// so, the slot cannot become another's.
func (g *tally) giveBack(s *slot, use, mask uint32) (gaveBack uint32) {
	for held := &g.held[s.number]; ; {
		was := held.Load()
		gaveBack = uint32(was) & mask
		if uint32(was>>useShift) != use || gaveBack == 0 {
			return 0
		}
		if held.CompareAndSwap(was, was&^uint64(gaveBack)) || g.flaw == returnsTwice {
			break
		}
	}
	n := s.bytes(gaveBack)
	g.out[routeDomain(s.route)].Add(-n)
	if g.flaw != forgetsDevice {
		g.out[deviceDomain].Add(-n)
	}
	return gaveBack
}

func (g *tally) inFlight(_, domain int) int64 { return g.out[domain].Load() }

func (g *tally) renew(int, int) {}

func (g *tally) tick() {
	for d, w := range g.most {
		g.size[d].Store(w.size >> g.dice(3))
	}
}

func (g *tally) windows(int) (sizes []int64) {
	for d := range g.size {
		sizes = append(sizes, g.size[d].Load())
	}
	return sizes
}

// tallied is the kind of history that tallies are checked with.
var tallied = scenario{devices: 1, routes: 2, slots: 12, route: 80, device: 120,
	sizes: []span{{1, 20}, {1, 60}, {1, 150}}, lists: true, moving: true}

// newTallySite returns the site of a history with a flaw.
func newTallySite(f flaw, seed uint64) *site {
	return newSite(&tallied, newTally(&tallied, f, seed), rand.New(rand.NewPCG(seed, 0)))
}

// firstIllegal returns the seed of the first history with a flaw that is not legal, and
// what the checker said of it.
func firstIllegal(f flaw, inTurns bool) (seed uint64, result porcupine.CheckResult) {
	for ; seed < 1000; seed++ {
		site := newTallySite(f, seed)
		site.run(seed, inTurns)
		if result, _ = check(&tallied, site.book.events(0)); result != porcupine.Ok {
			break
		}
	}
	return seed, result
}

// The checker finds every flaw, and none where there is none.
func TestWrongController(t *testing.T) {
	for f := range flaws {
		t.Run(flawNames[f], func(t *testing.T) {
			want := porcupine.Illegal
			if f == none {
				want = porcupine.Ok
			}
			seed, result := firstIllegal(f, true)
			assert.Equal(t, want, result, "seed %d", seed)
			t.Logf("%s after %d histories", result, seed)
		})
	}
}

// Goroutines that are let loose are enough to find two that take the same room.
func TestWrongControllerAtLarge(t *testing.T) {
	seed, result := firstIllegal(looksThenAdds, false)
	assert.Equal(t, porcupine.Illegal, result)
	t.Logf("%s after %d histories", result, seed)
}

// Tallies count wrong, but do not race: what the race detector finds here is a fault of
// the tests. Left out is the one that lets two settle the same slice, since a site takes
// a slot for that of whoever settled the last one.
func TestWrongControllerRacesNot(t *testing.T) {
	for f := range flaws {
		if f == returnsTwice {
			continue
		}
		t.Run(flawNames[f], func(t *testing.T) {
			for seed := range uint64(100) {
				site := newTallySite(f, seed)
				if site.run(seed, false); f == none {
					result, _ := check(&tallied, site.book.events(0))
					assert.Equal(t, porcupine.Ok, result, "seed %d", seed)
				}
			}
		})
	}
}
