package simfabric

import (
	"container/heap"
	"math"
	"sync/atomic"
	"time"
)

// never is a time that does not come, and fired is that of a timer which went off.
const (
	never = time.Duration(math.MaxInt64)
	fired = time.Duration(-1)
)

// timeline carries out actions in order of simulated time, which follows the
// clock. Net's lock guards all of it but due.
type timeline struct {
	start   time.Time
	now     time.Duration // simulated time since start
	pending actions
	order   uint64 // of the last action, to keep those of one instant in order

	due   atomic.Int64 // time of the first pending action
	armed time.Duration
	timer *time.Timer
}

type action struct {
	at    time.Duration
	order uint64
	do    func()
}

// begin starts the clock. tick is called when something has come due.
func (t *timeline) begin(tick func()) {
	t.start = time.Now()
	t.armed = never
	t.due.Store(int64(never))
	t.timer = time.AfterFunc(never, tick)
	t.timer.Stop()
}

// at plans an action for a time, or for now if that is past.
func (t *timeline) at(when time.Duration, do func()) {
	t.order++
	heap.Push(&t.pending, action{at: max(when, t.now), order: t.order, do: do})
}

// after plans an action for a time from now.
func (t *timeline) after(d time.Duration, do func()) { t.at(t.now+d, do) }

// catchUp carries out what has come due. Each action finds now at the time it was
// planned for; afterwards now is the clock's.
func (t *timeline) catchUp() {
	until := time.Since(t.start)
	for len(t.pending) > 0 && t.pending[0].at <= until {
		next := heap.Pop(&t.pending).(action)
		t.now = next.at
		next.do()
	}
	t.now = max(t.now, until)
}

// arm sets the timer to the first pending action.
func (t *timeline) arm() {
	next := never
	if len(t.pending) > 0 {
		next = t.pending[0].at
	}
	if next == t.armed {
		return
	}
	t.armed = next
	t.due.Store(int64(next))
	if next == never {
		t.timer.Stop()
		return
	}
	t.timer.Reset(max(0, next-time.Since(t.start)))
}

// overdue reports whether an action waits for being carried out. It needs no lock.
func (t *timeline) overdue() bool {
	due := t.due.Load()
	return due != int64(never) && int64(time.Since(t.start)) >= due
}

// end drops all actions and stops the timer.
func (t *timeline) end() {
	t.pending = nil
	t.arm()
	t.timer.Stop()
}

// actions is a heap for container/heap.
type actions []action

func (a actions) Len() int      { return len(a) }
func (a actions) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *actions) Push(x any)   { *a = append(*a, x.(action)) }

func (a actions) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	return a[i].order < a[j].order
}

func (a *actions) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last] = action{}
	*a = (*a)[:last]
	return x
}
