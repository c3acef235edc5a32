package main

import (
	"fmt"
	"testing"
)

func TestMemlock(t *testing.T) {
	limit := func(text string) func(tree) {
		return func(t tree) {
			t.set("proc/self/limits", fmt.Sprintf("Max file size             1 1 bytes\nMax locked memory         %s   unlimited            bytes\nMax open files            9 9 files", text))
		}
	}
	with := func(text, caps, users string) func(tree) {
		return func(t tree) {
			limit(text)(t)
			t.set("proc/self/status", "Name:\tdoctor\nCapPrm:\t0000000000004000\nCapEff:\t"+caps)
			t.set("proc/self/uid_map", users)
		}
	}
	const all = "         0          0 4294967295"
	const fault = "FAULT: 8 MiB may be locked by this process, 1 GiB are to be registered"
	runExamples(t, checkMemlock, []example{
		{name: "off", ok: "the limit of locked memory is off"},
		{name: "small", edit: limit("8388608"), want: []string{fault}},
		{name: "just enough", edit: limit("1073741824"), ok: "1 GiB may be locked, 1 GiB are to be registered"},
		{name: "a byte short", edit: limit("1073741823"), want: []string{"FAULT: "}},
		{name: "enough for less", edit: limit("8388608"), with: func(h *host) { h.usage.registerBytes = 8 << 20 }, ok: "8 MiB are to be registered"},
		{name: "zero", edit: limit("0"), want: []string{"FAULT: 0 bytes may be locked"}},
		{name: "with the capability", edit: with("8388608", "0000000000004000", all), ok: "CAP_IPC_LOCK lifts the limit of 8 MiB"},
		{name: "with all other capabilities", edit: with("8388608", "ffffffffffffbfff", all), want: []string{fault}},
		{name: "with the capability in a user namespace", edit: with("8388608", "0000000000004000", "         0       1000          1"), want: []string{fault}},
		{name: "with the capability in a mapped namespace", edit: with("8388608", "0000000000004000", "         0     100000 4294967295"), want: []string{fault}},
		{name: "with bad capabilities", edit: with("8388608", "many", all), want: []string{fault}},
		{name: "unknown", edit: func(t tree) { t.drop("proc/self/limits") }},
		{name: "nonsense", edit: limit("some")},
		{name: "a sysfs alone", edit: limit("0"), with: func(h *host) { h.root = nil }},
	})
}
