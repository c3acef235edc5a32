package taskstate

import "github.com/rdmagate/rdmagate/classify"

// Slice is one slice's own part of its task's evidence. It lives in the permit
// and is reused by every retry. The zero value is ready and belongs to no task.
//
// The calls of one slice come one after the other, as its permit's life orders
// them: Refused any number of times, Admitted, then Failed or Succeeded. Only
// Failed (for a counted deadline) and SucceededLate (for the completion that
// comes after all) may run at the same time. Each must have returned before the
// next Refused or Admitted begins. Different slices of a task, and all queries,
// are free of each other.
type Slice struct {
	task       *Task
	generation uint64
	number     uint64 // of the unresolved evidence, valid with severity; it tells the record too
	attempt    uint32 // of the task, when the slice was last admitted or refused
	severity   severity
	refused    classify.Reason // of the latest Refused
	open       bool            // admitted, and not refused since
	late       bool            // the open attempt has ended in a late success
}

// Refused records that an admission was denied. If the slice is bound to another
// task, it changes over, and the old task keeps what the slice left unresolved.
//
// Evidence that is milder than what already troubles the slice leaves that
// standing, with one exception: a full window (BYTE_WINDOW, CONGESTION_FEEDBACK)
// says that the slice now has a path that is in use, and replaces an earlier
// LONG_UNAVAILABLE. A controller whose quarantined path has a trial due but no room
// for it answers PROBING. STALE_GENERATION and NEEDS_RENEW change nothing.
func (s *Slice) Refused(task *Task, ev *Evidence) Effect {
	s.bind(task)
	s.open = false
	if task == nil || ev == nil {
		return Nothing
	}
	s.refused = ev.Reason
	to := severityOf(ev.Reason)
	if to == severityNone {
		return Nothing
	}
	r := task.needRecord()
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		s.follow(task.load())
		if to < s.severity && !opensPath(ev.Reason) {
			return Outranked
		}
		if s.raise(r, to, ev) {
			return Recorded
		}
	}
}

// Waits reports whether the slice has been refused for this reason since it was
// last admitted, in the task's present attempt. Another Refused would add nothing
// but its time, so that a slice that is asked for again and again need not gather
// evidence each time. It takes no lock.
func (s *Slice) Waits(task *Task, reason classify.Reason) bool {
	return s.task == task && !s.open && s.refused == reason && s.severity != severityNone &&
		task.load().attempt() == s.attempt && task.record.Load().counted(s.number)
}

// Admitted begins a new attempt of the slice on a generation of its route, and
// resolves what troubled it before. A trial resolves nothing yet: its outcome
// does. If the slice is bound to another task, it changes over, and the old task
// keeps what the slice left unresolved. A nil task unbinds the slice.
//
// Without an anomaly of this slice it takes no lock and stores nothing in the task.
func (s *Slice) Admitted(task *Task, generation uint64, trial bool) {
	s.bind(task)
	s.generation, s.open, s.late = generation, true, false
	if task == nil {
		return
	}
	w := task.load()
	s.follow(w)
	if trial || s.severity == severityNone && !w.noPath() {
		return
	}
	r := task.record.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.follow(task.load())
	s.settle(r, 0)
}

// Succeeded records the success of the slice's attempt and resolves what troubled
// it. It is for completions that themselves ended the attempt; after a counted
// deadline use SucceededLate.
//
// In a task without trouble it costs one atomic load and at most one store.
func (s *Slice) Succeeded() Effect {
	t := s.task
	if t == nil {
		return Nothing
	}
	w := t.load()
	if s.severity == severityNone && w&(noPathBit|successBit) == successBit &&
		w.attempt() == s.attempt && s.open {
		return Recorded
	}
	if s.attempt == w.attempt() {
		s.follow(w)
	}
	return s.succeed(w)
}

// succeed is the part of Succeeded that has something to store.
func (s *Slice) succeed(w word) Effect {
	for {
		switch {
		case !s.open:
			return NotAdmitted
		case w.attempt() != s.attempt:
			return OldAttempt
		case s.severity != severityNone || w.noPath():
			return s.resolve(false)
		case s.task.swap(w, w|successBit):
			return Recorded
		}
		w = s.task.load()
	}
}

// SucceededLate records a success that arrived after a deadline had ended the
// attempt, while no retry has begun. The success stands, even when the call of
// Failed that belongs to the deadline comes second.
func (s *Slice) SucceededLate() Effect {
	switch {
	case s.task == nil:
		return Nothing
	case !s.open:
		return NotAdmitted
	case s.task.load().attempt() != s.attempt:
		return OldAttempt
	}
	return s.resolve(true)
}

// Failed records how the slice's attempt failed. Evidence of an older attempt of
// the task, or of another generation than the one the slice was admitted on,
// changes nothing, and the answer says so. Evidence that is milder than what
// already troubles the slice leaves that standing: a trial that ends without a
// verdict on its path does not resolve the quarantine.
func (s *Slice) Failed(ev *Evidence) Effect {
	if s.task == nil || ev == nil {
		return Nothing
	}
	to := severityOf(ev.Reason)
	switch {
	case to == severityNone:
		return Nothing
	case !s.open:
		return NotAdmitted
	case s.task.load().attempt() != s.attempt:
		return OldAttempt
	case ev.Generation != s.generation && ev.Generation != 0:
		return OldGeneration
	}
	r := s.task.needRecord()
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := s.task.load(); s.attempt == w.attempt() {
		s.follow(w)
	}
	switch {
	case s.late:
		return AlreadySucceeded
	case s.task.load().attempt() != s.attempt:
		return OldAttempt
	case to < s.severity:
		return Outranked
	case !s.raise(r, to, ev):
		return OldAttempt
	}
	return Recorded
}

// bind makes task the slice's task. What the slice leaves behind in another task
// stays there.
func (s *Slice) bind(task *Task) {
	if s.task != task {
		s.task = task
		s.severity = severityNone
	}
}

// follow moves the slice to the task's present attempt, which has resolved
// everything older. A task whose record has not counted the slice's trouble was
// zeroed in place: it knows nothing of this slice.
func (s *Slice) follow(w word) {
	if s.attempt != w.attempt() || s.severity != severityNone && !s.task.record.Load().counted(s.number) {
		s.attempt = w.attempt()
		s.severity = severityNone
	}
}

// raise makes ev what troubles the slice, with the record's lock held. It reports
// false, having changed nothing, if the task has begun another attempt.
func (s *Slice) raise(r *record, to severity, ev *Evidence) bool {
	from := s.severity
	r.count(from, to)
	if !r.publish(s.task, s.attempt, 0) {
		r.count(to, from)
		return false
	}
	var before uint64 // what ev takes the place of
	switch from {
	case severityNone: // the number is not valid
	case to:
		before = s.number
	default:
		r.close(from, s.number)
	}
	s.number = r.keep(to, before, s.attempt, ev)
	s.severity = to
	return true
}

// resolve ends what troubles the slice by a success.
func (s *Slice) resolve(late bool) Effect {
	r := s.task.needRecord()
	r.mu.Lock()
	defer r.mu.Unlock()
	w := s.task.load()
	if w.attempt() != s.attempt {
		return OldAttempt
	}
	s.follow(w)
	s.late = s.late || late
	if !s.settle(r, successBit) {
		return OldAttempt
	}
	return Recorded
}

// settle resolves what troubles the slice and the task itself, with the record's
// lock held. Without either, the counts stay as they are.
func (s *Slice) settle(r *record, also word) bool {
	if s.severity != severityNone {
		r.count(s.severity, severityNone)
		r.close(s.severity, s.number)
		s.severity = severityNone
	}
	r.closeNoPath()
	return r.publish(s.task, s.attempt, also)
}
