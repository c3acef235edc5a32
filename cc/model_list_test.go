package cc

import (
	"github.com/rdmagate/rdmagate/classify"
)

// modelList is a post list: one reservation up to its post, and then a permit for
// each slice.
type modelList struct {
	whole  modelPermit
	sizes  []int64
	posted []*modelPermit // nil before the post
}

// parts is what holds the bytes of the list.
func (l *modelList) parts() []*modelPermit {
	if l.posted == nil {
		return []*modelPermit{&l.whole}
	}
	return l.posted
}

func (l *modelList) held() (n int64) {
	for _, p := range l.parts() {
		if p.held {
			n += p.bytes
		}
	}
	return n
}

// acquireList is TryAcquireList.
func (m *model) acquireList(r *modelRoute, l *modelList, gen Generation, sizes []int64) modelAnswer {
	if l.held() > 0 {
		return modelAnswer{Ruling: Ruling{Answer: Refused}}
	}
	n := int64(0)
	for _, size := range sizes {
		n += size
	}
	l.posted, l.whole.held = nil, false
	a := modelAnswer{}
	if gen == r.gen.number && gen != 0 && !r.gen.retired {
		if a = r.askList(n, len(sizes)); a.Domain != NoDomain {
			r.limited(a.Domain)
		}
	}
	switch {
	case a.Answer == Refused:
		a = m.admit(r, &l.whole, gen, n, false)
	case m.observe:
		r.refuse(a)
		m.hold(&l.whole, r, r.gen, n)
		a = modelAnswer{Ruling: Ruling{Answer: Admit}}
	default:
		r.refuse(a)
	}
	if a.Answer == Admit {
		l.sizes = append([]int64{}, sizes...)
	}
	return a
}

// askList is why a list is refused where a permit might not be, or nothing: it is
// never a trial, and never admitted above a window.
func (r *modelRoute) askList(n int64, slices int) modelAnswer {
	if !r.state().barred() {
		r.lapse()
	}
	switch now, from := r.m.now, r.trialFrom(false); {
	case r.state() == Probing:
		return modelAnswer{Ruling: probing}
	case r.state().barred() && now < from:
		return modelAnswer{avoided, from - now}
	case r.state().barred() && r.gen.number <= r.needAfter && !r.m.observe:
		return modelAnswer{Ruling: wantsRenew}
	case r.state().barred():
		return modelAnswer{Ruling: probing}
	case r.leftToProber():
		a := deferred(classify.ReasonRouteSuspect)
		a.Hint = Divert
		return a
	case slices > 1 && n > r.window():
		return r.windowRuling(RouteDomain)
	case slices > 1 && n > r.device.window:
		return r.windowRuling(DeviceDomain)
	}
	return modelAnswer{}
}

// fit is how many of the first slices there is room for.
func (r *modelRoute) fit(sizes []int64) (slices int) {
	room := min(r.window()-r.inFlight, r.device.window-r.device.inFlight)
	for i, n := range sizes {
		if n > room && !(i == 0 && r.inFlight == 0 && r.device.inFlight == 0) {
			break
		}
		room -= n
		slices++
	}
	return slices
}

// postList reports whether the post may go ahead.
func (m *model) postList(l *modelList, qp uint64) bool {
	if l.posted != nil || !m.posting(&l.whole, qp) {
		return false
	}
	l.whole.posts = 0 // claims of a list of one stand until they lapse
	for _, size := range l.sizes {
		p := l.whole
		if p.bytes = size; p.qp == 0 {
			p.poller = nil
		}
		l.posted = append(l.posted, &p)
	}
	return true
}

// listUnposted returns the slices from that place on that were given back.
func (m *model) listUnposted(l *modelList, from int) (released uint32) {
	if from >= len(l.sizes) {
		return 0
	}
	if l.posted == nil {
		if !l.whole.held {
			return 0
		}
		for i := from; i < len(l.sizes); i++ {
			released |= 1 << i
			l.whole.bytes -= l.sizes[i]
			l.whole.route.inFlight -= l.sizes[i]
			l.whole.route.device.inFlight -= l.sizes[i]
		}
		l.sizes = l.sizes[:from]
		l.whole.held = from > 0
		return released
	}
	for i := from; i < len(l.posted); i++ {
		if m.unposted(l.posted[i]) {
			released |= 1 << i
		}
	}
	return released
}

// settleList settles some slices of a list. Those that succeed without an earlier
// verdict are one arrival.
func (m *model) settleList(l *modelList, mask uint32, v classify.Verdict) (s Settled) {
	var plain []*modelPermit
	for i, p := range l.posted {
		bit := uint32(1) << i
		switch {
		case mask&bit == 0:
			continue
		case v.Succeeded() && p.held && !p.deadline && !p.cancelled:
			plain = append(plain, p)
			s.Ended, s.Released = s.Ended|bit, s.Released|bit
			continue
		}
		edges := m.settle(p, v)
		if edges&Ended != 0 {
			s.Ended |= bit
		}
		if edges&Released != 0 {
			s.Released |= bit
		}
	}
	if len(plain) == 0 {
		return s
	}
	all := *plain[0]
	all.bytes = 0
	for _, p := range plain {
		all.bytes += p.bytes
	}
	m.completed(&all, v, false)
	for _, p := range plain {
		m.release(p)
	}
	return s
}
