package main

import (
	"encoding/json"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
)

// made is a report of made-up results of all steps that went through JSON, as those of the
// guest do. Throughput and goodput are 100 in the first arm, and 50 more in each of the
// others; all other figures 2.
func made(t *testing.T) report {
	t.Helper()
	rep := report{machine: machine.This(), seed: 42}
	for _, s := range steps() {
		r := result{Step: s, Rounds: 3, Took: time.Minute}
		for i, a := range s.Arms {
			ar := armResult{Arm: a.Name, Figures: map[string][][]float64{}}
			for round := range 3 {
				o := outcome{
					Figures: map[string]float64{}, Times: []time.Duration{time.Millisecond, 3 * time.Millisecond}, Checked: 1,
					End:    &end{Mode: a.Mode.String(), States: map[string]int{"HEALTHY": 1}, Refusals: map[string]uint64{"BYTE_WINDOW": 2}},
					Series: []series{{Name: "goodput", Unit: "MB/s", At: []time.Duration{0, time.Second}, Values: []float64{1, 2}}},
					Marks:  []mark{{time.Second / 2, "pairs are dead"}},
				}
				for _, f := range s.kind().Figures() {
					o.Figures[f.Name] = 2
				}
				o.Figures[throughput], o.Figures[goodput] = 100+50*float64(i), 100+50*float64(i)
				ar.add(0, round, o)
			}
			ar.pool()
			r.Arms = append(r.Arms, ar)
		}
		rep.Results = append(rep.Results, r)
	}
	text, err := json.Marshal(rep.findings)
	require.NoError(t, err)
	rep.findings = findings{}
	require.NoError(t, json.Unmarshal(text, &rep.findings))
	rep.Kernel = "6.1.0-test"
	return rep
}

func TestReportSaysWhatIsMissed(t *testing.T) {
	rep := made(t)
	rep.Results[0].Fault = "round 2: off: it broke"
	rep.Results[1].Arms[2].End.InFlight = 7
	p, err := rep.page()
	require.NoError(t, err)
	text, err := p.markdown()
	require.NoError(t, err)
	for _, line := range []string{
		"| bulk/write/64KiB | throughput of enforce at least 0.97 times that of compiled out | 2.500 (2.500 to 2.500) | met |",
		"| incast/1000 | goodput of enforce at least 2 times that of off | 1.667 (1.667 to 1.667) | **missed** |",
		"| incast/40 | goodput of enforce at least 1.5 times that of off | 1.667 (1.667 to 1.667) | met |",
		"| incast/40 | mean time from post to completion of enforce at most 0.2 times that of off | 1.000 (1.000 to 1.000) | **missed** |",
		"| throughput, MB/s | 100 | 150; 1.500 (1.500 to 1.500) | 200; 2.000 (2.000 to 2.000) |",
		"| refusals, by reason | 6 BYTE_WINDOW |",
		"mode enforce, 0 bytes in flight, routes 3 HEALTHY",
		"| payload, wrong of compared | 0 of 3 |",
		"**Ended early**: round 2: off: it broke",
	} {
		assert.Contains(t, text, line)
	}
	for _, setting := range []string{"seed 42", "6.1.0-test", "commit ", "target drain 20ms", "law round, window 64 / 64 / 65536 KiB", "ACK timeout 16.8ms"} {
		assert.Contains(t, text, setting)
	}
	assert.ErrorContains(t, rep.faults(), "it broke")
	assert.ErrorContains(t, rep.faults(), "7 bytes are in flight")
	assert.NoError(t, made(t).faults())
}

// A step that could not be set up has no ratio, and its goals are not met.
func TestNothingMeasuredIsNotMet(t *testing.T) {
	s := steps()[0]
	rep := report{machine: machine.This(), findings: findings{Results: []result{{Step: s, Fault: "no such device"}}}}
	p, err := rep.page()
	require.NoError(t, err)
	require.Len(t, p.Goals, len(s.Goals))
	for _, g := range p.Goals {
		assert.Equal(t, string(unknown), g.Verdict)
	}
}

// The page needs no other file, and every picture of the text is there.
func TestReportFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	p, err := made(t).page()
	require.NoError(t, err)
	require.NoError(t, p.write(folder))
	text, err := os.ReadFile(filepath.Join(folder, "report.html"))
	require.NoError(t, err)
	sources := regexp.MustCompile(`(?:src|href)="([^"]{0,20})`).FindAllSubmatch(text, -1)
	assert.Greater(t, len(sources), len(steps()))
	for _, m := range sources {
		assert.Regexp(t, "^(#|data:image/png)", string(m[1]))
	}
	assert.NotContains(t, string(text), "://")
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllSubmatch(text, -1) {
		id, err := url.PathUnescape(string(m[1]))
		require.NoError(t, err)
		assert.True(t, strings.Contains(string(text), `id="`+id+`"`), "there is %q, where a link leads to", id)
	}
	assert.Contains(t, string(text), `<td class="missed">missed</td>`)

	text, err = os.ReadFile(filepath.Join(folder, "report.md"))
	require.NoError(t, err)
	pictures := regexp.MustCompile(`!\[[^]]*\]\(([^)]*)\)`).FindAllSubmatch(text, -1)
	assert.Len(t, pictures, 1+len(steps()), "the overview, and what was over time")
	for _, m := range pictures {
		f, err := os.Open(filepath.Join(folder, string(m[1])))
		require.NoError(t, err)
		_, err = png.DecodeConfig(f)
		assert.NoError(t, err, "%s", m[1])
		assert.NoError(t, f.Close())
	}
	assert.Empty(t, strings.Count(string(text), "NaN"))
}

// Ends of rounds are summed, and a worker that says nothing at its own end takes nothing away.
func TestEnds(t *testing.T) {
	var sum *end
	one := func() *end {
		return &end{Mode: "off", States: map[string]int{"HEALTHY": 4}, Refusals: map[string]uint64{"PROBING": 2}}
	}
	for _, e := range []*end{one(), one(), nil} {
		sum = sum.add(e)
	}
	assert.Equal(t, &end{Mode: "off", States: map[string]int{"HEALTHY": 8}, Refusals: map[string]uint64{"PROBING": 4}}, sum)
}

func TestPooled(t *testing.T) {
	a := armResult{Figures: map[string][][]float64{}}
	for round := range 10 {
		var times []time.Duration
		for i := range 10 {
			times = append(times, time.Duration(10*round+i+1)*time.Millisecond)
		}
		a.add(0, round, outcome{Times: times})
	}
	a.pool()
	assert.Equal(t, map[string]float64{p50: 51, p99: 100}, a.Pooled)
}

// The steps in bulk together have the sittings of all of them.
func TestTogether(t *testing.T) {
	rep := made(t)
	all := rep.together()
	require.Len(t, all, 1)
	assert.Len(t, all[0].arm("off").Figures[throughput], 6)
	assert.Equal(t, "1.500 (1.500 to 1.500)", all[0].goalRow(all[0].Step.Goals[0]).Ratio)
	rep.Results = rep.Results[:1]
	assert.Empty(t, rep.together(), "one step alone")
}
