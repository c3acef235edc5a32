package recorder

import (
	"math"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// What a call met and caused. It is recorded while the call runs, so it lies before the
// call itself.

// clock is one reading of the clock.
type clock struct{ Now time.Duration }

func (c *clock) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(clockKind, 0, 0, 0, 0)
	return w0, uint64(c.Now), 0, 0, 0, 0, 0
}

func (r *record) clock() clock { return clock{time.Duration(r[1])} }

// jitter is one factor that was drawn.
type jitter struct{ Factor float64 }

func (j *jitter) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(jitterKind, 0, 0, 0, 0)
	return w0, math.Float64bits(j.Factor), 0, 0, 0, 0, 0
}

func (r *record) jitter() jitter { return jitter{math.Float64frombits(r[1])} }

// Told is a transition or notice of which the controller told.
type Told struct {
	Route uint32
	// From, To and Notice are the numbers of a cc.State and a cc.Notice.
	From, To    uint8
	Notice      uint8
	Reason      classify.Reason
	Observation Observation
	Generation  uint64
	At          time.Duration
	LastRoute   bool
	Shared      bool
}

func (t *Told) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(toldKind, t.From|t.To<<4, uint8(t.Reason), t.Notice|flag(t.LastRoute)<<6|flag(t.Shared)<<7, t.Route)
	return w0, t.Generation, uint64(t.At), both(t.Observation.Raw, t.Observation.VendorErr), uint64(t.Observation.octet()), 0, 0
}

func (r *record) told() Told {
	states, flags := r.octet(1), r.octet(3)
	return Told{
		From: states & 15, To: states >> 4, Reason: classify.Reason(r.octet(2)), Route: r.number(),
		Notice: flags & 63, LastRoute: flags>>6&1 != 0, Shared: flags>>7 != 0,
		Generation: r[1], At: time.Duration(r[2]), Observation: observation(uint8(r[4]), r[3]),
	}
}

// Synced says that a route took in what the pause table has of its pair: something about
// a pair of that peer had changed, in this controller or in another one.
type Synced struct {
	Route    uint32
	Now      time.Duration
	Version  uint64
	Evidence uint64
	// The pair's verdict after it.
	Paused   bool
	TrialOut bool
	Count    int
	Resume   time.Duration // when a pause ends
}

func (s *Synced) words() (w0, w1, w2, w3, w4, w5, w6 uint64) {
	w0 = lead(syncedKind, flag(s.Paused), flag(s.TrialOut), 0, s.Route)
	return w0, uint64(s.Now), s.Version, s.Evidence, uint64(s.Count), uint64(s.Resume), 0
}

func (r *record) synced() Synced {
	return Synced{
		Route: r.number(), Paused: r.octet(1) != 0, TrialOut: r.octet(2) != 0,
		Now: time.Duration(r[1]), Version: r[2], Evidence: r[3], Count: int(r[4]), Resume: time.Duration(r[5]),
	}
}
