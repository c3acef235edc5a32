package recorder

import (
	"fmt"
	"slices"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// rare writes calls that are seldom made.
func (t *statements) rare(entry any) error {
	switch e := entry.(type) {
	case Route:
		return t.route(e)
	case Renew:
		return t.renew(e)
	case Look:
		t.s.Begin(scenario.Snapshot)
	case Unreachable:
		t.s.Begin(scenario.Unreachable).AddText("route", routeName(e.Route)).Add("old", int64(e.Old))
		t.stamp(e.Now)
	case CloseRoute:
		t.s.Begin(scenario.CloseRoute).AddText("route", routeName(e.Route))
	case Close:
		t.s.Begin(scenario.Close)
	case Forget:
		t.s.Begin(scenario.Forget).AddText("peer", e.Peer)
		if e.Incarnation != "" {
			t.s.AddText("incarnation", e.Incarnation)
		}
		t.s.Reply("routes", int64(len(e.Routes)))
	case Event:
		t.event(e)
	case Tick:
		if e.Skipped {
			return nil // another one ran
		}
		t.s.Begin(scenario.Tick)
		t.stamp(e.Now)
	case Due:
		t.due(e)
	case Poller:
		return t.poller(e)
	case Beat:
		t.s.Begin(scenario.Beat).AddText("poller", pollerName(e.Poller))
		t.stamp(e.Now)
	case ClosePoller:
		t.s.Begin(scenario.ClosePoller).AddText("poller", pollerName(e.Poller))
	default:
		return nil
	}
	return t.write()
}

func (t *statements) route(r Route) error {
	p := r.Pair
	t.s.Begin(scenario.Route).AddText("route", routeName(r.Number)).
		AddText("device", p.Local).AddText("peer", p.Peer).AddText("remote", p.Remote).Add("port", int64(p.Port))
	if p.Incarnation != "" {
		t.s.AddText("incarnation", p.Incarnation)
	}
	t.reply("error", int64(r.Fault))
	return t.write()
}

func (t *statements) renew(r Renew) error {
	t.s.Begin(scenario.Renew).AddText("route", routeName(r.Route))
	for _, field := range []struct {
		name string
		of   func(QP) uint64
	}{
		{"qps", func(q QP) uint64 { return q.ID }},
		{"cq", func(q QP) uint64 { return q.CQ }},
		{"srq", func(q QP) uint64 { return q.SRQ }},
		{"wq", func(q QP) uint64 { return q.WQ }},
		{"incarnation", func(q QP) uint64 { return q.Incarnation }},
	} {
		if field.name != "qps" && field.name != "cq" && !slices.ContainsFunc(r.QPs, func(q QP) bool { return field.of(q) != 0 }) {
			continue
		}
		for _, q := range r.QPs {
			t.s.Add(field.name, int64(field.of(q)))
		}
	}
	t.s.Add("old", int64(r.Old))
	t.add("empty", yes(len(r.QPs) == 0))
	t.s.Reply("gen", int64(r.New))
	t.reply("error", int64(r.Fault))
	return t.write()
}

func (t *statements) event(e Event) {
	at := e.Event.Element
	t.s.Begin(scenario.Event)
	t.stamp(e.Now)
	t.s.Add("type", int64(e.Event.Type))
	if at.Device != "" {
		t.s.AddText("device", at.Device)
	}
	t.add("port", int64(at.Port))
	t.add("qp", int64(at.QP))
	t.add("cq", int64(at.CQ))
	t.add("srq", int64(at.SRQ))
	t.add("wq", int64(at.WQ))
	t.s.Reply("reached", int64(e.Reached))
	t.reply("error", int64(e.Fault))
}

func (t *statements) due(e Due) {
	t.s.Begin(scenario.Due)
	t.stamp(e.Now)
	t.s.Answered = true
	for _, n := range e.Routes {
		t.s.Reply("route", 0)
		t.s.Answer[len(t.s.Answer)-1].Text = routeName(n)
	}
}

func (t *statements) poller(p Poller) error {
	t.s.Begin(scenario.Poller).AddText("poller", pollerName(p.Number)).AddText("device", p.Device)
	for _, cq := range p.CQs {
		t.s.Add("cq", int64(cq))
	}
	t.add("empty", yes(len(p.CQs) == 0))
	t.reply("error", int64(p.Fault))
	return t.write()
}

// sync remarks on what a route took in of the pause table, if that is news.
func (t *statements) sync(e Synced) error {
	was := t.synced[e.Route]
	t.synced[e.Route] = e
	if was.Paused == e.Paused && was.TrialOut == e.TrialOut && was.Count == e.Count && was.Resume == e.Resume {
		return nil
	}
	standing := fmt.Sprintf("%d failures", e.Count)
	if e.Paused {
		standing = "paused until " + scenario.Seconds(e.Resume)
		if e.TrialOut {
			standing += ", a trial is out"
		}
	}
	return t.mark(fmt.Sprintf("%s takes in the pause table: %s, evidence %d", routeName(e.Route), standing, e.Evidence))
}
