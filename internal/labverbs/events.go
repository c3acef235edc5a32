package labverbs

import (
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// Recorder keeps the asynchronous events of one context in the order they came.
type Recorder struct {
	reader *verbs.AsyncReader
	events chan verbs.AsyncEvent
	stop   chan struct{}
	ended  chan error
}

// Record starts to read the events of a context.
func Record(ctx *verbs.Context) (*Recorder, error) {
	reader, err := ctx.AsyncEvents()
	if err != nil {
		return nil, err
	}
	r := &Recorder{reader: reader, events: make(chan verbs.AsyncEvent, 1<<10), stop: make(chan struct{}), ended: make(chan error, 1)}
	go r.run()
	return r, nil
}

func (r *Recorder) run() {
	for {
		e, err := r.reader.Next()
		if err != nil {
			r.ended <- err
			return
		}
		select {
		case r.events <- e:
		case <-r.stop:
			r.ended <- verbs.ErrClosed
			return
		}
	}
}

// Await returns the next event of a type, and is an error after [Limit]. Others
// before it are returned too, in seen.
func (r *Recorder) Await(event classify.EventType) (e verbs.AsyncEvent, seen []verbs.AsyncEvent, err error) {
	limit := time.After(Limit)
	for {
		select {
		case e := <-r.events:
			if e.Type == event {
				return e, seen, nil
			}
			seen = append(seen, e)
		case <-limit:
			return verbs.AsyncEvent{}, seen, fmt.Errorf("no event %q within %v; seen: %v", event, Limit, seen)
		}
	}
}

// Seen returns the events that have come and were not awaited.
func (r *Recorder) Seen() []verbs.AsyncEvent {
	var seen []verbs.AsyncEvent
	for {
		select {
		case e := <-r.events:
			seen = append(seen, e)
		default:
			return seen
		}
	}
}

// Close ends the reader and waits for its goroutine. It returns the error that
// ended the reading if that was not Close. It is to be called once.
func (r *Recorder) Close() error {
	close(r.stop)
	if err := r.reader.Close(); err != nil {
		return err
	}
	if err := <-r.ended; !errors.Is(err, verbs.ErrClosed) {
		return err
	}
	return nil
}
