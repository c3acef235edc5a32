package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rdmagate/rdmagate/rail"
)

// pathOptions are -peer and the flags that go with it.
type pathOptions struct {
	peer, local, railFile string
	prefix, prefix6       int
	localNode, remoteNode int
}

// printPaths prints every pair of a local NIC and one in the peer's file. It is an
// error if none can be used.
func printPaths(out io.Writer, local []rail.NIC, o pathOptions) error {
	theirs, err := readNICs("peer", o.peer)
	if err != nil {
		return err
	}
	remote, notes := rail.Devices(theirs)
	c := rail.MapConfig{Peer: "peer", Local: local, Remote: remote, IPv4Bits: o.prefix, IPv6Bits: o.prefix6}
	if o.railFile != "" {
		if c.File, err = readRailFile(o.railFile); err != nil {
			return err
		}
		if err := c.File.Check(c.Local, c.Remote); err != nil {
			return err
		}
	}
	m, err := rail.NewMap(c)
	if err != nil {
		return err
	}
	want := rail.Want{Local: rail.NodeOf(o.localNode), Remote: rail.NodeOf(o.remoteNode)}
	text := pathReport(m, want, notes)
	if len(local) == 0 {
		text = none
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if _, outcome := m.Select(nil, want); outcome != rail.Found {
		return fmt.Errorf("%v: no pair of NICs can be used", outcome.Reason())
	}
	return nil
}

func readRailFile(name string) (*rail.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return rail.ParseFile(f)
}

// pathReport returns the table of the pairs, and below it their count and the notes.
func pathReport(m *rail.Map, want rail.Want, notes []string) string {
	var b strings.Builder
	rows := [][]string{{"RANK", "LOCAL", "PORT", "REMOTE", "PORT", "WHY"}}
	for _, e := range m.Explain(want) {
		rank := "-"
		if e.Rank > 0 {
			rank = strconv.Itoa(e.Rank)
		}
		rows = append(rows, []string{rank, nameText(e.Local), portText(e.Port), nameText(e.Remote), portText(e.RemotePort), printable(e.Why)})
	}
	writeWrapped(&b, rows, []int{5, 20, 4, 20, 4})
	b.WriteString("\n" + m.String() + "\n")
	for _, note := range notes {
		writeItem(&b, note)
	}
	return b.String()
}

func portText(port uint8) string {
	if port == 0 {
		return "-"
	}
	return strconv.Itoa(int(port))
}

// writeWrapped writes rows in columns. Text that is longer than its column goes on in
// the next line, so that nothing is lost; the last column takes what is left of the
// width, and breaks between words.
func writeWrapped(b *strings.Builder, rows [][]string, most []int) {
	widths := columnWidths(rows, most)
	rest := width
	for _, n := range widths {
		rest -= n + 1
	}
	for _, row := range rows {
		last := len(row) - 1
		cells := make([][]string, len(row))
		lines := 0
		for i, cell := range row {
			if i < last {
				cells[i] = chunks(cell, widths[i])
			} else {
				cells[i] = wrap(cell, rest)
			}
			lines = max(lines, len(cells[i]))
		}
		for n := range lines {
			var line strings.Builder
			for i, cell := range cells {
				text := ""
				if n < len(cell) {
					text = cell[n]
				}
				line.WriteString(text)
				if i < last {
					line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+1))
				}
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
	}
}

// chunks breaks text into pieces of n characters.
func chunks(text string, n int) []string {
	var all []string
	for runes := []rune(text); ; runes = runes[n:] {
		if len(runes) <= n {
			return append(all, string(runes))
		}
		all = append(all, string(runes[:n]))
	}
}
