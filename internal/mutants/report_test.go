package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestScoreLeavesOutEquivalents(t *testing.T) {
	r := &result{outcomes: map[*mutant]outcome{}, equivalent: &reasons{why: map[string]string{}}, accepted: &reasons{}}
	for i, f := range []fate{killed, killed, tookTooLong, notCovered, survived, survived, notRun} {
		m := &mutant{key: key{occurrence: i + 2}}
		r.mutants = append(r.mutants, m)
		r.outcomes[m] = outcome{fate: f}
	}
	r.equivalent.why[r.mutants[5].key.String()] = "the same"
	c := r.count()
	assert.Equal(t, count{run: 6, killed: 2, tookTooLong: 1, notCovered: 1, survived: 1, equivalent: 1}, c)
	assert.Equal(t, 0.6, c.score())
	assert.Equal(t, r.mutants[3:5], r.survivors())
	assert.Len(t, r.faults(), 2, "the score, and survivors without a reason")
}

func TestPercentRoundsDown(t *testing.T) {
	assert.Equal(t, "94.9%", percent(0.94999))
	assert.Equal(t, "95.0%", percent(0.95))
	assert.Equal(t, "100.0%", percent(1))
}

// Fast tests run together; each process may take longer than the one before.
func TestBatches(t *testing.T) {
	var tests []*test
	for _, cpu := range []time.Duration{50, 50, 50, 50, 500, 900, 9000} {
		tests = append(tests, &test{cpu: cpu * time.Millisecond})
	}
	got := batches(tests)
	assert.Equal(t, [][]*test{tests[:3], tests[3:5], tests[5:6], tests[6:]}, got)
	assert.Empty(t, batches(nil))
}
