package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// judged mutates package weak.
func judged(t *testing.T, ctx context.Context, reasons string) *result {
	opts := options{only: regexp.MustCompile(""), reasons: reasons, longest: longest, workers: 2, news: io.Discard}
	r, err := mutate(ctx, ".", target{"testdata/weak", []suiteSpec{{pkg: "./testdata/weak"}}}, opts, io.Discard)
	require.NoError(t, err)
	return r
}

// The whole way, on a package with strong tests and weak ones.
func TestJudge(t *testing.T) {
	limitWas := limitLeast
	limitLeast = 1e9
	defer func() { limitLeast = limitWas }()
	r := judged(t, context.Background(), "testdata/reasons")
	fates := map[string]fate{}
	for _, m := range r.mutants {
		fates[m.key.function+" "+m.key.mutator+", "+m.key.change] = r.outcomes[m].fate
	}
	assert.Equal(t, map[string]fate{
		// At the limit, below and above it: no mutant gets by.
		"Full boundary, >= → >": killed,
		"Full negation, >= → <": killed,
		// The same, but nobody asks at the limit.
		"Crowded boundary, >= → >": survived,
		"Crowded negation, >= → <": killed,

		"Untested return, n + 1 → 0":   notCovered,
		"Untested arithmetic, + → -":   notCovered,
		"Untested constant, 1 → 2":     notCovered,
		"Untested constant, 1 → 0":     notCovered,
		"Same condition, n < 0 → true": killed,

		"Same condition, n < 0 → false": killed,
		"Same boundary, < → <=":         survived,
		"Same negation, < → >=":         killed,
		"Same constant, 0 → 1":          survived, // no test has 0 < n <= 1
		"Same constant, 0 → -1":         survived, // nor -1
		"Same return, -n → 0":           killed,
		"Same arithmetic, -n → n":       killed,
		"Same return, n → 0":            killed,

		"Down condition, n != 0 → false":     survived, // its test asks for nothing
		"Down negation, != → ==":             survived,
		"Down constant, 0 → 1":               survived,
		"Down constant, 0 → -1":              survived,
		"Down deletion, statement → nothing": tookTooLong,
		"Down increment, -- → ++":            tookTooLong,

		"Waits constant, 1 → 2":               survived,
		"Waits constant, 1 → 0":               killed, // by the runtime: all goroutines wait
		"Waits constant, 3 → 4":               killed,
		"Waits constant, 3 → 2":               killed,
		"Waits return, <-c → 0":               killed,
		"Waits deletion, statement → nothing": killed,

		// What would tell was left out.
		"Depth return, callers() - 1 → 0": notCovered,
		"Depth arithmetic, - → +":         notCovered,
		"Depth constant, 1 → 2":           notCovered,
		"Depth constant, 1 → 0":           notCovered,

		"callers return, runtime.Callers(0, make([]uintptr, 100)) → 0": notCovered,
		"callers constant, 0 → 1":                                      notCovered,
		"callers constant, 0 → -1":                                     notCovered,
		"callers constant, 100 → 101":                                  notCovered,
		"callers constant, 100 → 99":                                   notCovered,
	}, fates)
	require.Len(t, r.leftOut, 1)
	assert.Equal(t, "TestDepth", r.leftOut[0].test.name)

	var report bytes.Buffer
	assert.Error(t, finish([]*result{r}, "", &report), "it has survivors without a reason")
	t.Log(report.String())
}

// A run that is interrupted reports what it knows, and has not passed.
func TestInterrupted(t *testing.T) {
	src, err := load(".", "./testdata/weak")
	require.NoError(t, err)
	code, err := build(src)
	require.NoError(t, err)
	s, err := compile(context.Background(), ".", t.TempDir(), code, suiteSpec{pkg: "./testdata/weak"})
	require.NoError(t, err)
	_, err = s.measure(context.Background(), t.TempDir(), len(code.mutants), 2)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	r := &result{pkg: "weak", mutants: code.mutants, chosen: len(code.mutants), equivalent: &reasons{}, accepted: &reasons{}}
	r.outcomes = judgeAll(ctx, func(*mutant) []*suite { return []*suite{s} }, code.mutants, 1, func(*mutant, outcome) { stop() })
	assert.Equal(t, 1, r.count().run)
	assert.Contains(t, r.faults()[0], "interrupted")
}

// Mutants that nobody expects to be killed run quick tests only; the others keep them all.
func TestQuickTests(t *testing.T) {
	quick, slow := &test{cpu: quickTest}, &test{cpu: quickTest + 1}
	s := &suite{tests: []*test{quick, slow}}
	assert.Equal(t, []*test{quick}, s.quick().tests)
	assert.Equal(t, []*test{quick, slow}, s.tests)
}
