package replay

import (
	"fmt"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

func (w *world) configures(s *scenario.Statement) {
	for _, k := range w.crew {
		if k.ctl != nil {
			w.wrong(s, "there is a controller already; set its configuration before the first route, poller, event or tick")
			return
		}
	}
	w.settings = append(w.settings, clone(s))
}

// begins is the statement of a case. Its configuration counts from the beginning.
func (w *world) begins(s *scenario.Statement) {
	if w.name != s.Text("name") {
		w.wrong(s, fmt.Sprintf("a case comes within the first %d statements, and not in a recording", maxHead))
	}
}

func (w *world) makesWorker(s *scenario.Statement) {
	id := s.Values("worker")[0].ID()
	if w.workers[id] != nil {
		w.wrong(s, "there is a worker of that name already")
		return
	}
	k := w.addWorker(id)
	if pauses := s.Values("pauses"); len(pauses) > 0 {
		k.pauses, k.shared = pauses[0].ID(), true
	}
}

func (w *world) makesPoller(s *scenario.Statement) {
	k := w.worker(s)
	if k == nil {
		return
	}
	ctl := w.controller(s, k)
	if ctl == nil {
		return
	}
	cqs := []uint64{1}
	if none, _ := s.Num("empty"); none != 0 {
		cqs = nil
	}
	if list := s.Values("cq"); len(list) > 0 {
		cqs = cqs[:0]
		for _, a := range list {
			cqs = append(cqs, uint64(a.Num))
		}
	}
	id := s.Values("poller")[0].ID()
	p, err := ctl.NewPoller(s.Text("device"), cqs...)
	w.answered(s, id.String(), w.failed(s, err))
	if err != nil {
		if !s.Answered {
			w.wrong(s, err.Error())
		}
		return
	}
	w.pollers[id] = &poller{p}
}

func (w *world) pollersOf(s *scenario.Statement) (all []*poller) {
	for id := range scenario.IDs(s.Values("poller")) {
		p := w.pollers[id]
		if p == nil {
			w.unknown(s, "poller", id, keys(w.pollers))
			continue
		}
		all = append(all, p)
	}
	return all
}

func (w *world) beat(s *scenario.Statement) {
	for _, p := range w.pollersOf(s) {
		p.Beat(w.at(s))
	}
}

func (w *world) closePoller(s *scenario.Statement) {
	for _, p := range w.pollersOf(s) {
		p.Poller.Close()
	}
}

func (w *world) setsJitter(s *scenario.Statement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range s.Args {
		w.jitter.put(a.Factor())
	}
}

func (w *world) event(s *scenario.Statement) {
	num := func(name string) uint64 {
		n, _ := s.Num(name)
		return uint64(n)
	}
	if num("port") > 255 {
		w.wrong(s, "a port is 1 to 255")
		return
	}
	kind, _ := s.Num("type")
	e := classify.Event{Type: classify.EventType(kind), Element: classify.Element{
		Device: s.Text("device"), Port: uint8(num("port")), QP: num("qp"), CQ: num("cq"), SRQ: num("srq"), WQ: num("wq"),
	}}
	for _, k := range w.workersOf(s) {
		ctl := w.controller(s, k)
		if ctl == nil {
			continue
		}
		e.Element.QP = w.standInOf(k, e.Element.Device, num("qp"))
		_, reached, err := ctl.Event(e, w.at(s))
		got := w.reply(s)
		if reached != 0 {
			got.Reply("reached", int64(reached))
		}
		if err != nil {
			got.Reply("error", cause(err))
			if !s.Answered {
				w.wrong(s, err.Error())
			}
		}
		w.answered(s, k.name.String(), got)
	}
}

func (w *world) tick(s *scenario.Statement) {
	for _, k := range w.workersOf(s) {
		if ctl := w.controller(s, k); ctl != nil {
			ctl.Tick(w.at(s))
		}
	}
}

// noRoute is the label that says there is no route.
var noRoute = scenario.NewID("none")

// due compares the routes that want a probe: all of them, in any order.
func (w *world) due(s *scenario.Statement) {
	k := w.worker(s)
	if k == nil || w.controller(s, k) == nil {
		return
	}
	got := w.reply(s)
	is := map[scenario.ID]bool{}
	got.Answered = true
	for _, r := range k.ctl.Due(w.at(s)) {
		w.mu.Lock()
		known := w.byPair[pairOf{k, r.Pair()}]
		w.mu.Unlock()
		if known == nil {
			continue // nobody has given it a name
		}
		is[known.name] = true
		if known.name.Text == "" {
			got.Reply("route", known.name.Num)
		} else {
			got.ReplyText("route", known.name.Text)
		}
	}
	w.answered(s, k.name.String(), got)
	if !s.Answered {
		return
	}
	want := map[scenario.ID]bool{}
	for id := range scenario.IDs(s.AnswerValues("route")) {
		want[id] = id != noRoute
	}
	for id, wanted := range want {
		if wanted && !is[id] {
			w.mismatch(s, id.String(), "due", "not due")
		}
	}
	for id := range is {
		if !want[id] {
			w.mismatch(s, id.String(), "not due", "due")
		}
	}
}

func (w *world) forget(s *scenario.Statement) {
	peer, incarnation := s.Text("peer"), s.Text("incarnation")
	for _, k := range w.workersOf(s) {
		if ctl := w.controller(s, k); ctl != nil {
			n := ctl.Forget(peer, incarnation)
			w.closePeer(k, peer, incarnation)
			w.answered(s, k.name.String(), w.reply(s).Reply("routes", int64(n)))
		}
	}
}

func (w *world) close(s *scenario.Statement) {
	k := w.worker(s)
	if k == nil {
		return
	}
	if ctl := w.controller(s, k); ctl != nil {
		ctl.Close()
		k.closed = true
		for _, r := range w.ordered {
			if r.worker == k {
				r.closed = true
			}
		}
	}
}

func (w *world) snapshot(s *scenario.Statement) {
	times, ok := w.count(s, "times", 1)
	if !ok {
		return
	}
	for _, k := range w.workersOf(s) {
		ctl := w.controller(s, k)
		if ctl == nil {
			continue
		}
		for range times {
			if !w.happens(s, 1+len(w.ordered)) {
				return
			}
			ctl.Snapshot()
			ctl.Now()
			ctl.Due(w.at(s))
			k.table.List()
			k.table.Stats()
		}
	}
	for range times {
		if !w.happens(s, len(w.ordered)+len(w.tasks)) {
			return
		}
		for _, r := range w.ordered {
			r.route.State()
			r.route.Fit([]int64{1})
			r.worker.table.Look(r.route.Pair())
		}
		for _, t := range w.tasks {
			t.State()
			t.Detail()
		}
	}
}

func (w *world) nextAttempt(s *scenario.Statement) {
	for id := range scenario.IDs(s.Values("task")) {
		w.task(id).NextAttempt()
	}
}

func (w *world) noPath(s *scenario.Statement) {
	for id := range scenario.IDs(s.Values("task")) {
		w.task(id).NoUsablePath(nil)
	}
}

func (w *world) sweep(s *scenario.Statement) {
	for _, k := range w.workersOf(s) {
		if ctl := w.controller(s, k); ctl != nil {
			k.table.Sweep(w.at(s))
			w.answered(s, k.name.String(), w.reply(s).Reply("entries", int64(k.table.Stats().Entries)))
		}
	}
}
