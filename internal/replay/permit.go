package replay

import (
	"fmt"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/taskstate"
)

// permit is a permit or a post list, with what its engine would know of it.
type permit struct {
	name    scenario.ID
	one     *cc.Permit
	list    *cc.List // nil unless it is a list
	task    *task
	route   *route        // of the latest admission
	gen     cc.Generation // and its generation
	use     cc.Use        // its number
	uses    []useName     // the latest admissions by the numbers that they are called by
	count   uint64        // admissions
	adrift  int           // the line from which on it goes another way than the recording; 0 if it does not
	waiting chan cc.Decision
}

// useName is an admission with the number that a scenario has for it.
type useName struct {
	name uint64
	use  cc.Use
}

func (p *permit) held() int64 {
	if p.list != nil {
		return p.list.Held()
	}
	return p.one.Held()
}

// permit finds or makes a permit.
func (w *world) permit(id scenario.ID) *permit {
	p := w.permits[id]
	if p == nil {
		p = &permit{name: id, one: new(cc.Permit)}
		w.permits[id] = p
	}
	return p
}

// acquired finds a permit that was acquired before. Of one that never was, only a
// statement that says so in its answer can speak; a recording can, if it begins in the
// middle. What is answered says whether it is a list.
func (w *world) acquired(s *scenario.Statement, id scenario.ID) *permit {
	p := w.permits[id]
	switch {
	case p != nil:
		return p
	case w.recorded:
		p = w.permit(id)
	case len(s.Answer) > 0:
		p = &permit{name: id, one: new(cc.Permit)}
	}
	if p != nil {
		if len(s.AnswerValues("ended"))+len(s.AnswerValues("released")) > 0 {
			p.list = new(cc.List)
		}
		return p
	}
	w.unknown(s, "permit", id, keys(w.permits))
	return nil
}

// taskOf returns the i-th permit's task; nil if there is none.
func (w *world) taskOf(s *scenario.Statement, p *permit, i int) *taskstate.Task {
	id := p.name
	if list := s.Values("task"); len(list) > 0 {
		id = scenario.NthID(list, i)
	}
	old := p.task
	if id == noTask {
		p.task = nil
	} else {
		p.task = w.task(id)
		p.task.users++
	}
	if old != nil {
		if old.users--; old.users == 0 && w.recorded && old != p.task {
			w.dropTask(old)
		}
	}
	if p.task == nil {
		return nil
	}
	return &p.task.Task
}

// admitted notes an admission under the number that the statement has for it.
func (p *permit) admitted(s *scenario.Statement, r *route, gen cc.Generation, use cc.Use) {
	p.count++
	p.route, p.gen, p.use = r, gen, use
	name := p.count
	if n, said := s.AnswerNum("use"); said {
		name = uint64(n)
	}
	if len(p.uses) == maxNames {
		p.uses = append(p.uses[:0], p.uses[1:]...)
	}
	p.uses = append(p.uses, useName{name, use})
}

// useOf returns the admission that a statement speaks of: the latest if it names none.
// One that is not remembered is over.
func (p *permit) useOf(s *scenario.Statement) cc.Use {
	n, given := s.Num("use")
	if !given {
		return p.use
	}
	for _, u := range p.uses {
		if u.name == uint64(n) {
			return u.use
		}
	}
	return 0
}

// acquire runs acquire, probe and handoff.
func (w *world) acquire(s *scenario.Statement) {
	r := w.route(s)
	if r == nil {
		return
	}
	n, given := s.Num("bytes")
	if !given {
		n = 4 << 10
	}
	gen := r.generation(s)
	i := 0
	for id := range scenario.IDs(s.Values("permit")) {
		w.ask(s, w.permit(id), i, r, gen, n)
		i++
	}
}

// ask makes one call of acquire, probe or handoff.
func (w *world) ask(s *scenario.Statement, p *permit, i int, r *route, gen cc.Generation, n int64) {
	if p.list != nil && p.held() == 0 {
		p.list = nil
	}
	w.takeOver(s, p)
	var d cc.Decision
	switch s.Kind {
	case scenario.Probe:
		w.number(s, p, nil)
		d = r.route.TryProbe(p.one, gen, n)
	case scenario.Handoff:
		d = r.route.Handoff(p.one, gen, w.taskOf(s, p, i))
	default:
		t := w.taskOf(s, p, i)
		w.number(s, p, t)
		d = r.route.TryAcquire(p.one, gen, n, t)
	}
	w.decide(s, p, r, gen, d)
}

// decide notes and compares an admission's answer.
func (w *world) decide(s *scenario.Statement, p *permit, r *route, gen cc.Generation, d cc.Decision) {
	if d.Admitted() {
		p.admitted(s, r, gen, d.Use)
	}
	w.said(r, d)
	w.decisionOf(s, p, d)
	w.drift(s, p, d)
}

// decisionOf compares what admission said of a permit. That the call was wrong has to be
// expected.
func (w *world) decisionOf(s *scenario.Statement, p *permit, d cc.Decision) {
	w.answered(s, p.name.String(), w.decided(s, d))
	if d.Err != nil && !s.Answered {
		w.mismatch(s, p.name.String(), "a call that is right", d.Err.Error())
	}
}

func (w *world) acquireList(s *scenario.Statement) {
	r := w.route(s)
	if r == nil {
		return
	}
	i := 0
	for id := range scenario.IDs(s.Values("permit")) {
		p := w.permit(id)
		if p.list == nil {
			if p.one.Held() > 0 && !w.recorded {
				w.wrong(s, fmt.Sprintf("%s is a permit that holds bytes", id))
				return
			}
			p.list = new(cc.List)
		}
		w.takeOver(s, p)
		t := w.taskOf(s, p, i)
		w.number(s, p, t)
		gen := r.generation(s)
		w.decide(s, p, r, gen, r.route.TryAcquireList(p.list, gen, sizes(s), t))
		i++
	}
}

func (w *world) post(s *scenario.Statement) {
	accepted, ok := w.count(s, "accepted", -1)
	if !ok {
		return
	}
	partial := accepted >= 0
	i := 0
	for id := range scenario.IDs(s.Values("permit")) {
		p := w.acquired(s, id)
		if p == nil || w.follows(p) {
			i++
			continue
		}
		w.postOne(s, p, i)
		if partial && int64(i) >= accepted && p.list == nil {
			p.one.Unposted()
		} else if partial && p.list != nil {
			p.list.Unposted(int(min(accepted, cc.MaxList)))
		}
		i++
	}
}

// postOne posts one permit on the QP that the statement has for the i-th.
func (w *world) postOne(s *scenario.Statement, p *permit, i int) bool {
	qp := uint64(0)
	if list := s.Values("qp"); len(list) > 0 {
		qp = uint64(list[i%len(list)].Num)
	} else if p.route != nil && len(p.route.qps) > 0 {
		qp = p.route.qps[0]
	}
	if p.route != nil {
		qp = p.route.standIn(p.gen, qp)
	}
	var err error
	if p.list != nil {
		err = p.list.Posting(qp, w.at(s))
	} else {
		err = p.one.Posting(qp, w.at(s))
	}
	if s.Kind != scenario.Post {
		return err == nil
	}
	got := w.failed(s, err)
	if err != nil && !s.Answered {
		w.mismatch(s, p.name.String(), "to be posted", err.Error())
		return false
	}
	w.answered(s, p.name.String(), got)
	return err == nil
}

func (w *world) unposted(s *scenario.Statement) {
	from, ok := w.count(s, "from", 0)
	if !ok {
		return
	}
	for id := range scenario.IDs(s.Values("permit")) {
		p := w.acquired(s, id)
		if p == nil || w.follows(p) {
			continue
		}
		got := w.reply(s)
		if p.list != nil {
			got.Reply("released", int64(p.list.Unposted(int(min(from, cc.MaxList)))))
		} else if p.one.Unposted() {
			got.Reply("gave_back", 1)
		} else {
			got.Reply("gave_back", 0)
		}
		w.answered(s, p.name.String(), got)
	}
}
