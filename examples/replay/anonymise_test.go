package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// told is what a run tells that does not depend on names.
type told struct{ answers, changes []string }

func (o *told) Trace(s *replay.Step) {
	for _, a := range s.Answers {
		if s.Statement.Kind != scenario.Due { // which answers labels
			o.answers = append(o.answers, a.Text)
		}
	}
	for _, c := range s.Transitions {
		o.changes = append(o.changes, c.From.String()+c.To.String()+c.Reason.String()+c.Notice.String()+c.At.String())
	}
}

func runText(t *testing.T, text string) (o told, result *replay.Result) {
	t.Helper()
	in, err := scenario.NewReader(strings.NewReader(text))
	require.NoError(t, err)
	result, err = replay.Run(in, replay.Options{Tracer: &o})
	require.NoError(t, err)
	return o, result
}

// Every scenario of the field is decided with other names as it is with its own.
func TestAnonymisedScenariosAreDecidedAlike(t *testing.T) {
	files, err := filepath.Glob("../../internal/replay/testdata/*.scenario")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	files = append(files, outage, "testdata/cases.scenario")
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		status, hidden, stderr := call(t, string(text), "-anonymise", "-")
		require.Zero(t, status, stderr)
		want, result := runText(t, string(text))
		require.True(t, result.OK(), file)
		got, result := runText(t, hidden)
		assert.Empty(t, result.Mismatches, file)
		if !strings.Contains(string(text), "random") { // chance does not depend on names, but takes long
			assert.Equal(t, want, got, file)
		}
		for _, name := range namesIn(t, hidden) {
			assert.Regexp(t, `^[a-z]+-[a-z2-7]{8,}$`, name, file)
		}
		assert.NotContains(t, hidden, "#")
	}
}

// namesIn returns the names in a text, but for labels that say nothing.
func namesIn(t *testing.T, text string) (names []string) {
	t.Helper()
	list, err := scenario.Parse(text)
	require.NoError(t, err)
	for _, s := range list {
		for _, a := range append(s.Args, s.Answer...) {
			if a.Text != "" && (a.Param.Type == scenario.String || !neutral(a.Text)) && !slices.Contains(names, a.Text) {
				names = append(names, a.Text)
			}
		}
	}
	return names
}

// No name of a recording survives, in any form, and the answers are the same.
func TestAnonymisedRecording(t *testing.T) {
	file := recording(t, recorder.Binary, 20_000)
	_, plain, _ := call(t, "", "-print", "text", file)
	plain += "mark \"the rack of " + secretPeer + "\"\nmark \"p1 waits for 65536 bytes on r1\"\n"
	plain = strings.Replace(plain, "recording ", "recording ", 1)
	plain = strings.Replace(plain, " serial=yes", " serial=yes program=secret-engine started=2026-03-04T05:06:07Z", 1)
	secrets := []string{secretPeer, secretIncarnation, secretNIC, "mlx5_1", "other-peer", "rack", "secret-engine", "2026-03-04"}
	for _, s := range secrets {
		require.Contains(t, plain, s)
	}
	want, result := runText(t, plain)
	require.True(t, result.OK())
	for _, form := range []string{"text", "binary"} {
		status, hidden, stderr := call(t, plain, "-anonymise", "-print", form, "-")
		require.Zero(t, status, stderr)
		_, text, _ := call(t, hidden, "-print", "text", "-")
		for _, s := range secrets {
			assert.NotContains(t, hidden, s)
			assert.NotContains(t, text, s)
			assert.NotContains(t, stderr, s)
		}
		assert.Contains(t, text, `mark "p1 waits for 65536 bytes on r1"`, "which names nothing")
		assert.Contains(t, stderr, "dropped: the date")
		assert.Contains(t, stderr, "kept, look whether they may be shown")
		got, result := runText(t, hidden)
		assert.True(t, result.OK())
		assert.Equal(t, want, got)
	}
}

// The same name has the same new name, whatever it is; another run has other ones, unless
// it has the same key.
func TestAnonymiseIsConsistent(t *testing.T) {
	text := "scenario 1  # of alpha\nroute r nic-a alpha nic-b\nroute s nic-b alpha nic-a incarnation=alpha\nrenew r\nrenew s\n" +
		"send team..1 r\n"
	text = strings.Replace(text, "scenario 1  # of alpha", "scenario 1\n# of alpha", 1)
	text = strings.Replace(text, "team..1", "batch1..batch3", 1) + "complete batch2 SUCCESS\nteardown batch1,batch3\nexpect task batch2 NORMAL\n"
	anonymise := func(args ...string) string {
		status, out, stderr := call(t, text, append(append([]string{"-anonymise"}, args...), "-")...)
		require.Zero(t, status, stderr)
		_, result := runText(t, out)
		require.True(t, result.OK(), out)
		return out
	}
	one := anonymise()
	m := regexp.MustCompile(`route r nic-(\w+) peer-(\w+) nic-(\w+)\nroute s nic-(\w+) peer-(\w+) nic-(\w+) incarnation=incarnation-(\w+)\n`).FindStringSubmatch(one)
	require.NotNil(t, m, one)
	assert.Equal(t, []string{m[1], m[2], m[3], m[2]}, []string{m[6], m[5], m[4], m[7]})
	assert.NotEqual(t, m[1], m[3])
	assert.NotEqual(t, one, anonymise(), "another run, other names")
	assert.Equal(t, anonymise("-key", "k"), anonymise("-key", "k"))
	assert.NotEqual(t, anonymise("-key", "k"), anonymise("-key", "l"))
	assert.NotContains(t, one, "# of alpha")
	assert.Contains(t, anonymise("-comments"), "# of alpha")
}

// Every parameter of the language that can hold a name has a rule.
func TestEveryNameHasARule(t *testing.T) {
	for _, k := range scenario.Kinds() {
		for _, p := range append(k.Params[:len(k.Params):len(k.Params)], k.Answers...) {
			if p.Type == scenario.Label || p.Type == scenario.String {
				assert.True(t, hidden[p.Name] != "" || dropped[p.Name], "%s of %s", p.Name, k.Name())
			}
		}
	}
}

func TestNeutralLabels(t *testing.T) {
	for label, is := range map[string]bool{
		"p1": true, "r": true, "t123456": true, "p1..p16": true, "poller2": true, "main": true, "none": true, "48213": false, "1..16": false,
		"job": false, "p1234567890": false, "p-1": false, "job1..job3": false, "host7": false, "": false,
	} {
		assert.Equal(t, is, neutral(label), label)
	}
	for remark, is := range map[string]bool{
		"p1 waits for 65536 bytes on r1": true, "r3 takes in the pause table: 2 failures, evidence 17": true,
		"r3 takes in the pause table: paused until 1h2m3.5s, a trial is out, evidence 17": true,
		"dumped on a transition of route 3 at 1h0m0.5s":                                   true, "p1 waits for host-b": false, "left out: acquire: peer is x": false,
	} {
		assert.Equal(t, is, plainRemark(remark), remark)
	}
}

// A label that is a number may be an order or a date: it gets another name.
func TestAnonymisedNumbers(t *testing.T) {
	text := `scenario 1
route 20260304 D1 P n1
renew 20260304
acquire 4111111111111111 20260304 task=770077 -> admit
unposted 4111111111111111 -> yes
send 20250101..20250103,5 20260304 1
complete 20250101,20250102..20250103,5 SUCCESS
acquire p1 20260304 task=none
unposted p1
transfer p2 20260304 64KiB RETRY_EXC_ERR
advance 1s
due -> 20260304
`
	_, result := runText(t, text)
	require.Empty(t, result.Mismatches)
	for _, form := range []string{"text", "binary"} {
		status, hidden, stderr := call(t, text, "-anonymise", "-print", form, "-")
		require.Zero(t, status, stderr)
		_, result = runText(t, hidden)
		assert.Empty(t, result.Mismatches)
		_, hidden, _ = call(t, hidden, "-print", "text", "-")
		for _, secret := range []string{"20260304", "4111111111111111", "770077", "2025", ",5"} {
			assert.NotContains(t, hidden, secret)
		}
		assert.Regexp(t, `acquire task-[a-z2-7]{8} route-[a-z2-7]{8} task=task-[a-z2-7]{8} -> admit`, hidden)
		assert.Contains(t, stderr, "kept: labels that are a letter and a number (task)")
		assert.Contains(t, stderr, "1 route")
	}
}

// What gets too long with other names is an error that says what to do.
func TestAnonymisedLineThatGetsTooLong(t *testing.T) {
	text := "scenario 1\npoller 10 D1\nbeat 10001..70000\nacquire 10001..70000 r1 1\nbeat job1..job65536\n"
	status, _, stderr := call(t, text, "-anonymise", "-")
	assert.Equal(t, exitTrouble, status)
	assert.Contains(t, stderr, ":5: scenario: ")
	assert.Contains(t, stderr, "bytes: at most 1048576; use several statements, or the binary form")
	status, _, stderr = call(t, text, "-anonymise", "-print", "binary", "-")
	assert.Zero(t, status, stderr)
}
