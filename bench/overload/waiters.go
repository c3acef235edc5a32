package main

import (
	"context"
	"errors"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// fewWaiters is what many are compared with.
const fewWaiters = 1000

// waited is what a line of waiters cost.
type waited struct {
	bytes                    float64 // a waiter
	served, cancelled, ended float64 // ns a waiter
}

// waiters has goroutines wait on one route, and then as many on routes of their own for the
// device: a quarter is served, half of the others give up, as many are served as half of
// those, and then the controller is closed.
func waiters(c *check) {
	many := c.n(100_000, fewWaiters) / 8 * 8
	c.shows("waiters", float64(many), count)
	for _, kind := range []struct {
		name      string
		ownRoutes bool
		most      int
		growth    float64
	}{
		{"of one route", false, many, growth},
		{"of one device, each on a route", true, max(many/4, fewWaiters) / 8 * 8, growth / 2},
	} {
		few, w := c.leastWaited(5, fewWaiters, kind.ownRoutes), c.leastWaited(2, kind.most, kind.ownRoutes)
		c.atMost(8192, "bytes of a waiter, with its stack; "+kind.name, w.bytes, weight)
		c.atMost(kind.growth, "time to serve a waiter of many, by one of few; "+kind.name, w.served/few.served, ratio)
		c.atMost(kind.growth, "time until a waiter that is cancelled returns, of many by few; "+kind.name, w.cancelled/few.cancelled, ratio)
		c.atMost(kind.growth, "time until a waiter returns after Close, of many by few; "+kind.name, w.ended/few.ended, ratio)
		c.at(0.5)
	}
}

// leastWaited returns the least that some lines of n waiters cost.
func (c *check) leastWaited(lines, n int, ownRoutes bool) waited {
	least := waited{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	for range lines {
		w := newQueue(c, n, ownRoutes).wait()
		least = waited{min(least.bytes, w.bytes), min(least.served, w.served), min(least.cancelled, w.cancelled), min(least.ended, w.ended)}
	}
	return least
}

// queue is goroutines that wait for a window that holds one slice: that of one route, or of
// a device.
type queue struct {
	*bed
	full     *route   // on which a slice is out that has the window
	routes   []*route // the same, or one for each
	waiters  []waiting
	admitted chan *waiting // and posted
	answers  atomic.Int64
	over     sync.WaitGroup
	patience <-chan time.Time
}

// waiting is one of them.
type waiting struct {
	slice
	number  int
	ctx     context.Context
	answers atomic.Int32 // that Acquire gave it
	d       cc.Decision
	fault   error // of Posting
}

// one is the window, and what each slice has.
const one = 64 * kib

func newQueue(c *check, n int, ownRoutes bool) *queue {
	q := &queue{waiters: make([]waiting, n), admitted: make(chan *waiting), patience: time.After(5 * time.Minute)}
	q.bed = newBed(c, func(cfg *cc.Config) {
		cfg.MinWindowBytes, cfg.StartWindowBytes, cfg.MaxWindowBytes = one, one, one
		if ownRoutes {
			cfg.DeviceWindowBytes = one
		}
	})
	q.full = q.route(pair("another host", 0, 0))
	if !ownRoutes {
		q.routes = []*route{q.full}
		return q
	}
	for _, p := range pairsOfOneNIC(n) {
		q.routes = append(q.routes, q.route(p))
	}
	return q
}

// of returns a waiter's route.
func (q *queue) of(w *waiting) *route { return q.routes[w.number%len(q.routes)] }

// wait has all of them wait, and sees them through.
func (q *queue) wait() (cost waited) {
	before, n := runtime.NumGoroutine(), len(q.waiters)
	fickle, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	var holder slice
	q.post(q.full, &holder, one)
	live := heapAndStacks()
	cores := runtime.GOMAXPROCS(1) // so that asleep finds nobody who only looks for work
	for i := range q.waiters {
		w := &q.waiters[i]
		w.number, w.ctx = i, context.Background()
		if i >= n/4 && i%2 == 1 {
			w.ctx = fickle
		}
		q.over.Add(1)
		go q.waits(w)
		q.asleep()
	}
	runtime.GOMAXPROCS(cores)
	cost.bytes = (heapAndStacks() - live) / float64(n)
	equal(q.check, one, q.inFlight(), "who waits holds nothing")
	q.advance(time.Second) // nobody may overtake them any more, who looks again by the clock neither

	q.settle(&holder, success)
	quarter := n / 4
	cost.served = once(func() {
		for i := range quarter {
			q.serve(i)
		}
	}) / float64(quarter)
	// The next one is admitted now. Of the others every second one is cancelled.
	gone := (n - quarter) / 2
	cost.cancelled = once(func() {
		giveUp()
		for q.answers.Load() < int64(quarter+1+gone) {
			q.waitsNoLonger()
			runtime.Gosched()
		}
	}) / float64(gone)
	for i := quarter; i < n/2; i += 2 {
		q.serve(i)
	}
	last := q.next(n / 2)
	left := n - int(q.answers.Load())
	cost.ended = once(func() {
		q.ctl.Close()
		q.over.Wait()
	}) / float64(left)
	equal(q.check, cc.Ended|cc.Released, q.settle(&last.slice, success), "a completion after Close releases the bytes")
	q.judge()
	q.atRest()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(time.Millisecond)
	}
	q.must(runtime.NumGoroutine() <= before, "all goroutines of waiters are gone", "%d, of %d before", runtime.NumGoroutine(), before)
	return cost
}

// waits is the life of one waiter: it waits, posts, and tells that it was admitted.
func (q *queue) waits(w *waiting) {
	defer q.over.Done()
	r := q.of(w)
	w.d = r.Acquire(w.ctx, &w.permit, r.gen, one, &w.task)
	w.use = w.d.Use
	w.answers.Add(1)
	q.answers.Add(1)
	if w.d.Admitted() {
		w.fault = w.permit.Posting(r.qp, q.now())
		q.admitted <- w
	}
}

// next returns the waiter that is admitted, once that is so.
func (q *queue) next(number int) (w *waiting) {
	select {
	case w = <-q.admitted:
	case <-q.patience:
		q.must(false, "no waiter sleeps for ever", "waiter %d does", number)
	}
	q.works(w.fault, "Posting")
	equal(q.check, number, w.number, "waiters are served in the order in which they came")
	return w
}

// serve has the next waiter's slice succeed.
func (q *queue) serve(number int) {
	w := q.next(number)
	equal(q.check, cc.Ended|cc.Released, q.settle(&w.slice, success), "a completion releases the bytes")
}

// waitsNoLonger ends the case when it takes too long.
func (q *queue) waitsNoLonger() {
	select {
	case <-q.patience:
		q.must(false, "no waiter sleeps for ever", "%d of %d have an answer", q.answers.Load(), len(q.waiters))
	default:
	}
}

// judge looks at every answer: there is one, and it is the right one.
func (q *queue) judge() {
	n, closed := len(q.waiters), 0
	for i := range q.waiters {
		w := &q.waiters[i]
		equal(q.check, 1, w.answers.Load(), "each waiter gets one answer")
		switch {
		case w.ctx.Done() != nil:
			q.must(errors.Is(w.d.Err, context.Canceled), "who was cancelled is told so", "waiter %d: %s", i, w.d)
		case i <= n/2:
			q.must(w.d.Admitted() && w.d.Err == nil, "who was served is told so", "waiter %d: %s", i, w.d)
		default:
			q.must(errors.Is(w.d.Err, cc.ErrClosed), "who waits at Close is told so", "waiter %d: %s", i, w.d)
			closed++
		}
	}
	equal(q.check, n/4-1, closed, "a quarter waits at Close")
}

// asleep returns when no goroutine could run but this one, on one core.
func (q *queue) asleep() {
	runnable := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	for {
		runtime.Gosched()
		if metrics.Read(runnable); runnable[0].Value.Uint64() == 0 {
			return
		}
		q.waitsNoLonger()
	}
}
