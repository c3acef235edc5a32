package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// width is the number of columns that the report keeps to.
const width = 100

const none = `This machine shows no RDMA NIC: there is nothing under /sys/class/infiniband.
If it has one, load its driver. In a container, check that /sys shows the host's devices.
Without hardware, the rdma_rxe module makes one of any network interface:
  rdma link add rxe0 type rxe netdev eth0
`

// report returns the table, and below it what does not fit into one.
func report(nics []discover.NIC, gids bool) string {
	if len(nics) == 0 {
		return none
	}
	var b strings.Builder
	rows := [][]string{{"NIC", "PORT", "STATE", "Gb/s", "LINK", "NUMA", "PCI", "NET DEVICES", "USABLE"}}
	usable := 0
	for _, n := range nics {
		rows = append(rows, nicRows(n)...)
		if n.Usable {
			usable++
		}
	}
	writeTable(&b, rows, []int{20, 4, 12, 5, 11, 7, 12, 15, 6})
	fmt.Fprintf(&b, "\n%d of %d NICs usable\n", usable, len(nics))

	if gids {
		rows := [][]string{{"NIC", "PORT", "GID", "TYPE", "ADDRESS", "NET DEVICE"}}
		for _, n := range nics {
			rows = append(rows, gidRows(n)...)
		}
		b.WriteString("\n")
		writeTable(&b, rows, []int{20, 4, 4, 7, 39, 15})
	}
	for _, n := range nics {
		writeNotes(&b, n)
	}
	return b.String()
}

// nicRows returns a row for each port; what belongs to the NIC is in the first.
func nicRows(n discover.NIC) [][]string {
	yes := map[bool]string{true: "yes", false: "no"}[n.Usable]
	row := func(name string, port [4]string, numa, pci, netDevs, usable string) []string {
		return []string{name, port[0], port[1], port[2], port[3], numa, pci, netDevs, usable}
	}
	var rows [][]string
	for _, p := range n.Ports {
		rate := "-"
		if p.Rate > 0 {
			rate = strconv.FormatFloat(p.Rate, 'f', -1, 64)
		}
		cells := [4]string{strconv.Itoa(int(p.Number)), p.State.String(), rate, p.LinkLayer.String()}
		rows = append(rows, row("", cells, "", "", "", ""))
	}
	if len(rows) == 0 {
		rows = append(rows, row("", [4]string{"-", "-", "-", "-"}, "", "", "", ""))
	}
	first := rows[0]
	copy(first[5:], []string{n.NUMA.String(), orDash(n.PCI), orDash(namesText(n.NetDevs)), yes})
	first[0] = nameText(n.Name)
	return rows
}

func gidRows(n discover.NIC) [][]string {
	var rows [][]string
	for _, p := range n.Ports {
		for _, g := range p.GIDs {
			rows = append(rows, []string{nameText(n.Name), strconv.Itoa(int(p.Number)), strconv.Itoa(g.Index), g.Type.String(), g.Addr.String(), orDash(nameText(g.NetDev))})
		}
	}
	return rows
}

// writeNotes writes why a NIC is not usable, and its problems.
func writeNotes(b *strings.Builder, n discover.NIC) {
	var notes []string
	if !n.Usable {
		notes = append(notes, "not usable: "+n.Why)
	}
	notes = append(notes, n.Problems...)
	if len(notes) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", cut(nameText(n.Name), width))
	for _, note := range notes {
		writeItem(b, note)
	}
}

// writeItem writes text as an item of a list.
func writeItem(b *strings.Builder, text string) {
	for i, line := range wrap(printable(text), width-4) {
		b.WriteString(map[bool]string{true: "  - ", false: "    "}[i == 0] + line + "\n")
	}
}

// writeTable writes rows in columns that are as wide as they need to be, and at
// most as wide as given. Text that is longer is cut; JSON has it whole.
func writeTable(b *strings.Builder, rows [][]string, most []int) {
	widths := columnWidths(rows, most)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = cut(cell, widths[i])
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// columnWidths returns how wide the columns are that have a limit.
func columnWidths(rows [][]string, most []int) []int {
	widths := make([]int, len(most))
	for _, row := range rows {
		for i := range widths {
			widths[i] = min(max(widths[i], utf8.RuneCountInString(row[i])), most[i])
		}
	}
	return widths
}

// cut shortens text to n characters, and shows that it did.
func cut(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}

// wrap breaks text at spaces into lines of at most n characters; a longer word is
// broken where the line ends.
func wrap(text string, n int) []string {
	var lines []string
	line := []rune{}
	for word := range strings.FieldsSeq(text) {
		next := []rune(word)
		if len(line) > 0 && len(line)+1+len(next) > n {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, next...)
		for len(line) > n {
			lines, line = append(lines, string(line[:n])), line[n:]
		}
	}
	return append(lines, string(line))
}

// nameText shows a name as it is, or quoted if it could be mistaken for more than
// one.
func nameText(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || r == ',' || r == '"' || !unicode.IsPrint(r) }) || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}

func namesText(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = nameText(name)
	}
	return strings.Join(shown, ",")
}

// printable replaces what would upset a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
