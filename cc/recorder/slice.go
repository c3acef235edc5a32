package recorder

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// Calls of a slice's life: they are what is recorded most, and each takes one record.

// Way is which call asked for bytes.
type Way uint8

// The calls that are answered with a decision. Waiting is an Acquire that goes to sleep, which
// has no answer yet, and Waited its end.
const (
	Acquiring Way = iota
	Probing
	AcquiringList
	HandingOff
	Waiting
	Waited
)

// Acquire is a call that asked for bytes, and its answer.
type Acquire struct {
	Way   Way
	Route uint32
	// Permit and Task are addresses; a Task of 0 is none.
	Permit, Task uint64
	// New says that nothing had been observed of the task before the call; Attempt and
	// TaskState are those after it.
	New        bool
	Attempt    uint32
	TaskState  uint8 // the number of a taskstate.State
	Generation uint64
	Bytes      int64 // of a list those of Sizes
	Answer     uint8 // the number of a cc.Answer
	Domain     uint8 // the number of a cc.Domain
	Hint       uint8 // the number of a cc.Hint
	Reason     classify.Reason
	Fault      Fault
	RetryAfter time.Duration
	// Use is the permit's number of the admission.
	Use uint32
	// Sizes are those of a list's slices.
	Sizes []int64
}

func (a *Acquire) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(acquireKind, uint8(a.Way)|uint8(a.Fault)<<3|flag(a.New)<<7, a.Answer|a.Domain<<2|a.Hint<<4|a.TaskState<<6, uint8(a.Reason), a.Route)
	return w0, a.Permit, a.Task, a.Generation, uint64(a.Bytes), uint64(a.RetryAfter), both(a.Use, a.Attempt)
}

// recordsOfList adds the records of a call for a list.
func (a *Acquire) recordsOfList(to []record) []record {
	to = appendNumbers(to, a.Sizes)
	a.Bytes = int64(len(to)) // they are known by the sizes
	return append(to, pack(a.words()))
}

// acquireParts returns how many parts lie before the record.
func (r *record) acquireParts() uint64 {
	if Way(r.octet(1)&7) != AcquiringList {
		return 0
	}
	return r[4]
}

func (r *record) acquire(p *parts) Acquire {
	call, answer := r.octet(1), r.octet(2)
	a := Acquire{
		Way: Way(call & 7), Fault: Fault(call >> 3 & 15), New: call>>7 != 0,
		Answer: answer & 3, Domain: answer >> 2 & 3, Hint: answer >> 4 & 3, TaskState: answer >> 6,
		Reason: classify.Reason(r.octet(3)), Route: r.number(),
		Permit: r[1], Task: r[2], Generation: r[3], Bytes: int64(r[4]), RetryAfter: time.Duration(r[5]),
		Use: low(r[6]), Attempt: high(r[6]),
	}
	if a.Way == AcquiringList {
		a.Bytes = 0
		for _, n := range p.numbers {
			a.Sizes = append(a.Sizes, int64(n))
			a.Bytes += int64(n)
		}
	}
	return a
}

// Post is a call of Posting, of a permit or a list.
type Post struct {
	Permit uint64 // an address
	Use    uint32
	QP     uint64
	Now    time.Duration
	Fault  Fault
	List   bool
}

func (p *Post) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(postKind, uint8(p.Fault), flag(p.List), 0, p.Use)
	return w0, p.Permit, p.QP, uint64(p.Now), 0, 0, 0
}

func (r *record) post() Post {
	return Post{Fault: Fault(r.octet(1)), List: r.octet(2) != 0, Use: r.number(), Permit: r[1], QP: r[2], Now: time.Duration(r[3])}
}

// Unposted is a call of Unposted, of a permit or a list.
type Unposted struct {
	Permit uint64 // an address
	Use    uint32
	List   bool
	// GaveBack is the answer for a permit, Slices that for a list.
	GaveBack bool
	Slices   uint32
	From     int // of a list
}

func (u *Unposted) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(unpostedKind, flag(u.GaveBack), flag(u.List), 0, u.Use)
	return w0, u.Permit, both(u.Slices, uint32(u.From)), 0, 0, 0, 0
}

func (r *record) unposted() Unposted {
	return Unposted{GaveBack: r.octet(1) != 0, List: r.octet(2) != 0, Use: r.number(), Permit: r[1], Slices: low(r[2]), From: int(int32(high(r[2])))}
}

// Observation is what a verdict was made from.
type Observation struct {
	Source    classify.Source
	Rejected  bool // a rejected post: Raw is the errno
	Raw       uint32
	VendorErr uint32
}

// Of sets the observation to what v was made from.
func (o *Observation) Of(v classify.Verdict) {
	o.Source, o.Raw, o.VendorErr = v.Source(), v.Raw(), v.VendorErr()
	o.Rejected = o.Source == classify.SourceSignal && v == classify.RejectedPost(o.Raw)
}

// Verdict classifies what was observed once more.
func (o Observation) Verdict() classify.Verdict {
	switch {
	case o.Rejected:
		return classify.RejectedPost(o.Raw)
	case o.Source == classify.SourceCompletion:
		return classify.Completion(classify.Status(o.Raw), o.VendorErr)
	case o.Source == classify.SourceAsyncEvent:
		return classify.AsyncEvent(classify.EventType(o.Raw))
	case o.Source == classify.SourceCMEvent:
		return classify.CMEvent(classify.CMEventType(o.Raw))
	case o.Source == classify.SourceSignal:
		return classify.Of(classify.Signal(o.Raw))
	}
	return classify.Verdict{}
}

// octet packs all but the numbers.
func (o Observation) octet() uint8 { return uint8(o.Source) | flag(o.Rejected)<<7 }

func observation(octet uint8, numbers uint64) Observation {
	return Observation{Source: classify.Source(octet &^ (1 << 7)), Rejected: octet>>7 != 0, Raw: low(numbers), VendorErr: high(numbers)}
}

// Settle is a call of Settle, of a permit or a list, also one that did nothing.
type Settle struct {
	Permit      uint64 // an address
	Use         uint32
	Observation Observation
	Now         time.Duration
	// Edges are the number of the cc.Edges that the call took from a permit. Of a list
	// Slices is what it spoke of, and Ended and Released what it took.
	Edges                   uint8
	List                    bool
	Slices, Ended, Released uint32
}

func (s *Settle) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(settleKind, s.Observation.octet(), s.Edges, flag(s.List), s.Use)
	return w0, s.Permit, uint64(s.Now), both(s.Observation.Raw, s.Observation.VendorErr), uint64(s.Slices), both(s.Ended, s.Released), 0
}

func (r *record) settle() Settle {
	return Settle{
		Observation: observation(r.octet(1), r[3]), Edges: r.octet(2), List: r.octet(3) != 0, Use: r.number(),
		Permit: r[1], Now: time.Duration(r[2]), Slices: uint32(r[4]), Ended: low(r[5]), Released: high(r[5]),
	}
}

// Beat is a call of Beat, but for those with the time of the one before.
type Beat struct {
	Poller uint32
	Now    time.Duration
}

func (c *Beat) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(beatKind, 0, 0, 0, c.Poller)
	return w0, uint64(c.Now), 0, 0, 0, 0, 0
}

func (r *record) beat() Beat { return Beat{Poller: r.number(), Now: time.Duration(r[1])} }
