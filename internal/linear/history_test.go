package linear

import (
	"sync/atomic"

	"github.com/anishathalye/porcupine"
)

// event is one operation on a device, as a worker saw it.
type event struct {
	op
	device, worker int
	call, ret      int64
}

// overlaps reports whether two workers may have been under way at one moment.
func (e *event) overlaps(f *event) bool {
	return e.device == f.device && e.worker != f.worker && e.call < f.ret && f.call < e.ret
}

// excusedBy reports whether e may have got a wrong answer because of f.
func (e *event) excusedBy(f *event) bool {
	if !e.overlaps(f) {
		return false
	}
	switch e.kind {
	case refuse:
		return f.kind == admit || f.kind == refuse || f.kind == resize || f.kind == renew
	case look:
		return f.kind != look
	case outdated:
		return f.kind == renew
	}
	return false
}

// parts returns the operations that it is for the model. What gives back does so in one
// domain after the other.
func (e *event) parts(byDomain bool) (ops []op) {
	if !byDomain && e.kind != giveBack {
		return []op{e.op}
	}
	for d := range maxRoutes + 1 {
		if e.in.has(d) {
			o := e.op
			o.in = of(d)
			ops = append(ops, o)
		}
	}
	return ops
}

// book is where workers write down what they do. Its time is a number of calls and
// returns: what returned before something was called has lower numbers.
type book struct {
	time  atomic.Int64
	pages [][]event // one for each worker
}

// note makes a call, and asks afterwards what it was.
func (b *book) note(worker, device int, call func(), was func() []op) {
	from := b.time.Add(1)
	call()
	to := b.time.Add(1)
	for _, o := range was() {
		b.pages[worker] = append(b.pages[worker], event{o, device, worker, from, to})
	}
}

// events returns what happened on a device.
func (b *book) events(device int) (events []event) {
	for _, page := range b.pages {
		for _, e := range page {
			if e.device == device {
				events = append(events, e)
			}
		}
	}
	for i := range events {
		for j := range events {
			events[i].contested = events[i].contested || events[i].excusedBy(&events[j])
		}
	}
	return events
}

// history returns events as porcupine wants them.
func history(events []event, byDomain bool) (h []porcupine.Operation) {
	for i := range events {
		e := &events[i]
		for _, o := range e.parts(byDomain) {
			h = append(h, porcupine.Operation{ClientId: e.worker, Input: o, Call: e.call, Return: e.ret})
		}
	}
	return h
}

// counts is what histories had in them.
type counts struct {
	histories, events int
	admitted          int
	together          int // admissions that overlapped another one
	aboveWindow       int // admissions into an empty domain
	contested         int // refusals that had an excuse
	justified         int // refusals that had to be right
	outdated          int // refusals for the generation
	exact             int // numbers of bytes in flight that had to be right
	resized           int // windows that moved
	steps             int // at which others could go on; 0 unless in turns
}

// add counts events on a device that began in that state.
func (c *counts) add(events []event, s state) {
	c.events += len(events)
	for i := range events {
		e := &events[i]
		switch e.kind {
		case admit:
			c.admitted++
			for j := range events {
				if events[j].kind == admit && e.overlaps(&events[j]) {
					c.together++
					break
				}
			}
			for d, w := range s {
				if e.in.has(d) && e.n > w.size {
					c.aboveWindow++
					break
				}
			}
		case refuse:
			if e.contested {
				c.contested++
			} else {
				c.justified++
			}
		case look:
			if !e.contested {
				c.exact++
			}
		case outdated:
			c.outdated++
		case resize:
			for d := range s {
				if e.in.has(d) && s[d].size != e.n {
					s[d].size = e.n
					c.resized++
				}
			}
		}
	}
}

func (c *counts) plus(d counts) {
	c.histories += d.histories
	c.events += d.events
	c.admitted += d.admitted
	c.together += d.together
	c.aboveWindow += d.aboveWindow
	c.contested += d.contested
	c.justified += d.justified
	c.outdated += d.outdated
	c.exact += d.exact
	c.resized += d.resized
	c.steps += d.steps
}
