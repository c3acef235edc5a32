package screen

import (
	"fmt"
	"strings"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

var stateInk = [...]ink{cc.Healthy: good, cc.Congested: notice, cc.Suspect: doubt, cc.Quarantined: bad, cc.Probing: active}

func (d *drawing) deviceHeadline() line { return d.grid.headline("DEVICE", "") }
func (d *drawing) routeHeadline() line  { return d.grid.headline("ROUTE", "STATE") }

func (d *drawing) devices() (lines []line) {
	var largest int64
	for _, dev := range d.now.Devices {
		largest = max(largest, dev.WindowBytes)
	}
	for _, dev := range d.now.Devices {
		lines = append(lines, d.grid.line(row{
			name: clean(dev.Device, d.style), state: lack(dev), ink: bad,
			bar:    d.bar(float64(dev.InFlightBytes), float64(dev.WindowBytes), float64(largest), good),
			amount: partText(dev.InFlightBytes, dev.WindowBytes),
			rate:   d.rates.device(dev), pressure: dev.Flow.Pressure.String(), drain: drainText(dev.Flow),
		}, d.signs.more))
	}
	return lines
}

// lack says which part of a device has no usable route.
func lack(dev cc.DeviceSnapshot) string {
	switch {
	case dev.Exhausted:
		return "EXHAUSTED"
	case len(dev.ExhaustedPorts) > 0:
		return "no port " + strings.Trim(fmt.Sprint(dev.ExhaustedPorts), "[]")
	}
	return ""
}

func drainText(f cc.FlowSnapshot) string {
	if t, ok := f.DrainTime.Get(); ok {
		return timeText(t)
	}
	return "-"
}

func (d *drawing) routes() (lines []line) {
	var largest int64
	for _, r := range d.now.Routes {
		if r.Health.State < cc.Quarantined {
			largest = max(largest, r.WindowBytes)
		}
	}
	names := d.names(d.now.Routes)
	for i, r := range d.now.Routes {
		state := r.Health.State
		text := row{name: names[i], state: state.String(), ink: stateInk[state]}
		if state >= cc.Quarantined {
			d.paused(&text, r)
		} else {
			text.bar = d.bar(float64(r.InFlightBytes), float64(r.WindowBytes), float64(largest), text.ink)
			text.amount = partText(r.InFlightBytes, r.WindowBytes)
			text.rate, text.pressure, text.drain = d.rates.route(r), r.Flow.Pressure.String(), drainText(r.Flow)
			text.tail = want(r)
		}
		lines = append(lines, d.grid.line(text, d.signs.more))
	}
	return lines
}

// paused fills in what is to be known of a route that is out of use.
func (d *drawing) paused(text *row, r cc.RouteSnapshot) {
	h := r.Health
	remaining := h.CooldownLeft
	whole := (d.now.Now - h.Since + remaining).Seconds()
	text.bar = d.bar(remaining.Seconds(), whole, whole, text.ink)
	text.tail = h.Reason.String()
	switch {
	case h.TrialOut:
		text.amount = "on trial"
	case remaining > 0:
		text.amount = secondsText(remaining) + " left"
	case r.NeedsRenew:
		text.amount = "no endpoint"
	default:
		text.amount = "trial due"
	}
	if h.Reason == classify.ReasonNone {
		text.tail = "-"
	}
}

// want says what a route that is in use lacks; nothing if it is well.
func want(r cc.RouteSnapshot) string {
	switch {
	case r.Health.PersistentFault:
		return "persistent fault"
	case r.NeedsRenew:
		return "no endpoint"
	case r.Health.KeptAsLast:
		return "last to the peer"
	}
	return ""
}

// names returns the names of routes. An incarnation is only in those that would
// otherwise be alike.
func (d *drawing) names(routes []cc.RouteSnapshot) []string {
	alike := map[rail.Pair]int{}
	for _, r := range routes {
		r.Pair.Incarnation = ""
		alike[r.Pair]++
	}
	list := make([]string, len(routes))
	for i, r := range routes {
		short := r.Pair
		short.Incarnation = ""
		if alike[short] == 1 {
			r.Pair = short
		}
		list[i] = d.pairText(r.Pair, d.grid.name)
	}
	return list
}

// leastPeer is what is left of a peer's name at least before the NICs' names are cut.
const leastPeer = 6

// pairText returns the name of a pair in so many cells: of a long one the peer's name is
// cut first. The port is in it where devices have several.
func (d *drawing) pairText(p rail.Pair, columns int) string {
	local, peer, remote := clean(p.Local, d.style), p.Peer, "/"+clean(p.Remote, d.style)
	if d.ports {
		local += fmt.Sprint(":", p.Port)
	}
	if p.Incarnation != "" {
		peer += "#" + p.Incarnation
	}
	local += d.signs.arrow
	peer = shorten(clean(peer, d.style), max(columns-width(local)-width(remote), leastPeer), d.signs.more)
	return shorten(local+peer+remote, columns, d.signs.more)
}

// transitions tells what happened, the latest first.
func (d *drawing) transitions() (lines []line) {
	const ageWidth = 10 // 119 min ago
	names := min(d.grid.name, max(d.size.Columns/3, leastPeer))
	for _, t := range d.now.Transitions {
		t.Pair.Incarnation = ""
		l := line{
			{right(secondsText(max(0, d.now.Now-t.At))+" ago", ageWidth) + "  ", faint},
			{left(d.pairText(t.Pair, names), names, d.signs.more) + " ", plain},
		}
		if t.Notice != cc.NoNotice {
			l = append(l, span{t.Notice.String(), notice})
		} else {
			l = append(l, span{t.From.String() + " " + d.signs.arrow + " ", faint}, span{t.To.String(), stateInk[t.To]})
		}
		if t.Cooldown > 0 {
			l = append(l, span{" " + secondsText(t.Cooldown), plain})
		}
		l = append(l, span{"  " + reasonText(t), plain})
		if t.Verdict != (classify.Verdict{}) && !t.Verdict.Succeeded() {
			l = append(l, span{"  " + t.Verdict.String(), faint})
		}
		lines = append(lines, l)
	}
	if lines == nil {
		lines = []line{{{"none", faint}}}
	}
	return lines
}

// reasonText says why a transition happened.
func reasonText(t cc.Transition) string {
	switch {
	case t.Reason != classify.ReasonNone:
		return t.Reason.String()
	case t.Verdict.Succeeded():
		return "success"
	}
	return "time passed"
}
