package recorder

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// DumpOn has the ring dumped when the controller tells of a transition or notice that
// matches: to what open returns, which is closed afterwards. All that is done in a
// goroutine of the recorder's, never in that of the call which made the transition. After
// a dump no other is made for so long; they are counted as spared. [Close] returns the
// first error.
//
// A dump ends with the transition. SUSPECT comes first, while its cause is still in the
// ring. Each dump needs a name of its own:
//
//	recorder.DumpOn(func(t recorder.Told) bool { return cc.State(t.To) == cc.Suspect },
//		func() (io.WriteCloser, error) {
//			return os.Create(time.Now().Format("incident-20060102-150405.scenario"))
//		}, recorder.Text, time.Minute)
func DumpOn(match func(Told) bool, open func() (io.WriteCloser, error), f Format, every time.Duration) Option {
	return func(r *Recorder) {
		r.alarm = &alarm{
			match: match, open: open, format: f, every: every,
			raised: make(chan Told, waitingAlarms), stopping: make(chan struct{}), done: make(chan struct{}),
		}
	}
}

// waitingAlarms is how many transitions may wait for being looked at. One dump shows more
// of them anyway.
const waitingAlarms = 64

// alarm waits for transitions.
type alarm struct {
	match  func(Told) bool
	open   func() (io.WriteCloser, error)
	format Format
	every  time.Duration

	raised   chan Told
	stopOnce sync.Once
	stopping chan struct{}
	done     chan struct{}
	latest   time.Time // the latest dump
	err      error     // the first one; to be read when done
}

// raise hands a transition to the goroutine. It never waits.
func (a *alarm) raise(t Told) {
	select {
	case a.raised <- t:
	default:
	}
}

func (a *alarm) stop() error {
	a.stopOnce.Do(func() { close(a.stopping) })
	<-a.done
	return a.err
}

func (a *alarm) run(r *Recorder) {
	defer close(a.done)
	for {
		select {
		case t := <-a.raised:
			a.look(r, t)
		case <-a.stopping:
			for { // what was raised before
				select {
				case t := <-a.raised:
					a.look(r, t)
				default:
					return
				}
			}
		}
	}
}

// look dumps the ring if the transition matches.
func (a *alarm) look(r *Recorder, t Told) {
	if !a.match(t) {
		return
	}
	if !a.latest.IsZero() && time.Since(a.latest) < a.every {
		r.count.dumpsSpared.Add(1)
		return
	}
	a.latest = time.Now()
	err := a.dump(r, t)
	if err == nil {
		r.count.dumps.Add(1)
		return
	}
	r.count.dumpsFailed.Add(1)
	if a.err == nil {
		a.err = fmt.Errorf("recorder: dump on a transition: %w", err)
	}
}

func (a *alarm) dump(r *Recorder, t Told) error {
	w, err := a.open()
	if err != nil {
		return err
	}
	return errors.Join(r.dump(w, a.format, fmt.Sprintf("dumped on a transition of %s at %s", routeName(t.Route), scenario.Seconds(t.At))), w.Close())
}
