package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want []string
	}{
		{"", 10, nil},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 6, []string{"one", "two", "three"}},
		{"unbreakable", 4, []string{"unbr", "eaka", "ble"}},
		{"do `ip link` now", 10, []string{"do", "`ip link`", "now"}},
		{"do `ip link`, or not", 10, []string{"do", "`ip link`,", "or not"}},
		{"do `ip link set a up` now", 10, []string{"do", "`ip link", "set a up`", "now"}}, // longer than a line
		{"`a` b `c d`", 5, []string{"`a` b", "`c d`"}},
	} {
		assert.Equal(t, tt.want, wrap(tt.text, tt.n), "%q in %d", tt.text, tt.n)
	}
}

// What the finding before said is not said again, but what another check said is.
func TestAgain(t *testing.T) {
	finding := func(level Level, check, fix string) Finding {
		return Finding{Level: level, Check: check, Seen: "it", Why: "because", Fix: fix}
	}
	for _, tt := range []struct {
		second   Finding
		why, fix int
	}{
		{finding(Fault, "a", "do"), 1, 1},
		{finding(Fault, "a", "do else"), 1, 2},
		{finding(Warning, "a", "do"), 2, 2},
		{finding(Fault, "b", "do"), 2, 2},
	} {
		var out strings.Builder
		assert.NoError(t, writeText(&out, document{Findings: []Finding{finding(Fault, "a", "do"), tt.second}}))
		assert.Equal(t, tt.why, strings.Count(out.String(), "  why    because\n"), "%v", tt.second)
		assert.Equal(t, tt.fix, strings.Count(out.String(), "  fix    do"), "%v", tt.second)
		assert.Equal(t, 2, strings.Count(out.String(), "  seen   it\n"))
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 ports": count(0, "port"), "1 port": count(1, "port"), "2 ports": count(2, "port"), "1 retry": count(1, "retry"), "2 retries": count(2, "retry"),
	} {
		assert.Equal(t, want, got)
	}
}

func TestFew(t *testing.T) {
	assert.Equal(t, "a, b, c, d", few([]string{"a", "b", "c", "d"}))
	assert.Equal(t, "a, b, c, d and 1 more", few([]string{"a", "b", "c", "d", "e"}))
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 8 << 20: "8 MiB", 1 << 30: "1 GiB", 1 << 40: "1024 GiB",
	} {
		assert.Equal(t, want, bytesText(n))
	}
}

// Names in sysfs may hold anything.
func TestNames(t *testing.T) {
	machine := loadTree(t, "mlx5")
	for name, text := range machine {
		if strings.Contains(name, "infiniband/mlx5_1/") {
			machine[strings.ReplaceAll(name, "mlx5_1", "a\x1b[2J\nb")] = text
		}
	}
	machine.drop("sys/class/infiniband/mlx5_1")
	h := machine.host()
	h.look()
	var out strings.Builder
	assert.NoError(t, writeText(&out, document{examine(h), h.facts(), nil}))
	assert.NotContains(t, out.String(), "\x1b")
	assert.Contains(t, out.String(), "a?[2J?b")
}
