package recorder

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Stream writes all that is recorded to w, as it comes, until Close. One goroutine does
// that, which looks every few milliseconds. When w is slow, or the ring is small, records
// are overwritten before they are read: the recording says where, and [Counters] how many.
// After an error of w nothing more is written; Close returns it. Without w the recorder
// takes no controller.
func Stream(w io.Writer, f Format) Option {
	return func(r *Recorder) {
		if w == nil {
			r.fault = errors.New("recorder: Stream needs a writer")
			return
		}
		r.stream = &stream{w: w, format: f, stopping: make(chan struct{}), done: make(chan struct{})}
	}
}

// stream follows the ring.
type stream struct {
	w        io.Writer
	format   Format
	stopOnce sync.Once
	stopping chan struct{}
	done     chan struct{}
	err      error // the first one; to be read when done

	statements *statements // nil before the controller is known
	decoder
	batch []copied
	next  uint64 // the record to be read next
}

// streamBatch is how many records are copied before they are written: so long the ring is
// not read.
const streamBatch = 512

func (s *stream) stop() error {
	s.stopOnce.Do(func() { close(s.stopping) })
	<-s.done
	return s.err
}

// run writes until it is stopped, and then what is left.
func (s *stream) run(r *Recorder) {
	defer close(s.done)
	s.batch = make([]copied, 0, streamBatch)
	poll, flush := time.NewTicker(pollInterval), time.NewTicker(flushInterval)
	defer poll.Stop()
	defer flush.Stop()
	for s.err == nil {
		select {
		case <-poll.C:
			s.err = s.follow(r, false)
		case <-flush.C:
			if s.statements != nil {
				s.err = s.statements.flush()
			}
		case <-s.stopping:
			s.err = s.finish(r)
			return
		}
	}
}

// finish writes what is left.
func (s *stream) finish(r *Recorder) error {
	if err := s.follow(r, true); err != nil || s.statements == nil {
		return err
	}
	if err := s.tellLost(s.statements.entry); err != nil {
		return err
	}
	return s.statements.end("")
}

// follow writes what was recorded meanwhile. The last time it waits for nobody.
func (s *stream) follow(r *Recorder, last bool) error {
	if s.statements == nil {
		h := r.known.head(0)
		if h == nil {
			return nil
		}
		h.serial = r.serial
		s.statements = newStatements(&counter{s.w, &r.count.streamedBytes}, s.format)
		if err := s.statements.begin(*h); err != nil {
			return err
		}
	}
	for end := r.ring.cursor.Load(); s.next < end; {
		from := s.next
		if s.copy(r, end, last); s.next == from {
			return nil
		}
		if err := s.write(r, from); err != nil {
			return err
		}
	}
	return nil
}

// copy copies the next records. It stops at one that is being written. If it was dropped,
// it is never written: so it waits only while the ring has room. The last time it waits a
// moment.
func (s *stream) copy(r *Recorder, end uint64, last bool) {
	r.readMu.Lock()
	defer r.readMu.Unlock()
	s.batch = s.batch[:0]
	s.next = max(s.next, r.ring.oldest(r.ring.cursor.Load()))
	room := uint64(len(r.ring.slots) / 2)
	var patience patience
	if last {
		patience = 10
	}
	for ; s.next < end && len(s.batch) < cap(s.batch); s.next++ {
		c := copied{number: s.next}
		switch r.ring.readSoon(s.next, &c.record, &patience) {
		case have:
			s.batch = append(s.batch, c)
		case absent:
			if !last && r.ring.cursor.Load()-s.next < room {
				return
			}
		}
	}
}

// write writes the records that were copied, of those from the one with number from to
// the next.
func (s *stream) write(r *Recorder, from uint64) error {
	miss := func(n uint64) {
		if n > 0 {
			s.miss(n)
			r.count.lost.Add(n)
		}
	}
	for i := range s.batch {
		c := &s.batch[i]
		miss(c.number - from)
		from = c.number + 1
		if err := s.take(&c.record, s.statements.entry); err != nil {
			return err
		}
	}
	miss(s.next - from)
	r.count.streamed.Add(uint64(len(s.batch)))
	return nil
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n *atomic.Uint64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(uint64(n))
	return n, err
}
