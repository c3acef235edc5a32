package linear

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rdmagate/rdmagate/internal/linear/turns"
	"github.com/rdmagate/rdmagate/taskstate"
)

const (
	workers = 8
	rounds  = 12 // of each worker
)

// site is where one history takes place: workers with slots at a gate. Whoever
// finds a slot free uses it, and whoever finds one posted may settle it.
type site struct {
	*scenario
	gate  gate
	slots []slot
	book  book
	late  atomic.Bool // slices take long; the worker that ticks decides
}

func newSite(sc *scenario, g gate, rng *rand.Rand) *site {
	t := &site{scenario: sc, gate: g, slots: make([]slot, sc.slots*sc.devices)}
	t.book.pages = make([][]event, workers+1)
	for i := range t.slots {
		s := &t.slots[i]
		s.number, s.device = i/sc.devices, i%sc.devices
		s.list = sc.lists && s.number%3 == 0
		if rng.IntN(2) == 0 {
			s.task = &taskstate.Task{}
		}
	}
	return t
}

// run makes the history of a seed and returns its steps, if workers take turns.
func (t *site) run(seed uint64, inTurns bool) (steps int) {
	var fs []func()
	for w := range workers {
		rng := rand.New(rand.NewPCG(seed, uint64(1+w)))
		fs = append(fs, func() {
			for range rounds {
				t.round(w, rng)
				if rng.IntN(2) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	if inTurns {
		steps = turns.Run(seed, fs...)
	} else {
		var wg sync.WaitGroup
		for _, f := range fs {
			wg.Go(f)
		}
		wg.Wait()
	}
	t.clearUp()
	return steps
}

// round does one thing.
func (t *site) round(w int, rng *rand.Rand) {
	device, route := rng.IntN(t.devices), rng.IntN(t.routes)
	switch p := rng.IntN(100); {
	case t.moving && w == 0 && p < 50:
		t.late.Store(rng.IntN(2) == 0)
		t.tick(w, device)
	case p < 6:
		domain := rng.IntN(1 + t.routes)
		if t.devices > 1 {
			domain = routeDomain(route) // a seed does not decide in which order devices are read
		}
		t.look(w, device, domain)
	case p < 7:
		t.book.note(w, device, func() { t.gate.renew(device, route) }, func() []op {
			return []op{{kind: renew, in: of(routeDomain(route))}}
		})
	case p < 60:
		if s := t.pick(rng, free); s != nil && s.state.CompareAndSwap(free, owned) {
			t.acquire(w, s, rng)
			return
		}
		fallthrough
	default:
		if s := t.pick(rng, posted); s != nil {
			t.settleSome(w, s, rng)
		}
	}
}

// pick returns a slot in that state, or nil.
func (t *site) pick(rng *rand.Rand, state uint32) *slot {
	at := rng.IntN(len(t.slots))
	for i := range t.slots {
		if s := &t.slots[(at+i)%len(t.slots)]; s.state.Load() == state {
			return s
		}
	}
	return nil
}

// tick lets windows move. Nobody else does, so they can be read afterwards.
func (t *site) tick(w, device int) {
	t.book.note(w, device, t.gate.tick, func() (ops []op) {
		for domain, n := range t.gate.windows(device) {
			ops = append(ops, op{kind: resize, in: of(domain), n: n})
		}
		return ops
	})
}

// look reads what is in flight.
func (t *site) look(w, device, domain int) {
	var n int64
	t.book.note(w, device, func() { n = t.gate.inFlight(device, domain) }, func() []op {
		return []op{{kind: look, in: of(domain), n: n}}
	})
}

// acquire asks for what the slot was refused last time, or for something new, and
// posts it or gives it up. The slot is the worker's.
func (t *site) acquire(w int, s *slot, rng *rand.Rand) {
	if s.sizes == nil {
		t.want(s, rng)
	}
	if !t.try(w, s) {
		s.state.Store(free)
		return
	}
	if rng.IntN(6) == 0 {
		from := rng.IntN(len(s.sizes))
		t.giveUp(w, s, from)
		if s.sizes = s.sizes[:from]; from == 0 {
			s.leave()
			return
		}
	}
	s.left.Store(s.all())
	done, lost := false, rng.IntN(16) == 0
	t.book.note(w, s.device, func() { done = t.gate.post(s, lost) }, func() []op {
		if !done {
			return s.gaveBack(s.all(), true)
		}
		return nil
	})
	if !done {
		s.leave()
		return
	}
	s.state.Store(posted)
}

// want lets a slot want something.
func (t *site) want(s *slot, rng *rand.Rand) {
	s.route = rng.IntN(t.routes)
	n := 1
	if s.list {
		n += rng.IntN(4)
	}
	for range n {
		s.sizes = append(s.sizes, t.size(rng))
	}
}

// try asks once.
func (t *site) try(w int, s *slot) (admitted bool) {
	domain := 0
	t.book.note(w, s.device, func() { admitted, domain = t.gate.try(s) }, func() []op {
		o := op{n: s.bytes(s.all()), list: len(s.sizes) > 1, slot: s.number}
		switch {
		case admitted:
			o.kind, o.in = admit, of(deviceDomain, routeDomain(s.route))
		case domain >= 0:
			o.kind, o.in = refuse, of(domain)
		default:
			o.kind, o.in = outdated, of(routeDomain(s.route))
		}
		return []op{o}
	})
	return admitted
}

// giveUp gives some slices back before they are posted.
func (t *site) giveUp(w int, s *slot, from int) {
	t.book.note(w, s.device, func() { t.gate.giveUp(s, from) }, func() []op {
		return s.gaveBack(s.all()&^(1<<from-1), true)
	})
}

// settleSome ends some slices of a slot in some way.
func (t *site) settleSome(w int, s *slot, rng *rand.Rand) {
	mask := s.left.Load()
	if s.list && rng.IntN(2) == 0 {
		mask = rng.Uint32()
	}
	e := ending(rng.IntN(int(endings)))
	switch {
	case e == cancel && s.list, rng.IntN(2) == 0:
		e = success
	}
	if e == success && t.late.Load() {
		e = lateSuccess
	}
	t.settle(w, s, mask, e)
}

// settle tells a slot that is posted, or was a moment ago, how some slices ended.
func (t *site) settle(w int, s *slot, mask uint32, e ending) {
	use, ended := s.use.Load(), uint32(0)
	t.book.note(w, s.device, func() { ended = t.gate.settle(s, use, mask, e) }, func() []op {
		if ended == 0 {
			return nil // the slot may be another's by now
		}
		return s.gaveBack(ended, e == success || e == lateSuccess)
	})
	if left := s.left.And(^ended); left != 0 && left&^ended == 0 {
		s.leave()
	}
}

// clearUp ends the history: everything is torn down, nothing is in flight, and what
// was refused fits.
func (t *site) clearUp() {
	const w = workers
	for i := range t.slots {
		if s := &t.slots[i]; s.state.Load() == posted {
			t.settle(w, s, ^uint32(0), teardown)
		}
	}
	for device := range t.devices {
		for domain := range 1 + t.routes {
			t.look(w, device, domain)
		}
	}
	for i := range t.slots {
		if s := &t.slots[i]; s.sizes != nil && t.try(w, s) {
			t.giveUp(w, s, 0)
		}
	}
}
