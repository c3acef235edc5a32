package replay

import (
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
)

// observe returns what can be seen of the subjects of a condition.
func (w *world) observe(s *scenario.Statement) (all []observed) {
	switch s.Kind.Subject {
	case "device":
		for _, k := range w.workersOf(s) {
			for _, name := range s.Values("device") {
				all = append(all, w.deviceOf(s, k, name.Text)...)
			}
		}
		return all
	case "task":
		for id := range scenario.IDs(s.Values("task")) {
			t := w.tasks[id]
			if t == nil {
				w.unknown(s, "task", id, keys(w.tasks))
				continue
			}
			all = append(all, observed{of: id.String(), see: seeTask(t)})
		}
		return all
	case "permit":
		for id := range scenario.IDs(s.Values("permit")) {
			p := w.permits[id]
			if p == nil {
				w.unknown(s, "permit", id, keys(w.permits))
				continue
			}
			all = append(all, observed{of: id.String(), see: func(string) int64 { return p.held() }})
		}
		return all
	}
	if of := s.Kind.Subject; w.recorded && (of == "path" || of == "notice") {
		if !w.early {
			w.wrong(s, "of a recording it is not kept what was told before; told says it")
		}
		return nil
	}
	for _, r := range w.routesOf(s, s.Values("route")) {
		o := observed{of: r.name.String()}
		switch s.Kind.Subject {
		case "route":
			o.see = seeRoute(r.route.Snapshot())
		case "pause":
			o.see = seePause(r, w.clockNow())
		case "path":
			o.states = w.path(r)
		case "notice":
			notice, _ := s.Num("notice")
			o.see = w.seeNotice(r, notice)
		case "refusals":
			reason, _ := s.Num("reason")
			o.see = seeRefusals(r, classify.Reason(reason))
		}
		all = append(all, o)
	}
	return all
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func seeRoute(now cc.RouteSnapshot) func(string) int64 {
	return func(name string) int64 {
		h := now.Health
		drain, seen := now.Flow.DrainTime.Get()
		switch name {
		case "state":
			return int64(h.State)
		case "failures":
			return int64(h.Failures)
		case "window":
			return now.WindowBytes
		case "in_flight":
			return now.InFlightBytes
		case "delivered":
			return now.Flow.DeliveredBytes
		case "gen":
			return int64(now.Generation)
		case "needs_renew":
			return number(now.NeedsRenew)
		case "cooldown":
			return int64(h.Cooldown)
		case "cooldown_left":
			return int64(h.CooldownLeft)
		case "trial_out":
			return number(h.TrialOut)
		case "pressure":
			return int64(now.Flow.Pressure)
		case "drain":
			return int64(drain)
		case "drain_seen":
			return number(seen)
		case "persistent_fault":
			return number(h.PersistentFault)
		case "kept":
			return number(h.KeptAsLast)
		case "limited":
			return number(h.Limited)
		}
		sum := int64(0) // refusals
		for _, c := range now.Refusals {
			sum += int64(c.Count)
		}
		return sum
	}
}

func (w *world) deviceOf(s *scenario.Statement, k *worker, name string) []observed {
	if w.controller(s, k) == nil {
		return nil
	}
	var names []string
	for _, d := range k.ctl.Snapshot().Devices {
		if names = append(names, d.Device); d.Device != name {
			continue
		}
		return []observed{{of: "device " + name, see: func(arg string) int64 {
			switch arg {
			case "window":
				return d.WindowBytes
			case "in_flight":
				return d.InFlightBytes
			}
			return number(d.Exhausted || len(d.ExhaustedPorts) > 0)
		}}}
	}
	w.unknown(s, "device of "+k.name.String(), scenario.ID{Text: name}, func() []string { return names })
	return nil
}

func seeTask(t *task) func(string) int64 {
	d := t.Detail()
	reason, _ := d.Reason.Get()
	resolved, _ := d.Resolved.Get()
	root, rootSeen := d.RootCause.Get()
	v, _ := d.Verdict.Get()
	return func(name string) int64 {
		switch name {
		case "state":
			return int64(d.State)
		case "reason":
			return int64(reason)
		case "resolved":
			return number(resolved)
		case "root":
			if !rootSeen || root.Source() != classify.SourceCompletion {
				return -1
			}
			return int64(root.Raw())
		case "root_seen":
			return number(rootSeen)
		case "vendor":
			return int64(v.VendorErr())
		}
		return int64(d.Attempt)
	}
}

func seePause(r *route, now time.Duration) func(string) int64 {
	view, cfg := r.worker.table.Look(r.route.Pair()), r.worker.cfg
	return func(name string) int64 {
		switch name {
		case "standing":
			return int64(view.Standing())
		case "count":
			return int64(view.Count)
		case "left":
			if !view.Paused {
				return 0
			}
			return int64(max(0, view.Resume-now))
		case "cooldown":
			return int64(view.Cooldown(rail.Policy{
				Threshold: cfg.HardErrorThreshold, ErrorWindow: cfg.ErrorWindow, Cooldown: cfg.Cooldown, CooldownCap: cfg.CooldownCap, ProbeInterval: cfg.ProbeInterval,
			}))
		}
		return number(view.TrialOut(now))
	}
}

// path returns the states that a route went through.
func (w *world) path(r *route) (states []cc.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range r.heard {
		if t.Notice == cc.NoNotice {
			states = append(states, t.To)
		}
	}
	return states
}

// seeNotice counts what was said of a route: a notice, or that it was the last to its
// peer.
func (w *world) seeNotice(r *route, notice int64) func(string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	cutOff, _ := scenario.Notices.Num("cut_off")
	n := int64(0)
	for _, t := range r.heard {
		if notice == cutOff && t.LastRoute || notice != cutOff && t.Notice != cc.NoNotice && int64(t.Notice) == notice {
			n++
		}
	}
	return func(string) int64 { return n }
}

func seeRefusals(r *route, reason classify.Reason) func(string) int64 {
	n := int64(0)
	for _, c := range r.route.Snapshot().Refusals {
		if c.Reason == reason {
			n += int64(c.Count)
		}
	}
	return func(string) int64 { return n }
}
