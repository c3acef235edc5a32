package replay

import (
	"container/heap"
	"fmt"
	"math"
	"time"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// agenda holds what will happen by itself, earliest first.
type agenda struct {
	items []appointment
	count uint64
}

type appointment struct {
	at     time.Duration
	number uint64 // those of one time keep their order
	do     func()
}

func (a *agenda) Len() int { return len(a.items) }
func (a *agenda) Less(i, j int) bool {
	x, y := a.items[i], a.items[j]
	return x.at < y.at || x.at == y.at && x.number < y.number
}
func (a *agenda) Swap(i, j int) { a.items[i], a.items[j] = a.items[j], a.items[i] }
func (a *agenda) Push(x any)    { a.items = append(a.items, x.(appointment)) }
func (a *agenda) Pop() any {
	last := a.items[len(a.items)-1]
	a.items = a.items[:len(a.items)-1]
	return last
}

// after has something done when so much time has passed.
func (w *world) after(d time.Duration, do func()) {
	w.agenda.count++
	heap.Push(&w.agenda, appointment{w.clockNow() + d, w.agenda.count, do})
}

// shortest is the least time between two things that come by themselves.
const shortest = 10 * time.Microsecond

// ticks are those that come by themselves.
type ticks struct {
	every, next time.Duration
}

func (w *world) clockNow() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) setNow(now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

func (w *world) advances(s *scenario.Statement) {
	d, _ := s.Num("time")
	w.advance(s, time.Duration(d))
}

// advance lets time pass and has done what is due meanwhile.
func (w *world) advance(s *scenario.Statement, d time.Duration) {
	end := w.clockNow() + d
	if end < w.clockNow() || end > maxTime {
		w.wrong(s, "a scenario lasts a year at most")
		return
	}
	w.watch(true) // the statement may have done something before
	gap := w.lookGap(d)
	for look := w.clockNow() + gap; ; {
		next := min(end, w.deadline(), look)
		ticks := w.ticks.every > 0 && w.ticks.next <= next
		if ticks {
			next = w.ticks.next
		}
		arrives := len(w.agenda.items) > 0 && w.agenda.items[0].at <= next
		if arrives {
			next = w.agenda.items[0].at
		}
		if (arrives || ticks) && !w.happens(s, 1) {
			w.setNow(end)
			return
		}
		w.overdue(next)
		w.setNow(next)
		switch {
		case arrives:
			heap.Pop(&w.agenda).(appointment).do()
		case ticks:
			w.tickAll()
			w.ticks.next += w.ticks.every
		}
		w.watch(arrives || ticks)
		if arrives || ticks {
			w.passed()
		}
		if next == look {
			look += gap
		}
		if next == end && !arrives && !ticks {
			return
		}
	}
}

// mostHappens is how many things may happen in one statement: slices and ticks that come
// by themselves, slices that fill a window, reads of all that can be read. Tests lower it.
var mostHappens = 10_000_000

// happens notes that n more things happen in the statement that runs, and returns false if
// they are too many. Then nothing comes by itself any more, and the end is not checked.
func (w *world) happens(s *scenario.Statement, n int) bool {
	if w.happened > mostHappens {
		return false
	}
	if w.happened += n; w.happened <= mostHappens {
		return true
	}
	what := s.Kind.Name()
	if s.Line == 0 {
		what = "the end of the case"
	}
	w.wrong(s, fmt.Sprintf("more than %d things happen in %s; let less time pass at once, have slices and ticks come less often, or do it fewer times; nothing comes by itself from here on", mostHappens, what))
	w.agenda.items, w.ticks.every, w.leaveOpen = nil, 0, true
	return false
}

// While time moves, what changes by itself is looked at every lookEvery, or more seldom
// where that were more than maxLooks in one go. All else changes only when something
// happens.
const (
	lookEvery = 100 * time.Millisecond
	maxLooks  = 1_000_000
)

// lookGap returns the time from one look to the next while d passes.
func (w *world) lookGap(d time.Duration) time.Duration {
	n := time.Duration(0)
	for i := range w.never {
		n += time.Duration(number(runs(&w.never[i])))
	}
	for i := range w.pending {
		n += time.Duration(number(runs(&w.pending[i].Statement)))
	}
	if n == 0 {
		return maxTime
	}
	return lookEvery * max(1, (d/lookEvery*n+maxLooks-1)/maxLooks)
}

// deadline returns the next time at which an expectation has to have come true.
func (w *world) deadline() time.Duration {
	next, now := time.Duration(math.MaxInt64), w.clockNow()
	for i := range w.pending {
		if until := w.pending[i].until; until > now {
			next = min(next, until)
		}
	}
	return next
}

// passed tells a watcher that something happened within a statement.
func (w *world) passed() {
	watcher := w.runner.watcher
	if watcher == nil || w.over {
		return
	}
	w.step.At = w.time()
	w.mu.Lock()
	w.step.Transitions = w.told[:len(w.told):len(w.told)]
	w.mu.Unlock()
	watcher.Passed(&w.step)
}

// maxTime is the latest time of a scenario.
const maxTime = 366 * 24 * time.Hour

func (w *world) tickAll() {
	for _, k := range w.crew {
		if k.ctl != nil {
			k.ctl.Tick(w.clockNow())
		}
	}
}

func (w *world) setsTicks(s *scenario.Statement) {
	every, _ := s.Num("every")
	if every > 0 && time.Duration(every) < shortest {
		w.wrong(s, "ticks come every "+shortest.String()+" at most")
		return
	}
	w.ticks = ticks{time.Duration(every), w.clockNow() + time.Duration(every)}
}
