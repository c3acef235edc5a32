package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// width is the number of columns that the text keeps to.
const width = 80

// writeText writes the report for people: the findings, a line that counts them, and
// what was not looked at.
func writeText(w io.Writer, d document) error {
	var b strings.Builder
	var last Finding
	for i, f := range d.Findings {
		if i > 0 && (f.Level != OK || last.Level != OK) {
			b.WriteString("\n")
		}
		f.write(&b, last)
		last = f
	}
	n := tally(d.Findings)
	fmt.Fprintf(&b, "\n%s, %s, %s, %d ok\n", count(n[Fault], "fault"), count(n[Warning], "warning"), count(n[Note], "note"), n[OK])
	writeItem(&b, "not looked at: ", strings.Join(d.Skipped, "; "))
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes one finding; one that is well takes a line or two. A reason and a remedy
// that the last finding of the check had too are not said again.
func (f Finding) write(b *strings.Builder, last Finding) {
	title := f.Check
	if f.Where != "" {
		title += ": " + f.Where
	}
	if f.Level == OK {
		writeItem(b, fmt.Sprintf("%-9s", f.Level), title+": "+f.Seen)
		return
	}
	writeItem(b, fmt.Sprintf("%-9s", f.Level), title)
	writeItem(b, "  seen   ", f.Seen)
	again := last.Level == f.Level && last.Check == f.Check
	if !again || last.Why != f.Why {
		writeItem(b, "  why    ", f.Why)
	}
	if !again || last.Fix != f.Fix {
		writeItem(b, "  fix    ", f.Fix)
	}
}

// writeItem writes text behind a label, and further lines below the text. Without text
// it writes nothing.
func writeItem(b *strings.Builder, label, text string) {
	const indent = "         " // as long as the labels of findings
	for paragraph := range strings.Lines(text) {
		for _, line := range wrap(printable(strings.TrimSpace(paragraph)), width-len(label)) {
			b.WriteString(label + line + "\n")
			label = indent
		}
	}
}

// wrap breaks text at spaces into lines of at most n characters. What stands in `these
// quotes` is a command and is not broken, unless it is longer than a line; neither is
// any other word.
func wrap(text string, n int) []string {
	var lines []string
	line := []rune{}
	for _, word := range words(text, n) {
		if len(line) > 0 && len(line)+1+len(word) > n {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, word...)
		for len(line) > n {
			lines, line = append(lines, string(line[:n])), line[n:]
		}
	}
	if len(line) == 0 {
		return lines
	}
	return append(lines, string(line))
}

// words splits text at spaces, and takes a command that fits into a line for one word.
func words(text string, n int) [][]rune {
	var all [][]rune
	inside := false
	for field := range strings.FieldsSeq(text) {
		word := []rune(field)
		if last := len(all) - 1; inside && len(all[last])+1+len(word) <= n {
			all[last] = append(append(all[last], ' '), word...)
		} else {
			all = append(all, word)
		}
		if strings.Count(field, "`")%2 == 1 {
			inside = !inside
		}
	}
	return all
}

// printable replaces what would upset a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text)
}

// count writes a number of things, such as "1 port", "2 ports" and "3 retries".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, found := strings.CutSuffix(thing, "ry"); found {
		return fmt.Sprintf("%d %sries", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// few joins the first of some names, and says how many more there are.
func few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// bytesText writes a number of bytes with the unit that suits it.
func bytesText(n int64) string {
	for _, unit := range []struct {
		name  string
		shift uint
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if n >= 1<<unit.shift {
			text := fmt.Sprintf("%.1f", float64(n)/float64(int64(1)<<unit.shift))
			return strings.TrimSuffix(text, ".0") + " " + unit.name
		}
	}
	return count(int(n), "byte")
}
