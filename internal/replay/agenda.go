package replay

import (
	"container/heap"
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
	for {
		next, tick := end, false
		if w.ticks.every > 0 && w.ticks.next <= next {
			next, tick = w.ticks.next, true
		}
		if len(w.agenda.items) > 0 && w.agenda.items[0].at <= next {
			next, tick = w.agenda.items[0].at, false
		} else if !tick {
			break
		}
		w.setNow(next)
		if tick {
			w.tickAll()
			w.ticks.next += w.ticks.every
		} else {
			heap.Pop(&w.agenda).(appointment).do()
		}
		w.watch()
		w.passed()
	}
	w.setNow(end)
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
