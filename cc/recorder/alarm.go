package recorder

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// DumpOn has the ring dumped when the controller tells of a transition or notice that
// matches: to what open returns, which is closed afterwards. All that is done in
// goroutines of the recorder's, never in that of the call which made the transition. After
// a dump no other is made for so long; they are counted as spared. So is what matches while
// 64 wait for a dump to be written, and what is told while 1024 wait for match. [Recorder.Close]
// returns the first error. Without match or open the recorder takes no controller.
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
		if match == nil || open == nil {
			r.fault = errors.New("recorder: DumpOn needs a function that matches and one that opens")
			return
		}
		r.alarm = &alarm{
			match: match, open: open, format: f, every: every, spared: &r.count.dumpsSpared,
			raised: make(chan Told, waitingTold), matched: make(chan Told, waitingAlarms), stopping: make(chan struct{}), done: make(chan struct{}),
		}
	}
}

// waitingTold is how many transitions may wait for being looked at, and waitingAlarms how
// many that match for a dump. One dump shows more of them anyway.
const (
	waitingTold   = 1024
	waitingAlarms = 64
)

// alarm waits for transitions.
type alarm struct {
	match  func(Told) bool
	open   func() (io.WriteCloser, error)
	format Format
	every  time.Duration

	raised   chan Told // what was told
	matched  chan Told // and matches
	spared   *atomic.Uint64
	stopOnce sync.Once
	stopping chan struct{}
	done     chan struct{}
	latest   time.Time // the latest dump
	err      error     // the first one; to be read when done
}

// raise hands a transition over. It never waits.
func (a *alarm) raise(t Told) {
	select {
	case <-a.stopping:
		return
	default:
	}
	select {
	case a.raised <- t:
	default:
		a.spared.Add(1)
	}
}

func (a *alarm) stop() error {
	a.stopOnce.Do(func() { close(a.stopping) })
	<-a.done
	return a.err
}

// run finds what matches.
func (a *alarm) run(r *Recorder) {
	go a.dumps(r)
	defer close(a.matched)
	for {
		select {
		case t := <-a.raised:
			a.look(t)
		case <-a.stopping:
			for { // what was raised before
				select {
				case t := <-a.raised:
					a.look(t)
				default:
					return
				}
			}
		}
	}
}

// look hands on a transition that matches. It waits for no dump.
func (a *alarm) look(t Told) {
	if !a.match(t) {
		return
	}
	select {
	case a.matched <- t:
	default:
		a.spared.Add(1)
	}
}

// dumps dumps the ring for what matches.
func (a *alarm) dumps(r *Recorder) {
	defer close(a.done)
	for t := range a.matched {
		if !a.latest.IsZero() && time.Since(a.latest) < a.every {
			a.spared.Add(1)
			continue
		}
		a.latest = time.Now()
		err := a.dump(r, t)
		if err == nil {
			r.count.dumps.Add(1)
			continue
		}
		r.count.dumpsFailed.Add(1)
		if a.err == nil {
			a.err = fmt.Errorf("recorder: dump on a transition: %w", err)
		}
	}
}

func (a *alarm) dump(r *Recorder, t Told) error {
	w, err := a.open()
	if err != nil {
		return err
	}
	if w == nil {
		return errors.New("nothing was opened, without an error")
	}
	return errors.Join(r.dump(w, a.format, fmt.Sprintf("dumped on a transition of %s at %s", routeName(t.Route), scenario.Seconds(t.At))), w.Close())
}
