package recorder

import (
	"errors"
	"io"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// Recorder keeps what one controller was asked and what it answered. Make one with [New]
// and give it to cc.WithRecorder. It is safe for concurrent use.
//
// The methods that say so are for package cc alone.
type Recorder struct {
	ring   *ring
	serial bool
	turn   sync.Mutex // of the call that runs, when serial

	routes, pollers atomic.Uint32 // how many numbers were given
	known           known

	readMu sync.Mutex // one reader of the ring at a time
	stream *stream    // nil if there is none
	alarm  *alarm     // nil if there is none
	count  counts
	fault  error // an option is wrong
}

// counts are what [Counters] shows and the ring does not know.
type counts struct {
	streamed, streamedBytes, lost   atomic.Uint64
	dumps, dumpsFailed, dumpsSpared atomic.Uint64
}

// Option changes how a recorder works.
type Option func(*Recorder)

// Slot sizes.
const (
	slotBytes    = cacheLine
	defaultSlots = 1 << 16
	fewestSlots  = 1 << 6
	mostSlots    = 1 << 26
)

// Slots sets how many records the ring holds: 64 to 67 million, rounded up to a power of
// two. By default it is 65536. Each takes 64 bytes of memory, which are taken at once and
// never more: 1<<20 of them are 64 MiB.
func Slots(n int) Option {
	return func(r *Recorder) {
		n = min(max(n, fewestSlots), mostSlots)
		r.ring = newRing(1 << bits.Len(uint(n-1)))
	}
}

// Serial lets one call of the controller run at a time, so that the record has the calls
// in the very order in which they took effect, and a replay of it is exact. It is for a
// test or a run at a desk: posters and pollers wait for each other, and transitions are
// told when the call is over that made them.
func Serial() Option { return func(r *Recorder) { r.serial = true } }

// New returns a recorder. If an option is wrong, cc.New returns the error.
func New(options ...Option) *Recorder {
	r := &Recorder{}
	for _, o := range options {
		o(r)
	}
	if r.ring == nil {
		Slots(defaultSlots)(r)
	}
	r.known.routes, r.known.pollers = map[uint32]*knownRoute{}, map[uint32]*knownPoller{}
	if r.stream != nil {
		go r.stream.run(r)
	}
	if r.alarm != nil {
		go r.alarm.run(r)
	}
	return r
}

// Close ends the stream and the dumps on transitions, writes what the stream has not
// written yet, and returns the first error of either. The ring goes on, and may still be
// dumped. A second Close does nothing.
func (r *Recorder) Close() error {
	var faults []error
	if r.alarm != nil {
		faults = append(faults, r.alarm.stop())
	}
	if r.stream != nil {
		faults = append(faults, r.stream.stop())
	}
	return errors.Join(faults...)
}

// Counters say how much was recorded. Each is exact; they are read one after the other.
type Counters struct {
	// Records is how many lie in the ring or did; Dropped is how many more there would be
	// if their slot had not been busy: with a dump or the stream, or with a writer that
	// was a whole round behind. A call takes one record, and one for each reading of the
	// clock, factor, transition, name or list of numbers that belongs to it.
	Records, Dropped uint64
	// Slots is how many records the ring holds, Bytes the memory that they take.
	Slots int
	Bytes int64
	// Streamed is how many records the stream has written, in so many bytes, and Lost how
	// many it did not come to read before they were overwritten, or were dropped.
	Streamed, StreamedBytes, Lost uint64
	// Dumps is how many were made on a transition, DumpsFailed how many of them met an
	// error, and DumpsSpared how many were left out, since one was made shortly before or is being
	// written.
	Dumps, DumpsFailed, DumpsSpared uint64
}

// Counters reads the counters.
func (r *Recorder) Counters() Counters {
	dropped := r.ring.dropped.Load()
	return Counters{
		Records: r.ring.cursor.Load() - dropped, Dropped: dropped,
		Slots: len(r.ring.slots), Bytes: int64(len(r.ring.slots)) * slotBytes,
		Streamed: r.count.streamed.Load(), StreamedBytes: r.count.streamedBytes.Load(), Lost: r.count.lost.Load(),
		Dumps: r.count.dumps.Load(), DumpsFailed: r.count.dumpsFailed.Load(), DumpsSpared: r.count.dumpsSpared.Load(),
	}
}

// ErrAttached says that a recorder has a controller already.
var ErrAttached = errors.New("recorder: it has a controller already; each needs a recorder of its own")

// ErrNotAttached says that a recorder has no controller yet.
var ErrNotAttached = errors.New("recorder: it has no controller yet; give it to cc.New with cc.WithRecorder, in mode observe or enforce")

// Attach says whose calls are recorded: a controller with that configuration. It is for
// package cc.
func (r *Recorder) Attach(settings []Setting) error {
	if r.fault != nil {
		return r.fault
	}
	return r.known.attach(settings)
}

// Serial reports whether calls run one at a time. It is for package cc.
func (r *Recorder) Serial() bool { return r.serial }

// Enter begins a call, and Leave ends it, after it was recorded. They are for package cc.
func (r *Recorder) Enter() {
	if r.serial {
		r.turn.Lock()
	}
}

// Leave ends a call.
func (r *Recorder) Leave() {
	if r.serial {
		r.turn.Unlock()
	}
}

// NewRoute returns the number of a new route, and NewPoller that of a new poller, from 1.
// They are for package cc.
func (r *Recorder) NewRoute() uint32 { return r.routes.Add(1) }

// NewPoller returns the number of a new poller.
func (r *Recorder) NewPoller() uint32 { return r.pollers.Add(1) }

// Format is the form in which a recording is written.
type Format uint8

const (
	// Text is the scenario language, one statement a line.
	Text Format = iota
	// Binary is the same in less room; the command replay turns one into the other.
	Binary
)

// Dump writes what the ring holds, as a scenario. It copies the ring first, which takes
// about a millisecond for 65536 records and as much memory as the ring, and so keeps
// nobody waiting for the writer: meanwhile a record that is to lie where the copy just
// reads is dropped. The scenario says where records are missing.
func (r *Recorder) Dump(w io.Writer, f Format) error {
	return r.dump(w, f, "")
}

// pollInterval is how often the stream looks for records, and flushInterval how often it
// ends a block, so that what was written so far can be read.
const (
	pollInterval  = 2 * time.Millisecond
	flushInterval = time.Second
)
