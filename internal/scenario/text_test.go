package scenario

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canonical has every kind of value in the one form that Print gives it.
const canonical = `scenario 1
# Before everything.

settings field
set mode=observe min_window_bytes=64KiB cooldown=90s cooldown_cap=5m epoch=100ms prober=yes  # a comment
set worker=w2 target_drain=2.5ms suspect_after=0s stall_gap=1us
worker w2 pauses=shared
route r D1 P n1
route 7 "a@b:1 c" "" "#\n" port=2 incarnation=x worker=w2
poller k D1 cq=1,2
jitter 0.93,1,1.2
renew r qps=1..3,5,6 cq=1 srq=2 incarnation=18446744073709551615 -> 1

@1.5s acquire p1..p16,17 r 65537 gen=3 task=none -> defer BYTE_WINDOW domain=route hint=divert retry_after>=29s use=4
acquire p r -> admit
acquire p r 4GiB -> refused error=held
acquire p r -> defer NONE
acquire_list l r 1KiB,1KiB,1 gen=0
post l qp=1 -> error=stale_generation
unposted l from=2 -> released=2..31
unposted p -> no
complete p RETRY_EXC_ERR vendor=0x81 -> ended+released
complete l 99 slices=0,1,3..5 -> ended=none released=0..31
deadline p stalled
reject p ENOMEM
reject p 1
event PORT_ERR D1 port=1 -> reached=0
event 4294967295
due -> r,s
due ->
expect route r,s HEALTHY,CONGESTED failures=0 window<=1MiB in_flight!=0 delivered<5 cooldown>=30s drain>1ms within=1m30s
expect route r window=64KiB
never task p2..p9 CONGESTED ROUTE_TIMEOUT resolved=no
expect task p reason=ROUTE_TIMEOUT
end_never
case "a: the probe fails" mode=off
leave_open  # why not

@3723.000000001s clock
told 7 HEALTHY SUSPECT ROUTE_TIMEOUT source=completion raw=12 vendor=0x81 gen=2 last_route=yes
lost 0
# At the end.
`

// normal is canonical but for the durations that were written in another way.
var normal = strings.ReplaceAll(canonical, "within=1m30s", "within=90s")

func TestPrintIsStable(t *testing.T) {
	list, err := Parse(canonical)
	require.NoError(t, err)
	assert.Equal(t, normal, Print(list))
	list, err = Parse(normal)
	require.NoError(t, err)
	assert.Equal(t, normal, Print(list))
}

func TestPrintPutsInOrder(t *testing.T) {
	for in, want := range map[string]string{
		"set  law=round\tmode=off":                   "set mode=off law=round",
		"acquire task=t bytes=4096 route=r permit=p": "acquire p r 4KiB task=t",
		"complete p vendor=129 12":                   "complete p RETRY_EXC_ERR vendor=0x81",
		"advance 0.5m":                               "advance 30s",
		"advance 600s":                               "advance 10m",
		"advance 3600s":                              "advance 1h",
		"advance 0.25ms":                             "advance 250us",
		"advance 100ns":                              "advance 100ns",
		"@1m tick":                                   "@60s tick",
		"acquire p r 1.5MiB":                         "acquire p r 1536KiB",
		"acquire p r 0B":                             "acquire p r 0",
		"renew r qps=1,2,3,3,9..9":                   "renew r qps=1..3,3,9",
		"unposted l -> released=3,2,1,0":             "unposted l -> released=0..3",
		"jitter 1.50":                                "jitter 1.5",
		`route r "D1" P n1`:                          "route r D1 P n1",
		`route r "\x41 b" P n1`:                      `route r "A b" P n1`,
		"tick#":                                      "", // see below
		"tick   #":                                   "tick  #",
		"tick # x ":                                  "tick  # x",
		"acquire p r reason= -> admit":               "",
	} {
		list, err := Parse(header + "\n" + in + "\n")
		if want == "" {
			assert.Error(t, err, in)
			continue
		}
		require.NoError(t, err, in)
		require.Len(t, list, 1, in)
		assert.Equal(t, want, list[0].String(), in)
	}
}

func TestBlankLines(t *testing.T) {
	list, err := Parse("scenario 1\r\n\n\n\ntick\n  \n\t\n\n# c\n\n\n")
	require.NoError(t, err)
	assert.Equal(t, "scenario 1\ntick\n\n# c\n", Print(list))
	assert.Equal(t, "scenario 1\n", Print(nil))
}

// Each fault names the value, the rule and what helps, at its place; the others are
// found too.
func TestFaults(t *testing.T) {
	for in, want := range map[string]string{
		"aquire p r":                            `line 2, column 1: "aquire" is no statement; did you mean "acquire"?`,
		"fail p":                                `line 2, column 1: "fail" is no statement; there is settings, set, case, worker, route, poller, jitter, leave_open, renew, unreachable, acquire, probe, wait, handoff, acquire_list, fit, post, unposted, complete, deadline, cancel, teardown, reject, settle, event, tick, beat, close_poller, due, close_route, forget, close, snapshot, next_attempt, no_path, sweep, advance, send, transfer, reclaim, epoch, traffic, ticks, random, returned, classify, expect, never, end_never, recording, clock, told, found, lost, mark`,
		"expect":                                `line 2, column 7: expect without what it speaks of; there is route, device, task, pause, permit, path, notice, refusals`,
		"expect rote r":                         `line 2, column 8: "rote" is nothing that expect can speak of; did you mean "route"?`,
		"  expect route r HEALTY":               `line 2, column 18: "HEALTY" is no state; did you mean "HEALTHY"?`,
		"complete p RETRY_EXEC_ERR":             `line 2, column 12: "RETRY_EXEC_ERR" is no status; did you mean "RETRY_EXC_ERR"?`,
		"acquire p r 4KB":                       `line 2, column 13: bytes is "4KB", must be a number of bytes such as 65536, 64KiB or 1.5MiB`,
		"acquire p r 1.0001KiB":                 `line 2, column 13: bytes is "1.0001KiB", must be a number of bytes such as 65536, 64KiB or 1.5MiB`,
		"acquire p r 99999999999GiB":            `line 2, column 13: bytes is "99999999999GiB", must be a number of bytes such as 65536, 64KiB or 1.5MiB`,
		"advance 30":                            `line 2, column 9: time is "30", must be a time such as 30s, 1.5ms or 10m`,
		"advance -3s":                           `line 2, column 9: time is "-3s", must be a time such as 30s, 1.5ms or 10m`,
		"acquire p":                             `line 2, column 10: acquire lacks its route: the route`,
		"acquire p r 1 2":                       `line 2, column 15: "2" is one argument too many of acquire; what follows has a key: gen=, task=`,
		"leave_open now":                        `line 2, column 12: "now" is one argument too many of leave_open; it takes no more`,
		"acquire p r genn=1":                    `line 2, column 13: "genn" is no argument of acquire; did you mean "gen"?`,
		"acquire p r gen=1 gen=1":               `line 2, column 19: gen is given twice`,
		"acquire p r gen<1":                     `line 2, column 13: gen is given with =, not with <`,
		"acquire p r gen=1,2":                   `line 2, column 18: gen has one value; give no list`,
		"acquire p r -> admt":                   `line 2, column 16: "admt" is no answer; did you mean "admit"?`,
		"acquire p r -> admit -> admit":         `line 2, column 22: a second arrow; a statement has one answer`,
		"acquire p r ->":                        `line 2, column 15: the answer to acquire lacks its answer: what admission says`,
		"tick -> admit":                         `line 2, column 6: tick has no answer; write what is expected with expect`,
		"@x tick":                               `line 2, column 1: time "@x": must be @ and a time since the beginning, such as @1.5s`,
		"@1s":                                   `line 2, column 4: a time without a statement; write both on one line`,
		`route r "D1 P n1`:                      `line 2, column 9: device begins with a quote that is not closed, or holds an escape that Go does not know`,
		"route r D{1} P n1":                     `line 2, column 10: "{" cannot stand in device here; quote what holds other characters than letters, digits and _ - . / : @ + *`,
		`acquire "p" r`:                         `line 2, column 9: permit is "p", must be a name of letters, digits and _ - . / : @ + *, without quotes and without .. but for a range such as p1..p16`,
		"acquire p r1..r2":                      `line 2, column 11: route is "r1..r2", must be a name of letters, digits and _ - . / : @ + *, without quotes and without ..`,
		"unposted l from=1..2":                  `line 2, column 17: from is "1..2", must be a whole number from 0`,
		"complete p SUCCESS slices=0..32":       `line 2, column 27: slices is "0..32", must be numbers from 0 to 31 such as 0..7,9, or none`,
		"complete p SUCCESS vendor=x":           `line 2, column 27: vendor is "x", must be a number such as 0x81 or 129`,
		"complete p -1":                         `line 2, column 12: "-1" is no status; there is "SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR", "MW_BIND_ERR", "BAD_RESP_ERR", 16 more`,
		"jitter -1":                             `line 2, column 8: factor is "-1", must be a factor from 0 to 1000, such as 0.93`,
		"expect route r kept=true":              `line 2, column 21: kept is "true", must be yes or no`,
		"set colldown=1s \n aquire\nexpect x\n": "line 2, column 5: \"colldown\" is no argument of set; did you mean \"cooldown\"?\nline 3, column 2: \"aquire\" is no statement; did you mean \"acquire\"?\nline 4, column 8: \"x\" is nothing that expect can speak of; there is \"route\", \"device\", \"task\", \"pause\", \"permit\", \"path\", \"notice\", \"refusals\"",
		"expect route r HEALTY kept=true":       "line 2, column 16: \"HEALTY\" is no state; did you mean \"HEALTHY\"?\nline 2, column 28: kept is \"true\", must be yes or no",
	} {
		list, err := Parse(header + "\n" + in + "\ntick\n")
		assert.EqualError(t, err, want, in)
		if assert.NotEmpty(t, list, in) {
			assert.Equal(t, "tick", list[len(list)-1].String(), "what follows is read all the same")
		}
	}
}

func TestFirstLine(t *testing.T) {
	for in, want := range map[string]string{
		"":               `line 1, column 1: the first line is "", must be "scenario 1": the version of the language`,
		"tick\n":         `line 1, column 1: the first line is "tick", must be "scenario 1": the version of the language`,
		"scenario 2\n":   `line 1, column 1: the first line is "scenario 2", must be "scenario 1": the version of the language`,
		"RGSCEN\x02\n":   "scenario: binary file of version 2; this reads version 1",
		"scenario 1 x\n": `line 1, column 1: the first line is "scenario 1 x", must be "scenario 1": the version of the language`,
	} {
		_, err := Parse(in)
		assert.EqualError(t, err, want, "%q", in)
	}
	list, err := Parse("scenario 1")
	assert.NoError(t, err)
	assert.Empty(t, list)
}

func TestLongLine(t *testing.T) {
	list, err := Parse(header + "\n#" + strings.Repeat("x", 2*maxLine) + "\ntick\n")
	assert.EqualError(t, err, "line 2, column 1: the line is longer than 1048576 bytes; is it the right file?")
	require.Len(t, list, 1)
	assert.Equal(t, 3, list[0].Line)
	_, err = Parse(header + "\nrenew r qps=1..65536,1\n")
	assert.ErrorContains(t, err, "renew has 65538 values, at most 65536 are allowed")
}

func TestLabels(t *testing.T) {
	list, err := Parse(header + "\nacquire p8..p11,x,9..10,7 r\n")
	require.NoError(t, err)
	var got []string
	for id := range IDs(list[0].Values("permit")) {
		got = append(got, id.String())
	}
	assert.Equal(t, []string{"p8", "p9", "p10", "p11", "x", "9", "10", "7"}, got)
	assert.Equal(t, ID{Num: 7}, list[0].Args[3].ID())
	for _, bad := range []string{"p2..p1", "p1..q2", "p1..2", "p..p1", "p1..p99999999", "..", "a..b", "p01..p2"} {
		_, err := Parse(header + "\nacquire " + bad + " r\n")
		assert.Error(t, err, bad)
	}
}

// Each kind has a code, a name and parameters that can be told apart.
func TestTable(t *testing.T) {
	codes := map[uint8]string{plainCode: "nothing"}
	for _, k := range Kinds() {
		assert.NotContains(t, codes, k.Code, k.Name())
		codes[k.Code] = k.Name()
		assert.NotEmpty(t, k.Meaning, k.Name())
		for _, list := range [][]Param{k.Params, k.Answers} {
			seen := map[string]bool{}
			place := Required
			for _, p := range list {
				assert.False(t, seen[p.Name], "%s: %s", k.Name(), p.Name)
				seen[p.Name] = true
				assert.GreaterOrEqual(t, p.Place, place, "%s: %s stands before what must be given first", k.Name(), p.Name)
				place = p.Place
				assert.Equal(t, p.Type == Word, p.Words != nil, "%s: %s", k.Name(), p.Name)
				assert.Equal(t, strings.ToLower(p.Name), p.Name)
			}
		}
	}
}
