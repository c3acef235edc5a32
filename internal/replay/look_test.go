package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

const portDown = begin + "event PORT_ERR D1 port=1\n"

// What comes true too late, or is so only while time moves, is seen in one long advance
// as in many short ones.
func TestLooksWhileTimeMoves(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"too late", "expect route r cooldown_left=0s within=10s\nadvance 1h\n",
			"line 6, at 10s: expect route r cooldown_left=0s within=10s: r: expected cooldown_left=0s, got cooldown_left=20s"},
		{"too late by a nanosecond", "expect route r cooldown_left=0s within=29999999999ns\nadvance 1h\n",
			"line 6, at 29.999999999s: expect route r cooldown_left=0s within=29.999999999s: r: expected cooldown_left=0s, got cooldown_left=1ns"},
		{"in time", "expect route r cooldown_left=0s within=30s\nadvance 1h\n", ""},
		{"true between looks, at the deadline", "expect route r cooldown_left=29950ms within=50ms\nadvance 1h\n", ""},
		{"at any time", "expect route r cooldown_left=0s within=2562047h\nadvance 1h\n", ""},
		{"true for a moment", "expect route r cooldown_left=5s within=40s\nadvance 1h\n", ""},
		{"by a statement at the deadline", "expect route r HEALTHY within=30s\nrenew r\n@30s transfer p r 4KiB\n", ""},
		{"by a statement after the deadline", "expect route r HEALTHY within=29s\nrenew r\n@30s transfer p r 4KiB\n",
			"line 6, at 29s: expect route r HEALTHY within=29s: r: expected state=HEALTHY, got state=QUARANTINED"},
		{"never, for a moment", "never route r cooldown_left=5s\nadvance 1h\n",
			"line 6, at 25s: never route r cooldown_left=5s: r: expected never cooldown_left=5s, got cooldown_left=5s with line 7: advance 1h"},
		{"never, on the way to a statement", "never route r cooldown_left<5s\n@1h tick\n",
			"line 6, at 25.1s: never route r cooldown_left<5s: r: expected never cooldown_left<5s, got cooldown_left=4.9s with line 7: @3600s tick"},
		{"never, of the pause table", "route s D1 P n2 port=2\nrenew s qps=11..13\ntransfer a,b,c s 4KiB RETRY_EXC_ERR qp=11..13\nnever pause s left=5s\nadvance 1h\n",
			"line 9, at 25s: never pause s left=5s: s: expected never left=5s, got left=5s with line 10: advance 1h"},
		{"never, while a transfer takes its time", "event PORT_ACTIVE D1 port=1\nadvance 31s\nrenew r\nnever route r PROBING\ntransfer p r 4KiB takes=1s\n",
			"line 9, at 31s: never route r PROBING: r: expected never state=PROBING, got state=PROBING with line 10: transfer p r 4KiB takes=1s"},
		{"never, while an epoch goes on", "advance 31s\nrenew r\ntransfer p r 4KiB\nnever route r in_flight>0\nepoch low=r\n",
			"line 9, at 31s: never route r in_flight>0: r: expected never in_flight>0, got in_flight=64KiB with line 10: epoch low=r"},
		{"never, after it ended", "never route r cooldown_left=5s\nadvance 24s\nend_never\nadvance 1h\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result := runText(t, portDown+tt.text+"leave_open\n", Options{})
			if tt.want == "" {
				assert.Empty(t, result.Mismatches)
				return
			}
			if assert.NotEmpty(t, result.Mismatches) {
				assert.Equal(t, tt.want, result.Mismatches[0].String())
			}
		})
	}
}

// A long advance has more seldom looks, and still one at each deadline.
func TestLooksAreBounded(t *testing.T) {
	w := &world{never: make([]scenario.Statement, 3)}
	assert.Equal(t, time.Duration(maxTime), w.lookGap(time.Hour), "nothing that changes by itself")
	list, err := scenario.Parse("scenario 1\nnever route r cooldown_left=5s\nexpect pause r left=5s within=1s\nnever route r HEALTHY\n")
	require.NoError(t, err)
	w = &world{never: []scenario.Statement{list[0], list[2]}, pending: []pending{{Statement: list[1]}}}
	for _, d := range []time.Duration{0, time.Second, 13 * time.Hour, 14 * time.Hour, 100 * time.Hour, maxTime} {
		gap := w.lookGap(d)
		assert.LessOrEqual(t, 2*d/gap, time.Duration(maxLooks), "%s", d)
		assert.Equal(t, d < 14*time.Hour, gap == lookEvery, "%s", d)
		assert.Zero(t, gap%lookEvery, "%s: a round time is seen all the same", d)
	}
	result := runText(t, portDown+"expect route r cooldown_left=0s within=12345ms\nadvance 8000h\nleave_open\n", Options{})
	if assert.Len(t, result.Mismatches, 1) {
		assert.Equal(t, 12345*time.Millisecond, result.Mismatches[0].At)
	}
}

// What a condition may say of a subject does not change with time alone, but for what
// runs says.
func TestWhatRuns(t *testing.T) {
	for name, text := range map[string]string{
		"healthy":     "",
		"suspect":     "transfer p r 4KiB RETRY_EXC_ERR\n",
		"early":       "route o D1 P n2\nrenew o\nsend a r\ntick\nadvance 10ms\ntransfer p o 4KiB takes=10ms\ntick\n",
		"quarantined": "event PORT_ERR D1 port=1\n",
		"due":         "event PORT_ERR D1 port=1\nadvance 30s\n",
		"early due":   "event PORT_ERR D1 port=1\nevent PORT_ACTIVE D1 port=1\n",
		"probing":     "event PORT_ERR D1 port=1\nadvance 30s\nrenew r\nsend p r\n",
		"tried":       "event PORT_ERR D1 port=1\nadvance 30s\nrenew r\ntransfer p r 4KiB RETRY_EXC_ERR\n",
		"congested":   "epoch high=r times=3\nsend p r\nwait w r 1MiB\n",
		"deadline":    "send p r\ndeadline p\n",
		"refused":     "send p r 1MiB\nacquire q r 1MiB\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(&run{result: &Result{}, options: Options{Patience: 10 * time.Second}}, "")
			list, err := scenario.Parse("scenario 1\nsettings field\nset suspect_after=5ms\nroute r D1 P n1\nrenew r\n" + text)
			require.NoError(t, err)
			for i := range list {
				w.run(&list[i])
			}
			require.Empty(t, w.result.Mismatches)
			defer w.releaseWaiters(func(*permit) {})
			for _, line := range []string{"route r", "device D1", "pause r", "task p", "permit p", "path r", "notice r persistent_fault", "refusals r BYTE_WINDOW"} {
				s, err := scenario.Parse("scenario 1\nexpect " + line + "\n")
				require.NoError(t, err)
				before := w.seen(&s[0])
				for _, d := range []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour, 1000 * time.Hour} {
					w.setNow(w.clockNow() + d)
					for name, is := range w.seen(&s[0]) {
						if before[name] != is {
							args := []scenario.Arg{{Param: &scenario.Param{Name: name}}}
							assert.True(t, runs(&scenario.Statement{Args: args}), "%s of %s: %d, and %d after %s", name, line, before[name], is, d)
						}
					}
				}
			}
		})
	}
}

// seen is all that can be seen of the subjects of a condition.
func (w *world) seen(s *scenario.Statement) map[string]int64 {
	all := map[string]int64{}
	w.early = true
	defer func() { w.early = false }()
	for _, o := range w.observe(s) {
		all["states"] = int64(len(o.states))
		for _, p := range s.Kind.Params {
			if o.see != nil && p.Place != scenario.Required {
				all[p.Name] = o.see(p.Name)
			}
		}
	}
	return all
}

// Looking changes nothing: the same transitions and answers come at the same times.
func TestLookingChangesNothing(t *testing.T) {
	files, err := filepath.Glob("testdata/*.scenario")
	require.NoError(t, err)
	looked := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.Contains(string(text), "pauses=") || strings.Contains(string(text), "random") {
			continue // a look takes in what the others learnt, as any call would; it would take long
		}
		var more strings.Builder
		for line := range strings.Lines(string(text)) {
			more.WriteString(line)
			if words := strings.Fields(line); len(words) > 1 && words[0] == "route" && !strings.Contains(line, "->") {
				more.WriteString("never route " + words[1] + " cooldown_left>1000h\n")
				looked++
			}
		}
		var plain, watched recorder
		runText(t, string(text), Options{Tracer: &plain})
		runText(t, more.String(), Options{Tracer: &watched})
		assert.Equal(t, plain.transitions, watched.transitions, name)
		assert.Equal(t, plain.answers, watched.answers, name)
	}
	assert.Greater(t, looked, 20)
}
