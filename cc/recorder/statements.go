package recorder

import (
	"io"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// statements writes entries as statements of a scenario.
type statements struct {
	w *scenario.Writer
	s scenario.Statement // the one that is being made
	names

	// What the next call met and caused. It is written right before it.
	clocks []clock
	drawn  []jitter
	told   []Told
	synced map[uint32]Synced // the latest of each route
}

func newStatements(w io.Writer, f Format) *statements {
	form := scenario.Text
	if f == Binary {
		form = scenario.Binary
	}
	return &statements{w: scenario.NewWriter(w, form), names: newNames(), synced: map[uint32]Synced{}}
}

// write writes the statement. One that the language does not have room for is remarked
// on instead.
func (t *statements) write() error {
	err := t.w.Write(&t.s)
	if err == nil {
		return nil
	}
	return t.mark("left out: " + err.Error())
}

func (t *statements) mark(text string) error {
	return t.w.Write(t.s.Begin(scenario.Mark).AddText("text", text))
}

func (t *statements) flush() error { return t.w.Flush() }

// begin writes what a recording begins with.
func (t *statements) begin(h head) error {
	t.s.Begin(scenario.Recording)
	t.stamp(h.began)
	t.s.Add("complete", yes(h.complete)).Add("serial", yes(h.serial))
	if err := t.write(); err != nil {
		return err
	}
	t.s.Begin(scenario.Set)
	for _, setting := range h.settings {
		t.setting(setting)
	}
	if err := t.write(); err != nil {
		return err
	}
	for _, p := range h.pollers {
		if err := t.poller(p.Poller); err != nil {
			return err
		}
	}
	for _, r := range h.routes {
		if err := t.found(r); err != nil {
			return err
		}
	}
	return nil
}

// end writes what a recording ends with.
func (t *statements) end(remark string) error {
	if err := t.news(); err != nil {
		return err
	}
	if remark != "" {
		if err := t.mark(remark); err != nil {
			return err
		}
	}
	return t.w.Close()
}

// setting adds a field of the configuration.
func (t *statements) setting(s Setting) {
	num := int64(0)
	switch v := s.Value.(type) {
	case int64:
		num = v
	case time.Duration:
		num = int64(v)
	case bool:
		num = yes(v)
	case string:
		words := scenario.Modes
		if s.Name == "law" {
			words = scenario.Laws
		}
		num, _ = words.Num(v)
	}
	t.s.Add(s.Name, num)
}

// found writes a route that was made before the recording begins.
func (t *statements) found(r knownRoute) error {
	if err := t.route(r.Route); err != nil {
		return err
	}
	t.s.Begin(scenario.Found).AddText("route", routeName(r.Number)).Add("state", int64(r.state)).Add("gen", int64(r.gen))
	qps := r.qps()
	for _, q := range qps {
		t.s.Add("qps", int64(q.ID))
	}
	for _, q := range qps {
		t.s.Add("cq", int64(q.CQ))
	}
	return t.write()
}

// entry writes what a record says.
func (t *statements) entry(entry any) error {
	switch e := entry.(type) {
	case clock:
		t.clocks = append(t.clocks, e)
		return nil
	case jitter:
		t.drawn = append(t.drawn, e)
		return nil
	case Told:
		t.told = append(t.told, e)
		return nil
	case Synced:
		return t.sync(e)
	case Acquire:
		if err := t.attempts(e); err != nil { // calls of their own
			return err
		}
		if e.Way == Waiting {
			return t.acquire(e)
		}
	}
	if err := t.news(); err != nil {
		return err
	}
	switch e := entry.(type) {
	case Acquire:
		return t.acquire(e)
	case Post:
		return t.post(e)
	case Unposted:
		return t.unposted(e)
	case Settle:
		return t.settle(e)
	case lost:
		t.gaps++
		t.s.Begin(scenario.Lost).Add("count", int64(e.Count))
		return t.write()
	}
	return t.rare(entry)
}

// news writes what the call that follows met and caused.
func (t *statements) news() error {
	for _, c := range t.clocks {
		t.s.Begin(scenario.Clock)
		t.stamp(c.Now)
		if err := t.write(); err != nil {
			return err
		}
	}
	if len(t.drawn) > 0 {
		t.s.Begin(scenario.Jitter)
		for _, j := range t.drawn {
			t.s.AddFactor("factor", j.Factor)
		}
		if err := t.write(); err != nil {
			return err
		}
	}
	for _, told := range t.told {
		if err := t.tell(told); err != nil {
			return err
		}
	}
	t.clocks, t.drawn, t.told = t.clocks[:0], t.drawn[:0], t.told[:0]
	return nil
}

func (t *statements) tell(e Told) error {
	t.s.Begin(scenario.Told)
	t.stamp(e.At)
	t.s.AddText("route", routeName(e.Route)).Add("from", int64(e.From)).Add("to", int64(e.To))
	t.add("reason", int64(e.Reason))
	t.add("notice", int64(e.Notice))
	if o := e.Observation; o.Source != classify.SourceNone {
		t.s.Add("source", int64(o.Source)).Add("raw", int64(o.Raw))
		t.add("vendor", int64(o.VendorErr))
	}
	t.s.Add("gen", int64(e.Generation))
	t.add("last_route", yes(e.LastRoute))
	t.add("shared", yes(e.Shared))
	return t.write()
}

// stamp gives the statement its time.
func (t *statements) stamp(at time.Duration) {
	if at >= 0 {
		t.s.Stamp(at)
	}
}

// add adds an argument that may be left out, unless it is 0.
func (t *statements) add(name string, num int64) {
	if num != 0 {
		t.s.Add(name, num)
	}
}

// reply adds an answer that may be left out, unless it is 0.
func (t *statements) reply(name string, num int64) {
	if num != 0 {
		t.s.Reply(name, num)
	}
}

func yes(b bool) int64 { return int64(flag(b)) }
