package taskstate

import (
	"sync"

	"github.com/rdmagate/rdmagate/rail"
)

// keptPerSeverity is how much evidence of each severity a record holds. Two
// let the state be explained exactly while one of two troubled slices recovers.
const keptPerSeverity = 2

// record is what a task keeps of its anomalies: how many slices are troubled, by
// severity, and the latest evidence of each severity. Its size is fixed.
//
// The counts belong to the attempt in the task's word and are zero exactly when
// the word shows no unresolved evidence.
type record struct {
	mu         sync.Mutex
	unresolved [severities + 1]uint32 // by severity; that of severityNone is unused
	noPath     uint64                 // number of the open NoUsablePath evidence, 0 if none
	last       uint64                 // number of the latest evidence
	base       uint64                 // all numbers of this record lie above it; never changes
	kept       [severities][keptPerSeverity]entry
}

// entry is one kept piece of evidence.
type entry struct {
	number  uint64 // 0: empty
	open    bool   // the slice that met it has not got past it
	attempt uint32
	hasPair bool
	pair    rail.Pair
	ev      Evidence // its Pair is nil; see pair
}

func (r *record) worst() severity {
	for s := severityUnavailable; s > severityNone; s-- {
		if r.unresolved[s] > 0 {
			return s
		}
	}
	return severityNone
}

// publish brings the task's word in line with the counts and adds the bits of
// also. It reports false, and has changed nothing, if the task is not in that
// attempt any more; the counts were zero then, before the caller touched them.
func (r *record) publish(t *Task, attempt uint32, also word) bool {
	for {
		w := t.load()
		if w.attempt() != attempt {
			return false
		}
		next := w&^(worstMask|noPathBit) | word(r.worst()) | also
		if r.noPath != 0 {
			next |= noPathBit
		}
		if w == next || t.swap(w, next) {
			return true
		}
	}
}

// count moves one unresolved piece of evidence between severities; either may be
// severityNone.
func (r *record) count(from, to severity) {
	if from != severityNone {
		r.unresolved[from]--
	}
	if to != severityNone {
		r.unresolved[to]++
	}
}

// keep stores the evidence in place of what its owner met before at the same
// severity, else of the oldest that is resolved, else of the oldest. It returns
// the evidence's number.
func (r *record) keep(s severity, owners uint64, attempt uint32, ev *Evidence) uint64 {
	number := r.nextNumber()
	victim := &r.kept[s-1][0]
	for i := range r.kept[s-1] {
		e := &r.kept[s-1][i]
		if e.number == owners {
			victim = e
			break
		}
		if e.open == victim.open && e.number < victim.number || !e.open && victim.open {
			victim = e
		}
	}
	*victim = entry{number: number, open: true, attempt: attempt, ev: *ev}
	if ev.Pair != nil {
		victim.pair, victim.hasPair = *ev.Pair, true
	}
	victim.ev.Pair = nil
	return number
}

// close marks the evidence as resolved, if it is still kept.
func (r *record) close(s severity, number uint64) {
	for i := range r.kept[s-1] {
		if e := &r.kept[s-1][i]; e.number == number {
			e.open = false
		}
	}
}

// relevant returns the evidence that explains the worst severity, or the latest
// resolved one if nothing is unresolved. It is nil in an empty record.
func (r *record) relevant(worst severity) *entry {
	var best *entry
	for i := range r.kept {
		if worst != severityNone && i != int(worst)-1 {
			continue
		}
		for j := range r.kept[i] {
			e := &r.kept[i][j]
			if e.number != 0 && (best == nil || newer(e, best)) {
				best = e
			}
		}
	}
	return best
}

// newer prefers open evidence to resolved, and then the later.
func newer(a, b *entry) bool {
	if a.open != b.open {
		return a.open
	}
	return a.number > b.number
}

// endAttempt resolves everything and begins the task's next attempt, in one step
// for every reader. Slices hold the number of their attempt and find out by it.
// It reports false, and has changed nothing, if nothing is unresolved any more.
func (r *record) endAttempt(t *Task) (word, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := t.load()
	for w.worst() != severityNone {
		if next := w.nextAttempt(); t.swap(w, next) {
			r.resolveAll()
			return next, true
		}
		w = t.load()
	}
	return w, false
}

func (r *record) resolveAll() {
	for i := range r.kept {
		for j := range r.kept[i] {
			r.kept[i][j].open = false
		}
	}
	r.unresolved = [severities + 1]uint32{}
	r.noPath = 0
}

func (r *record) recordNoPath(t *Task, ev *Evidence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.noPath != 0 {
		r.noPath = r.keep(severityUnavailable, r.noPath, t.load().attempt(), ev)
		return
	}
	r.count(severityNone, severityUnavailable)
	r.noPath = pendingNumber
	attempt := t.load().attempt()
	for !r.publish(t, attempt, 0) {
		attempt = t.load().attempt()
	}
	r.noPath = r.keep(severityUnavailable, 0, attempt, ev)
}

// closeNoPath resolves the task's own evidence in the counts.
func (r *record) closeNoPath() {
	if r.noPath == 0 {
		return
	}
	r.count(severityUnavailable, severityNone)
	r.close(severityUnavailable, r.noPath)
	r.noPath = 0
}
