package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lastStep keeps the mismatches of the steps that had some.
type lastStep struct{ of [][]Mismatch }

func (l *lastStep) Trace(s *Step) {
	if len(s.Mismatches) > 0 {
		l.of = append(l.of, append([]Mismatch(nil), s.Mismatches...))
	}
}

// However many names of a statement are wrong, a bounded number of them is told.
func TestMismatchesOfAStepAreBounded(t *testing.T) {
	var names []string
	for i := range 30_000 {
		names = append(names, fmt.Sprint("q", i))
	}
	steps := &lastStep{}
	result := runText(t, begin+"complete "+strings.Join(names, ",")+" SUCCESS\n", Options{Tracer: steps})
	assert.Equal(t, int64(30_000), result.Mismatched)
	require.Len(t, result.Mismatches, MaxMismatches)
	require.Len(t, steps.of, 1)
	require.Len(t, steps.of[0], MaxMismatches+1)
	first, last := steps.of[0][0], steps.of[0][MaxMismatches]
	assert.Contains(t, first.Got, `no permit is called "q0"; there is none`)
	assert.True(t, last.NotRun())
	assert.Equal(t, "and 29000 more", last.Got)
	assert.Equal(t, 5, last.Line)
	assert.LessOrEqual(t, len(first.Statement), maxPlain+3)
	assert.True(t, strings.HasPrefix(first.Statement, "complete q0,q1,"))
	assert.True(t, strings.HasSuffix(first.Statement, "..."))
}

// What would run for ever is stopped, with the statement and what to do about it.
func TestRunawayIsStopped(t *testing.T) {
	defer func(n int) { mostHappens = n }(mostHappens)
	mostHappens = 100_000
	wide := "scenario 1\nset max_window_bytes=4GiB start_window_bytes=4GiB device_window_bytes=4GiB\nroute r D1 P n1\nrenew r\n"
	for _, text := range []string{
		begin + "ticks 10us\nadvance 8760h\n",
		wide + "send p r\nepoch low=r times=1000000\n",
		begin + "acquire p1..p60000 r 1 task=t1..t5000\nsnapshot times=1000000\n",
	} {
		result := runText(t, text+"expect route r HEALTHY\n", Options{})
		require.Len(t, result.Mismatches, 1, text)
		m := result.Mismatches[0]
		assert.True(t, m.NotRun())
		assert.Equal(t, strings.Count(text, "\n"), m.Line, "the statement is named: %s", m)
		assert.Contains(t, m.Got, "more than 100000 things happen in ")
		assert.Contains(t, m.Got, "let less time pass at once")
	}
}
