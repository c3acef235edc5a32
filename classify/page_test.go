package classify

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write MATRICES.md from the tables")

// TestMatricesPage compares the documentation page with the tables. With -update,
// which go generate uses, it writes the page first.
func TestMatricesPage(t *testing.T) {
	want := page()
	if *update {
		require.NoError(t, os.WriteFile("MATRICES.md", []byte(want), 0o644))
	}
	got, err := os.ReadFile("MATRICES.md")
	require.NoError(t, err)
	assert.Equal(t, strings.Split(want, "\n"), strings.Split(string(got), "\n"),
		"MATRICES.md differs from the tables: run go generate")
}

const pageHead = `# Matrices

<!-- Written by go generate from the tables in this directory. Change those. -->

What every observation means: one table for work completions, one for asynchronous
events, one for everything else. Each line is one row of the tables that the code
reads.

- *Class* and *scope*: what kind of thing it is, and how far handling may reach.
- *Object*: what the owner of the operation, QP, CQ, port or device does.
- *Reason*: the evidence that it is to a task.
- *Marks*: **counts** is a hard error, which counts towards quarantine; **at once**
  isolates everything within the scope without counting; **ends attempt** says that
  the attempt is over; **releases** says that the bytes are not on the wire (any more);
  **root** can be what flushes of the same QP derive from.
`

// page is the documentation page, from the tables.
func page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, m := range []struct {
		title string
		rows  []row
	}{
		{"Work completions", completionMatrix},
		{"Asynchronous events", eventMatrix},
		{"Other signals and the control plane", signalMatrix},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n", m.title)
		b.WriteString("| Row | Values | Class / scope | Object | Reason | Marks | Route, device and task |\n")
		b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
		for _, r := range m.rows {
			fmt.Fprintf(&b, "| %s | %s | %s / %s | **%s.** %s | %s | %s | %s |\n",
				r.name, r.valueCell(), r.class, r.scope, r.action, r.handling, r.reason, r.flags.cell(), r.controller)
		}
	}
	return b.String()
}

// valueCell lists what a row is about. Signals have no numbers that anybody
// else would know.
func (r row) valueCell() string {
	if r.rest {
		return fmt.Sprintf("every other %s", r.source)
	}
	var list []string
	for _, s := range r.statuses {
		list = append(list, fmt.Sprintf("%d %s", s, s))
	}
	for _, e := range r.events {
		list = append(list, fmt.Sprintf("%d %s (names a %s)", e.event, e.event, e.object))
	}
	for _, s := range r.signals {
		list = append(list, s.String())
	}
	for _, e := range r.cmEvents {
		list = append(list, fmt.Sprintf("CM %d %s", e, e))
	}
	return strings.Join(list, "<br>")
}

func (f flags) cell() string {
	var list []string
	for _, m := range []struct {
		flag flags
		name string
	}{
		{countable, "counts"}, {immediate, "at once"}, {endsAttempt, "ends attempt"},
		{releases, "releases"}, {rootCause, "root"},
	} {
		if f&m.flag != 0 {
			list = append(list, m.name)
		}
	}
	return strings.Join(list, ", ")
}
