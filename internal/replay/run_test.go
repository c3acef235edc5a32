package replay

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

const begin = "scenario 1\nsettings field\nroute r D1 P n1\nrenew r\n"

// What does not come true is told with its place, what was expected and what was got.
func TestMismatches(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"an answer", "acquire p r -> defer BYTE_WINDOW\nunposted p\n",
			"line 5, at 0s: acquire p r -> defer BYTE_WINDOW: p: expected defer BYTE_WINDOW, got admit"},
		{"one answer of several", "send a r 1MiB\nacquire p,q r -> admit\ncomplete a SUCCESS\n",
			"line 6, at 0s: acquire p,q r -> admit: p: expected admit, got defer BYTE_WINDOW domain=route"},
		{"edges", "send p r\ncomplete p SUCCESS -> none\n",
			"line 6, at 0s: complete p SUCCESS -> none: p: expected none, got ended+released"},
		{"an error", "send p r\nacquire p r -> admit\ncomplete p SUCCESS\n",
			"line 6, at 0s: acquire p r -> admit: p: expected admit, got refused error=held"},
		{"a retry time", "event PORT_ERR D1 port=1\nacquire p r -> avoid retry_after>30s\n",
			"line 6, at 0s: acquire p r -> avoid retry_after>30s: p: expected avoid retry_after>30s, got avoid PATH_QUARANTINED retry_after=30s"},
		{"a route", "expect route r SUSPECT,PROBING failures>=1 window=1MiB\n",
			"line 5, at 0s: expect route r SUSPECT,PROBING failures>=1 window=1MiB: r: expected state=SUSPECT,PROBING failures>=1 window=1MiB, got state=HEALTHY failures=0"},
		{"a device", "expect device D1 in_flight=1 window=4MiB exhausted=yes\n",
			"line 5, at 0s: expect device D1 window=4MiB in_flight=1 exhausted=yes: device D1: expected window=4MiB in_flight=1 exhausted=yes, got in_flight=0 exhausted=no"},
		{"a task", "transfer p r 4KiB\nexpect task p CONGESTED ROUTE_TIMEOUT resolved=yes root=SUCCESS\n",
			"line 6, at 0s: expect task p CONGESTED ROUTE_TIMEOUT resolved=yes root=SUCCESS: p: expected state=CONGESTED reason=ROUTE_TIMEOUT resolved=yes root=SUCCESS, got state=NORMAL reason=NONE resolved=no root=none"},
		{"a pause", "expect pause r paused count=1 left>0s cooldown<30s trial_out=yes\n",
			"line 5, at 0s: expect pause r paused count=1 left>0s cooldown<30s trial_out=yes: r: expected standing=paused count=1 left>0s cooldown<30s trial_out=yes, got standing=healthy count=0 left=0s cooldown=30s trial_out=no"},
		{"a permit", "send p r\nexpect permit p held!=4KiB\ncomplete p SUCCESS\n",
			"line 6, at 0s: expect permit p held!=4KiB: p: expected held!=4KiB, got held=4KiB"},
		{"a path", "transfer p r 4KiB RETRY_EXC_ERR\nexpect path r QUARANTINED,SUSPECT\n",
			"line 6, at 0s: expect path r QUARANTINED,SUSPECT: r: expected QUARANTINED SUSPECT, got SUSPECT"},
		{"no path", "transfer p r 4KiB RETRY_EXC_ERR\nexpect path r\n",
			"line 6, at 0s: expect path r: r: expected no state entered, got SUSPECT"},
		{"a notice", "expect notice r persistent_fault\n",
			"line 5, at 0s: expect notice r persistent_fault: r: expected times>=1, got times=0"},
		{"refusals", "expect refusals r BYTE_WINDOW count=2\n",
			"line 5, at 0s: expect refusals r BYTE_WINDOW count=2: r: expected count=2, got count=0"},
		{"never", "never route r SUSPECT\ntransfer p r 4KiB RETRY_EXC_ERR\ntransfer p r 4KiB\n",
			"line 5, at 0s: never route r SUSPECT: r: expected never state=SUSPECT, got state=SUSPECT with line 6: transfer p r 4KiB RETRY_EXC_ERR"},
		{"within", "@1s expect route r SUSPECT within=2s\nadvance 1s\nadvance 5s\n",
			"line 5, at 3s: @1s expect route r SUSPECT within=2s: r: expected state=SUSPECT, got state=HEALTHY"},
		{"within, to the end", "expect route r SUSPECT within=2h\n",
			"line 5, at 0s: expect route r SUSPECT within=2h: r: expected state=SUSPECT, got state=HEALTHY"},
		{"due", "transfer p r 4KiB RETRY_EXC_ERR\nadvance 1s\ndue ->\n",
			"line 7, at 1s: due ->: r: expected not due, got due"},
		{"not due", "due -> r\n", "line 5, at 0s: due -> r: r: expected due, got not due"},
		{"send", "send a r 1MiB\nsend b r 1MiB\ncomplete a SUCCESS\n",
			"line 6, at 0s: send b r 1MiB: b: expected admit, got defer, BYTE_WINDOW of the route"},
		{"post", "acquire p r\nunposted p\npost p\n", "line 7, at 0s: post p: p: expected to be posted, got cc: Posting: permit is not held; acquire it first, and post each admission once"},
		{"renew", "renew r old=7 -> 2\n", "line 5, at 0s: renew r old=7 -> 2: r: expected 2, got error=stale_generation"},
		{"renew that fails unexpected", "renew r old=99\n", "line 5, at 0s: renew r old=99: r: expected to be renewed, got cc: Renew of generation 99"},
		{"renew that fails with an empty arrow", "renew r old=99 ->\n", "line 5, at 0s: renew r old=99 ->: r: expected none, got error=stale_generation"},
		{"renew that fails with another answer", "renew r old=99 -> 0\n", "line 5, at 0s: renew r old=99 -> 0: r: expected 0, got error=stale_generation"},
		{"acquire that fails unexpected", "send p r\nacquire p r\ncomplete p SUCCESS\n", "line 6, at 0s: acquire p r: p: expected a call that is right, got cc: "},
		{"a list of a permit's answer", "acquire_list l r 4KiB,4KiB\npost l\ncomplete l SUCCESS -> none\n",
			"line 7, at 0s: complete l SUCCESS -> none: l: expected none, got ended=0,1 released=0,1"},
		{"a list of a permit's answer, unposted", "acquire_list l r 4KiB,4KiB\nunposted l -> no\n", "line 6, at 0s: unposted l -> no: l: expected no, got released=0,1"},
		{"a permit of a list's answer", "send p r\ncomplete p SUCCESS -> ended=none released=none\n",
			"line 6, at 0s: complete p SUCCESS -> ended=none released=none: p: expected ended=none released=none, got ended+released"},
		{"an empty arrow", "acquire p r\npost p qp=77 ->\nunposted p\n", "line 6, at 0s: post p qp=77 ->: p: expected none, got error=unknown_qp"},
		{"an empty arrow of what took something", "send p r\ncomplete p SUCCESS ->\n", "line 6, at 0s: complete p SUCCESS ->: p: expected none, got ended+released"},
		{"reclaim", "send p r\nreclaim r -> 2\n", "line 6, at 0s: reclaim r -> 2: r: expected 2, got 1"},
		{"classify", "classify RETRY_EXC_ERR vendor=0x81 -> Success\n",
			"line 5, at 0s: classify RETRY_EXC_ERR vendor=0x81 -> Success: vendor_err 0x81: expected Success, got RouteTimeout QP counts=yes"},
		{"told", "told r HEALTHY SUSPECT ROUTE_TIMEOUT\nacquire p r\nunposted p\n",
			"line 6, at 0s: acquire p r: transition: expected r HEALTHY SUSPECT ROUTE_TIMEOUT, got none"},
		{"a permit that is held in the end", "send p r\n", "at the end, at 10s: permit p of route r: expected no bytes held, got 4096 bytes"},
		{"never, in the end", "transfer p r 4KiB RETRY_EXC_ERR\nnever permit p held>0\ntraffic r 1 4KiB\nnever notice r persistent_fault\nnever route r in_flight=0\n",
			"line 9, at 0.001s: never route r in_flight=0: r: expected never in_flight=0, got in_flight=0 at the end"},
		{"a permit that was never acquired", "send p1 r\ncomplete p4 SUCCESS\n", `line 6, at 0s: complete p4 SUCCESS: no permit is called "p4"; did you mean "p1"?`},
		{"a permit that was never acquired, unposted", "unposted pq\n", `line 5, at 0s: unposted pq: no permit is called "pq"; there is none`},
		{"a permit that was never acquired, posted", "post pq\n", `line 5, at 0s: post pq: no permit is called "pq"; there is none`},
		{"a permit that was never acquired, twice", "cancel pq -> none\ncancel pq\n", `line 6, at 0s: cancel pq: no permit is called "pq"; there is none`},
		{"a permit that was never acquired, and took something", "teardown pq -> released\n", "line 5, at 0s: teardown pq -> released: pq: expected released, got none"},
		{"nobody waits", "returned pq\n", "line 5, at 0s: returned pq: pq does not wait"},
		{"no route due", "transfer p r 4KiB RETRY_EXC_ERR\ndue -> none\n", "line 6, at 0s: due -> none: r: expected not due, got due"},
		{"an unknown route within", "expect route r,c SUSPECT within=1s\nadvance 1h\n", `line 5, at 0s: expect route r,c SUSPECT within=1s: no route is called "c"; did you mean "r"?`},
		{"a waiter that still waits", "send p r 1MiB\nwait w r 1MiB\ncomplete p SUCCESS\nreturned w -> defer\nunposted w\n",
			"line 8, at 0s: returned w -> defer: w: expected defer, got admit"},
		{"an unknown route", "acquire p rr\n", `line 5, at 0s: acquire p rr: no route is called "rr"; did you mean "r"?`},
		{"an unknown worker", "tick worker=x\n", `line 5, at 0s: tick worker=x: no worker is called "x"; there is "main"`},
		{"an unknown device", "expect device D2\n", `line 5, at 0s: expect device D2: no device of main is called "D2"; did you mean "D1"?`},
		{"an unknown route that may never", "never route rr SUSPECT\n", `line 5, at 0s: never route rr SUSPECT: no route is called "rr"; did you mean "r"?`},
		{"time that goes back", "advance 2s\n@1s tick\n", "line 6, at 2s: @1s tick: it is 2s already; time does not go back"},
		{"a late setting", "set mode=off\n", "line 5, at 0s: set mode=off: there is a controller already; set its configuration before the first route, poller, event or tick"},
		{"too often", "snapshot times=1000001\n", "line 5, at 0s: snapshot times=1000001: times is at most 1000000"},
		{"a second route of the name", "route r D2 P n1\n", "line 5, at 0s: route r D2 P n1: there is a route of that name already"},
		{"an event without its element", "event PORT_ERR D1\n", "line 5, at 0s: event PORT_ERR D1: cc: Event: event 10 (port error)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result := runText(t, begin+tt.text, Options{})
			require.NotEmpty(t, result.Mismatches)
			assert.Contains(t, result.Mismatches[0].String(), tt.want)
			assert.LessOrEqual(t, len(result.Mismatches), 6)
			assert.False(t, result.OK())
		})
	}
}

// What says that it speaks of nothing is right.
func TestNothing(t *testing.T) {
	result := runText(t, begin+`complete p4 SUCCESS -> none
unposted pq -> no
post pq -> error=not_held
complete l1 SUCCESS -> ended=none released=none
acquire p r gen=99 -> refused
due -> none
due ->
`, Options{})
	assert.Empty(t, result.Mismatches)
}

func TestWrongConfiguration(t *testing.T) {
	result := runText(t, "scenario 1\nset min_window_bytes=1GiB\nroute r D1 P n1\nrenew r\n", Options{})
	require.Len(t, result.Mismatches, 2)
	assert.Contains(t, result.Mismatches[0].Got, "cc: MinWindowBytes is 1073741824, must not be above MaxWindowBytes")
}

// Each case is run with what stands before the first, in a world and with a configuration
// of its own.
func TestCases(t *testing.T) {
	text := begin + `transfer p r 4KiB RETRY_EXC_ERR

case "three are too many"
expect route r SUSPECT

case "one is too many" hard_error_threshold=1
expect route r QUARANTINED

case "wrong" hard_error_threshold=1
expect route r SUSPECT
`
	result := runText(t, text, Options{})
	assert.Equal(t, []string{"three are too many", "one is too many", "wrong"}, result.Cases)
	require.Len(t, result.Mismatches, 1)
	assert.Equal(t, "wrong", result.Mismatches[0].Case)
	assert.Equal(t, 14, result.Mismatches[0].Line)
	assert.Equal(t, int64(3*(4+2)), result.Statements)

	set, err := ParseSet("hard_error_threshold=1")
	require.NoError(t, err)
	result = runText(t, text, Options{Set: set})
	assert.Empty(t, result.Mismatches)
	require.Len(t, result.Differences, 2)
	assert.Contains(t, result.Differences[0].String(), "got state=QUARANTINED (the configuration was changed)")
	_, err = ParseSet("hard_error_treshold=1")
	assert.EqualError(t, err, `replay: set hard_error_treshold=1: "hard_error_treshold" is no argument of set; did you mean "hard_error_threshold"?`)
}

// All faults of a text are told, and nothing is run.
func TestFaultsAreTold(t *testing.T) {
	r, err := scenario.NewReader(strings.NewReader(begin + "aquire p r\ncase x\ntick\npoost p\n"))
	require.NoError(t, err)
	_, err = Run(r, Options{})
	assert.ErrorContains(t, err, `line 5, column 1: "aquire" is no statement; did you mean "acquire"?`)
	assert.ErrorContains(t, err, `line 8, column 1: "poost" is no statement; did you mean "post"?`)
}

type recorder struct {
	steps       []string
	transitions []string
	answers     []string
}

func (r *recorder) Trace(s *Step) {
	r.steps = append(r.steps, s.At.String()+" "+s.Statement.String())
	for _, x := range s.Transitions {
		r.transitions = append(r.transitions, x.Worker+" "+x.Route+" "+x.To.String()+" "+x.Reason.String())
	}
	for _, a := range s.Answers {
		r.answers = append(r.answers, a.Of+" "+a.Text)
	}
	for _, m := range s.Mismatches {
		r.answers = append(r.answers, "mismatch "+m.Got)
	}
}

func TestTrace(t *testing.T) {
	var seen recorder
	runText(t, begin+"@1s transfer p,q r 4KiB RETRY_EXC_ERR takes=500ms\nacquire p,q r -> admit\nunposted p\n", Options{Tracer: &seen})
	assert.Equal(t, []string{"0s settings field", "0s route r D1 P n1", "0s renew r", "1.5s @1s transfer p,q r 4KiB RETRY_EXC_ERR takes=500ms",
		"1.5s acquire p,q r -> admit", "1.5s unposted p", "1.5s leave_open"}, seen.steps)
	assert.Equal(t, []string{"main r SUSPECT ROUTE_TIMEOUT"}, seen.transitions)
	assert.Equal(t, []string{"r ", "r 1", "p admit", "q admit", "p yes", "mismatch 4096 bytes", "mismatch 4096 bytes", "mismatch 4096 bytes",
		"mismatch defer, ROUTE_SUSPECT of the route, divert"}, seen.answers)
}

// Traffic goes on in the background while time moves.
func TestTraffic(t *testing.T) {
	result := runText(t, begin+`traffic r 10 512KiB every=1ms takes=5ms
expect route r in_flight=512KiB
advance 1ms
expect route r in_flight=1MiB delivered=0
advance 4ms
expect route r in_flight=1MiB delivered=512KiB
expect refusals r BYTE_WINDOW
expect route r delivered=5MiB within=30ms
never route r in_flight>1MiB
advance 30ms
expect route r in_flight=0 delivered=5MiB
`, Options{})
	assert.Empty(t, result.Mismatches)
}

// A poller that does not beat does not look.
func TestPollers(t *testing.T) {
	result := runText(t, "scenario 1\nsettings field\npoller k D1 cq=1,2\nroute r D1 P n1\nrenew r cq=2\n"+`
poller k2 D1 cq=2 -> error=invalid
send p r
advance 2s
deadline p -> none
beat k
advance 200ms
beat k
deadline p -> ended
teardown p -> released
close_poller k
poller k2 D1 cq=2
`, Options{})
	assert.Empty(t, result.Mismatches)
}

// The examples of the language's page and package come true.
func TestExamplesOfTheLanguage(t *testing.T) {
	doc, err := os.ReadFile("../scenario/doc.go")
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(doc)) {
		if text, found := strings.CutPrefix(line, "//\t"); found {
			lines = append(lines, text)
		}
	}
	require.NotEmpty(t, lines)
	assert.Empty(t, runText(t, strings.Join(lines, ""), Options{}).Mismatches)

	page, err := os.ReadFile("../scenario/SCENARIO.md")
	require.NoError(t, err)
	_, example, _ := strings.Cut(string(page), "```\n")
	example, _, found := strings.Cut(example, "```")
	require.True(t, found)
	assert.Empty(t, runText(t, example, Options{}).Mismatches)
}
