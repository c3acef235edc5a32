package classify

import "sync/atomic"

// RootCause remembers what put one QP, in one generation, into its error state.
// Whoever handles that QP's completions and events calls [RootCause.Note] with
// every verdict; the first that can be a root is kept. Evidence of a flush keeps
// a pointer to the RootCause and asks when it is itself asked, so root and
// flushes may arrive on different CQs and in either order, and the root may be
// an event.
//
// A flush before any root is known has none, and one of a QP that the
// application tore down never gets one: [RootCause.Seal] closes the record.
//
// The zero value is ready for use. A RootCause must not be copied after its
// first use; a new generation gets a new one. All methods are safe for
// concurrent use, never block and allocate nothing.
type RootCause struct {
	state atomic.Uint32
	cause Verdict // written once, between noting and noted
}

// The states of a RootCause.
const (
	rootOpen   uint32 = iota // nothing noted
	rootNoting               // one Note is writing cause
	rootNoted                // cause is there for good
	rootSealed               // torn down without a cause
)

// Note keeps v if it is the first verdict that can be a root, and reports
// whether it did. Failed completions other than flushes, counted deadlines,
// events that end the QP and a lost connection can be roots, whether they count
// against the route or not; everything else is ignored. After a true answer
// every later call of Cause finds v.
func (r *RootCause) Note(v Verdict) bool {
	if !v.IsRoot() || !r.state.CompareAndSwap(rootOpen, rootNoting) {
		return false
	}
	r.cause = v
	r.state.Store(rootNoted)
	return true
}

// Seal closes the record because the application tears the QP down: a root that
// was noted before stays, one that comes later is not taken. It reports whether
// there is no root, now and for ever. Sealing twice changes nothing.
func (r *RootCause) Seal() bool {
	r.state.CompareAndSwap(rootOpen, rootSealed)
	return r.state.Load() == rootSealed
}

// Cause is the root, if one has been noted.
func (r *RootCause) Cause() (Verdict, bool) {
	if r.state.Load() != rootNoted {
		return Verdict{}, false
	}
	return r.cause, true
}
