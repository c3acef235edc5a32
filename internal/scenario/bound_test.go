package scenario

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ranges are as many ranges of the greatest length as a line has room for.
func ranges(n int, form string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(form, i))
	}
	return strings.Join(list, ",")
}

// What all ranges of a statement stand for is bounded, and so is the memory that it takes
// to find out.
func TestRangesAreBounded(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"acquire p1..p65536 r", "acquire has 65537 values, at most 65536 are allowed, with those of ranges"},
		{"acquire p1..p40000 r task=t1..t40000", "acquire has 80001 values"},
		{"expect task " + ranges(3000, "q%d_1..q%[1]d_65536"), "expect task has 196608000 values"},
		{"beat " + ranges(3000, "q%d_1..q%[1]d_65536"), "beat has 196608000 values"},
		{"renew r qps=" + ranges(3000, "%d..65535"), "renew has "},
		{"due -> " + ranges(3000, "q%d_1..q%[1]d_65536"), "the answer to due has 196608000 values"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("scenario 1\n" + tt.text + "\n")
		runtime.ReadMemStats(&after)
		assert.ErrorContains(t, err, tt.want)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "%.40s", tt.text)
	}
	list, err := Parse("scenario 1\nacquire p1..p32767 r task=t1..t32768\nbeat 1..65536\nrenew r qps=1..65535\n")
	require.NoError(t, err, "65536 are allowed")
	s := list[0]
	s.Args = append([]Arg{s.Args[0]}, s.Args...)
	assert.ErrorContains(t, NewWriter(&bytes.Buffer{}, Binary).Write(&s), "acquire with 98303 values: at most 65536, with those of ranges")
}

// Of many faults the first are told, and how many more there are.
func TestFaultsAreBounded(t *testing.T) {
	for name, text := range map[string]string{
		"of many lines": strings.Repeat("x\n", 100_000),
		"of one line":   "tick" + strings.Repeat(" x", 100_000) + "\n",
	} {
		_, err := Parse("scenario 1\n" + text)
		require.Error(t, err, name)
		list := err.(interface{ Unwrap() []error }).Unwrap()
		require.Len(t, list, MaxFaults+1, name)
		assert.Equal(t, MoreFaults(99_000), list[MaxFaults].(MoreFaults)/1000*1000, name)
		assert.Contains(t, err.Error(), "\nand 99", name)
	}
}

// What would be too long a line is not written as text, and what follows it is.
func TestLineThatGetsTooLong(t *testing.T) {
	var long, next Statement
	long.Begin(Beat)
	for range 1 << 16 {
		long.AddText("poller", "poller-that-has-a-long-name")
	}
	next.Begin(Tick)
	var text, binary bytes.Buffer
	w := NewWriter(&text, Text)
	assert.ErrorContains(t, w.Write(&long), "would be a line of 1835013 bytes: at most 1048576; use several statements, or the binary form")
	require.NoError(t, w.Write(&next))
	require.NoError(t, w.Close())
	assert.Equal(t, "scenario 1\ntick\n", text.String())
	w = NewWriter(&binary, Binary)
	require.NoError(t, w.Write(&long))
	require.NoError(t, w.Close())
}

// The n-th of a list is found without those before it.
func TestNthID(t *testing.T) {
	list, err := Parse("scenario 1\nbeat a,7,p3..p5,10..12,b\n")
	require.NoError(t, err)
	values := list[0].Values("poller")
	var all []ID
	for id := range IDs(values) {
		all = append(all, id)
	}
	require.Len(t, all, 9)
	for i := range 30 {
		assert.Equal(t, all[i%9], NthID(values, i), "%d", i)
	}
}
