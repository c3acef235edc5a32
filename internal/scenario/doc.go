// Package scenario is a language for what happens to the paths of a transfer engine:
// which slices were asked for, posted and completed, which events came, and what the
// controller of package cc has to answer. A person writes it, a recorder writes it, and
// package replay runs it.
//
//	scenario 1
//	# A port goes down. Its route is tried again after the cooldown, and not before.
//	settings field
//	route r D1 P n1
//	renew r
//
//	transfer p1 r 64KiB
//	event PORT_ERR D1 port=1
//	acquire p1 r -> avoid PATH_QUARANTINED retry_after=30s
//	expect route r QUARANTINED failures=0
//
//	advance 30s
//	renew r
//	acquire p1 r -> admit            # the trial
//	acquire p2 r -> defer PROBING hint=divert
//	post p1
//	complete p1 RETRY_EXC_ERR vendor=0x81
//	expect task p1 LONG_UNAVAILABLE PROBE_FAILED
//
//	advance 60s
//	renew r
//	transfer p1 r 4KiB
//	expect route r HEALTHY window=64KiB
//
// A line is one [Statement]: a verb, arguments at their places, arguments with keys, and
// behind an arrow what is answered. A time before it, such as @1.5s, says when it
// happens. SCENARIO.md has every kind of statement; it is made from the same table
// ([Kinds]) that the parser, the printer and the binary form go by.
//
// # Text
//
// [Reader] reads text or binary, one statement after the other, and [Writer] writes
// either. [Parse] and [Print] are for a whole text. Print has one way to write each
// statement, as gofmt has. An unknown word is an error that names the nearest known one;
// all errors of a text are found at once.
//
// # Binary
//
// The same statements take about a dozen bytes each, and less when compressed. A file is
// a row of blocks. Each stands for itself, with its length and a checksum, so that a file
// that was cut off or damaged can be read up to there. Text to binary and back is the
// same text, if it was printed by Print.
package scenario

//go:generate go test -run TestPage -update
