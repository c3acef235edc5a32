package measure

import (
	"runtime"
	"sync/atomic"
	"time"
)

// crew is the workers that run the loops, each on a thread and a core of its own.
type crew struct {
	workers []*worker
	arrived atomic.Int64
}

type worker struct {
	jobs chan job
	done chan span
}

type job struct {
	loop Loop
	n    int
	// together is the count of arrivals at which all start.
	together int64
}

// span is when a worker was at work.
type span struct{ began, ended time.Time }

// newCrew starts one worker, and a second one if there is a second core.
func newCrew() (*crew, error) {
	cpus, err := allowed()
	if err != nil {
		return nil, err
	}
	c := &crew{}
	for i := range min(2, len(cpus), runtime.GOMAXPROCS(0)) {
		w := &worker{jobs: make(chan job), done: make(chan span)}
		c.workers = append(c.workers, w)
		started := make(chan error)
		go c.work(w, cpus[i], started)
		if err := <-started; err != nil {
			c.dismiss()
			return nil, err
		}
	}
	return c, nil
}

// work runs jobs on one core. The thread ends with the goroutine, since it is never
// unlocked.
func (c *crew) work(w *worker, cpu int, started chan<- error) {
	runtime.LockOSThread()
	err := pin(cpu)
	started <- err
	if err != nil {
		return
	}
	for j := range w.jobs {
		c.arrived.Add(1)
		for c.arrived.Load() < j.together {
		}
		began := time.Now()
		j.loop(j.n)
		w.done <- span{began, time.Now()}
	}
}

// run runs the loops at the same time and returns how long that took and the part
// of it in which all ran.
func (c *crew) run(loops []Loop, n int) (took time.Duration, overlap float64) {
	together := c.arrived.Load() + int64(len(loops))
	for i, loop := range loops {
		c.workers[i].jobs <- job{loop, n, together}
	}
	var first, last, lastBegan, firstEnded time.Time
	for i := range loops {
		s := <-c.workers[i].done
		if i == 0 {
			first, lastBegan, firstEnded, last = s.began, s.began, s.ended, s.ended
			continue
		}
		first, lastBegan = earlier(first, s.began), later(lastBegan, s.began)
		firstEnded, last = earlier(firstEnded, s.ended), later(last, s.ended)
	}
	took = last.Sub(first)
	return took, float64(firstEnded.Sub(lastBegan)) / float64(max(took, 1))
}

// dismiss ends the workers.
func (c *crew) dismiss() {
	for _, w := range c.workers {
		close(w.jobs)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
