package classify

import "slices"

// row is one row of a matrix. Code and documentation come from it alone.
type row struct {
	facts

	// What the row is about: values of one of these enumerations, or every value
	// of the source that no other row names.
	statuses []Status
	events   []elementEvent
	signals  []Signal
	cmEvents []CMEventType
	rest     bool

	name       string // what was observed
	handling   string // what the owner of the object does
	controller string // what it means for route, device and task
}

// facts are the columns that a program reads. They are kept apart from the text
// so that looking one up costs a shift and a load.
type facts struct {
	class  Class
	scope  Scope
	action Action
	reason Reason
	source Source
	flags  flags
	_      [2]uint8 // a power of two, for the index
}

// flags are the yes-or-no columns.
type flags uint8

const (
	countable   flags = 1 << iota // a hard error of the route
	immediate                     // isolates its scope at once
	endsAttempt                   // the attempt is over
	releases                      // the hardware is done with the work request
	rootCause                     // flushes of the QP may derive from it

	// settles is what every completion does.
	settles = endsAttempt | releases
)

// elementEvent is an asynchronous event with the kind of object that it names.
type elementEvent struct {
	event  EventType
	object Object
}

// unknownValue is the slot for every value above those that are known. All four
// enumerations end well below it.
const unknownValue = 31

// lookup is the matrices, arranged for looking up: from a number to its row,
// from a row to its columns. Row 0 is the zero Verdict's.
type lookup struct {
	facts [256]facts
	rows  [256]row

	statuses, events, signals, cmEvents [unknownValue + 1]uint8

	objects [unknownValue + 1]Object // by event
}

// matrices is the one table that everything in this package reads.
var matrices = build(completionMatrix, eventMatrix, signalMatrix)

// build arranges the matrices.
func build(tables ...[]row) (m lookup) {
	m.rows[0].name = "no observation"
	for i, r := range slices.Concat(tables...) {
		m.add(uint8(i+1), r)
	}
	return m
}

// add enters a row under every value that it is about.
func (m *lookup) add(index uint8, r row) {
	m.rows[index] = r
	m.facts[index] = r.facts
	for _, s := range r.statuses {
		m.statuses[s] = index
	}
	for _, e := range r.events {
		m.events[e.event] = index
		m.objects[e.event] = e.object
	}
	for _, s := range r.signals {
		m.signals[s] = index
	}
	for _, e := range r.cmEvents {
		m.cmEvents[e] = index
	}
	if r.rest {
		m.fill(index, r.source)
	}
}

// fill enters a row under every value of its source that no row has named yet;
// such rows come last in their matrix.
func (m *lookup) fill(index uint8, source Source) {
	values := map[Source]*[unknownValue + 1]uint8{
		SourceCompletion: &m.statuses,
		SourceAsyncEvent: &m.events,
		SourceCMEvent:    &m.cmEvents,
	}[source]
	if values == nil {
		return
	}
	for i, taken := range values {
		if taken == 0 {
			values[i] = index
		}
	}
}
