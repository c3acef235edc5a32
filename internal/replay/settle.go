package replay

import (
	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// settle runs every statement that says what became of a work request.
func (w *world) settle(s *scenario.Statement) {
	v := verdict(s)
	for id := range scenario.IDs(s.Values("permit")) {
		p := w.acquired(s, id)
		if p == nil || w.follows(p) {
			continue
		}
		got := w.reply(s)
		if p.list != nil {
			slices := int64(1<<cc.MaxList - 1)
			if given, ok := s.Num("slices"); ok {
				slices = given
			}
			took := p.list.Settle(p.useOf(s), uint32(slices), v, w.at(s))
			got.Reply("ended", int64(took.Ended)).Reply("released", int64(took.Released))
		} else {
			got.Reply("edges", int64(p.one.Settle(p.useOf(s), v, w.at(s))))
		}
		w.answered(s, p.name.String(), got)
	}
}

// verdict returns what a statement says became of a work request.
func verdict(s *scenario.Statement) classify.Verdict {
	num := func(name string) uint32 {
		n, _ := s.Num(name)
		return uint32(n)
	}
	switch s.Kind {
	case scenario.Deadline:
		if word, _ := scenario.Progress.Num("stalled"); int64(num("poller")) == word {
			return classify.Of(classify.SignalDeadlineStalled)
		}
		return classify.Of(classify.SignalDeadlineProgressing)
	case scenario.Cancel:
		return classify.Of(classify.SignalCancel)
	case scenario.Teardown:
		return classify.Of(classify.SignalTeardown)
	case scenario.Reject:
		return classify.RejectedPost(num("errno"))
	case scenario.Settle:
		switch classify.Source(num("source")) {
		case classify.SourceCompletion:
			return classify.Completion(classify.Status(num("raw")), 0)
		case classify.SourceAsyncEvent:
			return classify.AsyncEvent(classify.EventType(num("raw")))
		case classify.SourceCMEvent:
			return classify.CMEvent(classify.CMEventType(num("raw")))
		case classify.SourceSignal:
			return classify.Of(classify.Signal(num("raw")))
		}
		return classify.Verdict{}
	}
	return classify.Completion(classify.Status(num("status")), num("vendor"))
}

func (w *world) classify(s *scenario.Statement) {
	vendors := s.Values("vendor")
	for i := range max(1, len(vendors)) {
		vendor, of := uint32(0), "vendor_err 0"
		if len(vendors) > 0 {
			vendor, of = uint32(vendors[i].Num), "vendor_err "+vendors[i].String()
		}
		status, _ := s.Num("status")
		v := classify.Completion(classify.Status(status), vendor)
		got := w.reply(s).Reply("class", int64(v.Class())).Reply("scope", int64(v.Scope()))
		counts := int64(0)
		if v.Countable() {
			counts = 1
		}
		w.answered(s, of, got.Reply("counts", counts))
	}
}
