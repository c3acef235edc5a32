package classify

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMatricesFollowTheSpecification(t *testing.T) {
	for m := range mismatches {
		t.Error(m)
	}
}

// TestTranscriptionIsComplete guards the guard: a value that the transcription
// forgot would not be checked.
func TestTranscriptionIsComplete(t *testing.T) {
	seen := map[Source]map[uint32]bool{}
	for _, row := range specification {
		for _, o := range row.seen {
			source := o.verdict().Source()
			if seen[source] == nil {
				seen[source] = map[uint32]bool{}
			}
			seen[source][o.raw] = true
		}
	}
	for source, last := range map[Source]uint32{
		SourceCompletion: uint32(StatusTMRndvIncomplete),
		SourceAsyncEvent: uint32(EventWQFatal),
		SourceCMEvent:    uint32(CMEventInternal),
		SourceSignal:     uint32(SignalNoRail),
	} {
		first := uint32(0)
		if source == SourceSignal {
			first = 1
		}
		for n := first; n <= last; n++ {
			assert.True(t, seen[source][n], "%s %d is not in the transcription of the specification", source, n)
		}
	}
}

// TestEveryValueIsListedOnce also holds each row to its source.
func TestEveryValueIsListedOnce(t *testing.T) {
	assert.Empty(t, disorder(completionMatrix, eventMatrix, signalMatrix))
}

// disorder lists values that stand in two rows, and rows that mix sources.
func disorder(tables ...[]row) []string {
	var wrong []string
	taken := map[string]string{}
	for _, r := range slices.Concat(tables...) {
		for _, value := range r.values() {
			if other, twice := taken[value.text]; twice {
				wrong = append(wrong, fmt.Sprintf("%s stands in the rows %q and %q", value.text, other, r.name))
			}
			taken[value.text] = r.name
			if value.source != r.source {
				wrong = append(wrong, fmt.Sprintf("row %q has source %s but lists %s", r.name, r.source, value.text))
			}
		}
	}
	return wrong
}

// value is one value that a row lists.
type value struct {
	source Source
	text   string
}

func (r row) values() []value {
	var list []value
	add := func(source Source, number uint32, text string) {
		list = append(list, value{source, fmt.Sprintf("%s %d (%s)", source, number, text)})
	}
	for _, s := range r.statuses {
		add(SourceCompletion, uint32(s), s.String())
	}
	for _, e := range r.events {
		add(SourceAsyncEvent, uint32(e.event), e.event.String())
	}
	for _, s := range r.signals {
		add(SourceSignal, uint32(s), s.String())
	}
	for _, e := range r.cmEvents {
		add(SourceCMEvent, uint32(e), e.String())
	}
	return list
}

// TestEveryCellIsChecked changes each cell of the three tables in turn and
// expects the comparison with the specification to notice.
func TestEveryCellIsChecked(t *testing.T) {
	intact := matrices
	defer func() { matrices = intact }()
	require.True(t, followed(), "the tables must be right before a wrong one can prove anything")

	tables := [][]row{completionMatrix, eventMatrix, signalMatrix}
	cells := 0
	for ti, table := range tables {
		for ri, original := range table {
			for _, m := range mutations(original) {
				changed := slices.Clone(table)
				changed[ri] = m.row
				mutant := slices.Clone(tables)
				mutant[ti] = changed
				matrices = build(mutant...)
				cells++
				assert.True(t, !followed() || len(disorder(mutant...)) > 0,
					"row %q with %s went unnoticed", original.name, m.what)
			}
		}
	}
	assert.Greater(t, cells, 500, "every row has more than a dozen cells")
}

// followed reports whether nothing differs from the specification.
func followed() bool {
	for range mismatches {
		return false
	}
	return true
}

// mutation is a row with one cell changed.
type mutation struct {
	what string
	row  row
}

// mutations changes every cell of a row, one at a time.
func mutations(r row) []mutation {
	var list []mutation
	change := func(what string, apply func(*row)) {
		changed := r
		apply(&changed)
		list = append(list, mutation{what, changed})
	}
	for c := ClassNone; c <= ClassConnection; c++ {
		if c != r.class {
			change("class "+c.String(), func(r *row) { r.class = c })
		}
	}
	for s := ScopeNone; s <= ScopeDevice; s++ {
		if s != r.scope {
			change("scope "+s.String(), func(r *row) { r.scope = s })
		}
	}
	change("another action", func(r *row) { r.action ^= 1 })
	change("another reason", func(r *row) { r.reason ^= 1 })
	change("another source", func(r *row) { r.source = 1 + r.source%SourceCMEvent })
	for _, f := range []flags{countable, immediate, endsAttempt, releases, rootCause} {
		change(fmt.Sprintf("flag %#x flipped", f), func(r *row) { r.flags ^= f })
	}
	change("no name", func(r *row) { r.name = "" })
	change("no handling", func(r *row) { r.handling = "" })
	change("no controller text", func(r *row) { r.controller = "" })
	change("rest turned round", func(r *row) {
		if r.rest = !r.rest; r.rest && r.source == SourceSignal {
			r.signals = nil // signals have no rest; leave the row without a value
		}
	})
	change("a value of another row", func(r *row) {
		if len(r.statuses) > 0 && r.statuses[0] == StatusSuccess {
			r.statuses = append(slices.Clone(r.statuses), StatusFatalErr)
		} else {
			r.statuses = append(slices.Clone(r.statuses), StatusSuccess)
		}
	})
	return append(list, valueMutations(r)...)
}

// valueMutations takes each value out of a row, and changes each event's object.
func valueMutations(r row) []mutation {
	var list []mutation
	for i, s := range r.statuses {
		changed := r
		changed.statuses = slices.Delete(slices.Clone(r.statuses), i, i+1)
		list = append(list, mutation{"no status " + s.String(), changed})
	}
	for i, e := range r.events {
		changed := r
		changed.events = slices.Delete(slices.Clone(r.events), i, i+1)
		list = append(list, mutation{"no event " + e.event.String(), changed})

		changed.events = slices.Clone(r.events)
		changed.events[i].object ^= 1
		list = append(list, mutation{"another object of event " + e.event.String(), changed})
	}
	for i, s := range r.signals {
		changed := r
		changed.signals = slices.Delete(slices.Clone(r.signals), i, i+1)
		list = append(list, mutation{"no signal " + s.String(), changed})
	}
	for i, e := range r.cmEvents {
		changed := r
		changed.cmEvents = slices.Delete(slices.Clone(r.cmEvents), i, i+1)
		list = append(list, mutation{"no CM event " + e.String(), changed})
	}
	return list
}
