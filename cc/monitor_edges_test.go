package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A transition says whether delays or a receiver that was not ready congested the route;
// ease has no reason.
func TestReasonsOfCongestion(t *testing.T) {
	h := newHealthRig(t, Enforce, func(c *Config) { c.Law = LawEpoch })
	l := h.load("D1", "P", "n1")
	reason := func(state State, want classify.Reason) {
		t.Helper()
		last := h.seen[len(h.seen)-1]
		assert.Equal(t, state, last.To)
		assert.Equal(t, want, last.Reason)
	}
	l.epoch(high)
	l.epoch(high)
	reason(Congested, classify.ReasonCongestionFeedback)
	l.epoch(low)
	l.epoch(low)
	reason(Healthy, classify.ReasonNone)
	for range 2 {
		l.fill()
		l.drain(rnr())
		l.gen = l.renew(l.route, l.qp)
		l.next()
	}
	reason(Congested, classify.ReasonReceiverPressure)
}

// One byte is enough to judge an epoch by.
func TestEpochOfOneByte(t *testing.T) {
	l := newRig(t, Enforce).load("D1", "P", "n1")
	var s slice
	s.permit.use = sampleEvery - 1 // the next is measured
	l.post(&s, l.route, l.gen, 1, l.qp)
	l.now += high
	l.settle(&s, success)
	l.next()
	assert.Equal(t, PressureHigh, l.route.Snapshot().Flow.Pressure)
}

// A route that was idle begins its row of epochs anew.
func TestRowOfEpochsEndsWithUse(t *testing.T) {
	l := newRig(t, Enforce).load("D1", "P", "n1")
	l.epoch(low)
	l.next()
	require.False(t, l.route.active.Load(), "it was idle for an epoch")
	l.epoch(low)
	l.want(Healthy, mib, "one epoch in which it could grow")
	l.epoch(low)
	l.want(Healthy, 2*mib, "two")
}

// Silence makes suspect only if the route's own poller never stalled meanwhile, and if it
// and a sibling were served in the latest half of the time.
func TestSilenceAtItsLimits(t *testing.T) {
	const after = 50 * ms
	for name, tt := range map[string]struct {
		change func(r *Route, p *Poller, now time.Duration)
		want   bool
	}{
		"silent":                         {func(*Route, *Poller, time.Duration) {}, true},
		"not for long enough":            {func(r *Route, _ *Poller, now time.Duration) { r.meter.Load().since = now - after + 1 }, false},
		"served half of the time ago":    {func(r *Route, _ *Poller, now time.Duration) { r.device.moved = now - after/2 }, true},
		"served longer ago":              {func(r *Route, _ *Poller, now time.Duration) { r.device.moved = now - after/2 - 1 }, false},
		"polled half of the time ago":    {func(_ *Route, p *Poller, now time.Duration) { p.last.Store(int64(now - after/2)) }, true},
		"polled longer ago":              {func(_ *Route, p *Poller, now time.Duration) { p.last.Store(int64(now - after/2 - 1)) }, false},
		"stalled when it began":          {func(_ *Route, p *Poller, now time.Duration) { p.resumed.Store(int64(now - after)) }, false},
		"stalled before":                 {func(_ *Route, p *Poller, now time.Duration) { p.resumed.Store(int64(now - after - 1)) }, true},
		"four drain times are no longer": {func(r *Route, _ *Poller, _ time.Duration) { r.meter.Load().drain.set(after / 4) }, true},
		"or are longer":                  {func(r *Route, _ *Poller, _ time.Duration) { r.meter.Load().drain.set(after/4 + 1) }, false},
	} {
		r := tunedRig(t, Enforce, func(c *Config) { c.SuspectAfter = after })
		l, p := r.polled("D1", "P", 1)
		l.fill()
		r.now += time.Second
		m := l.route.meter.Load()
		m.waiting, m.since = true, r.now-after
		l.route.device.moved = r.now
		p.last.Store(int64(r.now))
		tt.change(l.route, p, r.now)
		assert.Equal(t, tt.want, l.route.silent(m, r.now), name)
	}
}
