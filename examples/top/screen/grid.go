package screen

// grid is how wide the columns of devices and routes are, in cells; 0 leaves one out.
type grid struct{ name, state, bar, amount, rate, pressure, drain int }

// Widths of the columns, and what is left for names at least.
const (
	stateWidth    = 11 // QUARANTINED
	barWidth      = 10
	amountWidth   = 13 // 1023/1023 KiB
	rateWidth     = 9  // 99.9 GB/s
	pressureWidth = 8  // PRESSURE
	drainWidth    = 7  // 99.9 ms

	leastName, mostName, mostBar = 24, 46, 40
)

// gridFor returns the columns that a terminal has room for: the less it has, the fewer.
func gridFor(columns int) grid {
	g := grid{state: stateWidth, bar: barWidth, amount: amountWidth, rate: rateWidth, pressure: pressureWidth, drain: drainWidth}
	for _, c := range []*int{&g.drain, &g.pressure, &g.rate, &g.amount, &g.bar} {
		if g.name = columns - g.others(); g.name >= leastName {
			break
		}
		*c = 0
	}
	g.name = max(columns-g.others(), 1)
	if spare := g.name - mostName; spare > 0 && g.bar > 0 {
		more := min(spare, mostBar-g.bar)
		g.bar += more
		g.name -= more
	}
	return g
}

// others returns what the columns beside the name take, with a blank before each.
func (g grid) others() (n int) {
	for _, w := range []int{g.state, g.bar, g.amount, g.rate, g.pressure, g.drain} {
		if w > 0 {
			n += w + 1
		}
	}
	return n
}

// tail returns the width of the columns behind the amount, with the blanks between.
func (g grid) tail() (n int) {
	for _, w := range []int{g.rate, g.pressure, g.drain} {
		if w > 0 {
			n += w + 1
		}
	}
	return max(n-1, 0)
}

// row is the texts of one row.
type row struct {
	name, state, amount   string
	rate, pressure, drain string
	tail                  string // in the place of the last three, if there is one
	bar                   line
	ink                   ink // of the state
	weak                  ink // of all but name, state and bar
}

// line puts a row into the columns.
func (g grid) line(r row, more string) line {
	l := line{{left(r.name, g.name, more), plain}, {" " + left(r.state, g.state, more), r.ink}}
	if g.bar > 0 {
		l = append(append(l, span{" ", plain}), r.bar...)
	}
	if g.amount > 0 {
		l = append(l, span{" " + right(r.amount, g.amount), r.weak})
	}
	if r.tail != "" {
		if w := g.tail(); w > 0 {
			l = append(l, span{" " + left(r.tail, w, more), r.weak})
		}
		return l
	}
	if g.rate > 0 {
		l = append(l, span{" " + right(r.rate, g.rate), r.weak})
	}
	if g.pressure > 0 {
		i := r.weak
		if r.pressure == "high" {
			i = notice
		}
		l = append(l, span{" " + left(r.pressure, g.pressure, more), i})
	}
	if g.drain > 0 {
		l = append(l, span{" " + right(r.drain, g.drain), r.weak})
	}
	return l
}

// headline has the names of the columns.
func (g grid) headline(what, state string) line {
	l := g.line(row{
		name: what, state: state, amount: "IN FLIGHT", rate: "RATE", pressure: "PRESSURE", drain: "DRAIN",
		bar: line{{left("WINDOW", g.bar, ""), faint}}, ink: faint, weak: faint,
	}, "")
	l[0].ink = faint
	return l
}

// bar draws a part of a whole, next to the largest whole of the list.
func (d *drawing) bar(part, whole, largest float64, full ink) line {
	w := d.grid.bar
	if largest <= 0 || w == 0 {
		return line{{blanks(w), plain}}
	}
	// In half cells, and one at least for whatever there is.
	halves := func(x float64) int {
		if x <= 0 {
			return 0
		}
		return min(max(int(x/largest*float64(2*w)+0.5), 1), 2*w)
	}
	length := max((halves(whole)+1)/2, (halves(part)+1)/2)
	filled := halves(part)
	text := ""
	for range filled / 2 {
		text += d.signs.full
	}
	if filled%2 == 1 {
		text += d.signs.half
	}
	rest := ""
	for range length - (filled+1)/2 {
		rest += d.signs.empty
	}
	return line{{text, full}, {rest, faint}, {blanks(w - length), plain}}
}
