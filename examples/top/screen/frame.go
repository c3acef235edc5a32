package screen

import (
	"slices"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/top/live"
)

// Size is that of a terminal, in cells.
type Size struct{ Columns, Rows int }

// drawing is a frame in the making.
type drawing struct {
	now   live.State
	rates rates
	style Style
	signs signs
	grid  grid
	size  Size
	ports bool // some route is on another port than the first
}

// Frame draws a state, with rates since the one before, which is nil if there is none.
// The title says whose state it is.
func Frame(then *live.State, now live.State, title string, size Size, style Style) []string {
	d := &drawing{now: now, rates: newRates(then, now), style: style, signs: style.signs(), grid: gridFor(size.Columns), size: size}
	d.ports = slices.ContainsFunc(now.Routes, func(r cc.RouteSnapshot) bool { return r.Pair.Port != 1 })
	lines := append(d.head(title), d.body(size.Rows-3)...)
	var out []string
	for _, l := range lines[:min(len(lines), max(size.Rows, 0))] {
		out = append(out, l.render(size.Columns, style))
	}
	return out
}

// body shares the rows below the head among devices, routes and transitions. A section
// has a blank line and a headline. When there are few rows, transitions go first, then
// devices.
func (d *drawing) body(rows int) (lines []line) {
	const frame = 2
	some := max(2, rows/5)
	var devices, transitions []line
	if rows >= 8 {
		devices = fold(d.devices(), some, len(d.now.Devices), "device", "devices")
		rows -= frame + len(devices)
	}
	all := d.transitions()
	if rows >= 8 {
		rows -= frame
		transitions = all[:min(some, len(all))]
		rows -= max(len(transitions), 1)
	}
	routes := fold(d.routes(), rows-frame, d.now.RouteCount(), "route", "routes")
	if transitions != nil { // what routes leave
		rows -= frame + len(routes)
		transitions = all[:min(len(transitions)+max(rows, 0), len(all))]
	}
	if devices != nil {
		lines = append(append(lines, nil, d.deviceHeadline()), devices...)
	}
	lines = append(append(lines, nil, d.routeHeadline()), routes...)
	if transitions != nil {
		lines = append(append(lines, nil, line{{"LATEST TRANSITIONS", faint}}), transitions...)
	}
	return lines
}

// fold keeps what room is for, and says how many more there are.
func fold(lines []line, room, total int, one, more string) []line {
	if total <= room && len(lines) == total {
		return lines
	}
	shown := max(0, min(room-1, len(lines)))
	return append(lines[:shown:shown], line{{several(total-shown, "more "+one, "more "+more), faint}})
}

// head has three lines: who, how the routes are, and what slices are answered.
func (d *drawing) head(title string) []line {
	mode := plain
	if d.now.Mode != cc.Enforce {
		mode = notice
	}
	who := line{{"rdmagate ", strong}, {d.now.Mode.String(), mode}, {"  " + clean(title, d.style), faint}}
	what := several(len(d.now.Devices), "device", "devices") + ", " + several(d.now.RouteCount(), "route", "routes")
	if gap := d.size.Columns - width(what) - who.width(); gap >= 2 {
		who = append(who, span{blanks(gap) + what, plain})
	}
	return []line{who, d.states(), d.decisions()}
}

// states counts the routes in each state, those first that need attention.
func (d *drawing) states() (l line) {
	for _, s := range []cc.State{cc.Quarantined, cc.Probing, cc.Suspect, cc.Congested, cc.Healthy} {
		if n := d.now.RoutesByState[s]; n > 0 {
			l = append(l, span{d.signs.dot + " ", stateInk[s]}, span{countText(n) + " " + s.String() + "   ", plain})
		}
	}
	if l == nil {
		l = line{{"no routes yet", faint}}
	}
	return l
}

// answered is a rate of one answer.
type answered struct {
	answer    string
	perSecond float64
	why       string // "" for several reasons, and for none
	ink       ink
}

// decisions tells how many slices a second were admitted and refused, and why; on a
// narrow screen only what they were answered.
func (d *drawing) decisions() line {
	const label = "slices/s  "
	if d.rates.seconds == 0 {
		return line{{label + "-", faint}}
	}
	var all, brief []answered
	if perSecond, known := d.rates.admitted(d.now); known {
		all = append(all, answered{"admit", perSecond, "", plain})
		brief = all[:1:1]
	}
	would := ""
	if d.now.Mode == cc.Observe {
		would = "would "
	}
	for _, r := range d.rates.refused(d.now) {
		a := answered{would + r.Answer().String(), r.perSecond, kindText(r.RefusalCount), plain}
		if r.Answer() == cc.Avoid {
			a.ink = bad
		}
		all = append(all, a)
		if i := slices.IndexFunc(brief, func(b answered) bool { return b.answer == a.answer }); i >= 0 {
			brief[i].perSecond += a.perSecond
		} else {
			a.why = ""
			brief = append(brief, a)
		}
	}
	l := answers(label, all)
	if l.width() > d.size.Columns {
		l = answers(label, brief)
	}
	return l
}

func answers(label string, list []answered) line {
	l := line{{label, faint}}
	for i, a := range list {
		if i > 0 {
			l = append(l, span{"   ", plain})
		}
		l = append(l, span{a.answer + " " + perSecondText(a.perSecond), a.ink})
		if a.why != "" {
			l = append(l, span{" " + a.why, faint})
		}
	}
	if len(list) == 0 {
		l = append(l, span{"none refused", faint})
	}
	return l
}

// perSecondText prints a rate of events, that of rare ones too.
func perSecondText(x float64) string {
	if x < 9.95 {
		return short(x)
	}
	return countText(uint64(x + 0.5))
}

// kindText says why slices were refused, and by which window.
func kindText(k cc.RefusalCount) string {
	if k.Domain == cc.NoDomain {
		return k.Reason.String()
	}
	return k.Reason.String() + "/" + k.Domain.String()
}
