package main

import (
	"slices"

	"github.com/rdmagate/rdmagate/internal/enum"
)

// Level is how bad a finding is. The worst is the least.
type Level uint8

// The levels.
const (
	// Fault: an engine cannot work with it.
	Fault Level = iota
	// Warning: it works, slowly or not for long.
	Warning
	// Note: good to know, or not to be seen from here.
	Note
	// OK: looked at, and well.
	OK
)

// String returns the level as the report shows it.
func (l Level) String() string { return [...]string{"FAULT", "WARNING", "NOTE", "ok"}[l] }

// MarshalText returns the text of String.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (l *Level) UnmarshalText(text []byte) error { return enum.Parse(l, text, OK) }

// Finding is one thing that a check has to say. One that is OK has no reason and no
// remedy.
type Finding struct {
	Level Level `json:"level"`
	// Check is the name of the check.
	Check string `json:"check"`
	// Where is the device or port in question; empty for the whole machine.
	Where string `json:"where,omitempty"`
	// Seen is what was seen, Why the reason for which it matters, Fix what to do.
	Seen string `json:"seen"`
	Why  string `json:"why,omitempty"`
	Fix  string `json:"fix,omitempty"`
}

// ok returns a finding of something that is well.
func ok(where, seen string) Finding { return Finding{Level: OK, Where: where, Seen: seen} }

// sortFindings puts the worst first; within a level the order stays.
func sortFindings(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int { return int(a.Level) - int(b.Level) })
}

// tally counts the findings of each level.
func tally(all []Finding) (n [OK + 1]int) {
	for _, f := range all {
		n[f.Level]++
	}
	return n
}

// wrong reports whether there is a fault or a warning.
func wrong(all []Finding) bool {
	n := tally(all)
	return n[Fault]+n[Warning] > 0
}
