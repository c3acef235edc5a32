package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/rail"
)

// leap is a way in which a clock is wrong. A controller's clock must not go backwards; one
// that does all the same, or leaps ahead, may cost time but not the controller.
type leap struct {
	name string
	// reads is what the clock says in batch i of the disorder, when it should say t.
	reads func(i int, t time.Duration) time.Duration
	// stays is by how much it is wrong from then on.
	stays time.Duration
	// ahead: its first step is ahead, and so a gap in the polling.
	ahead bool
	// once: there is one step, and no other until the clock is right.
	once bool
	// never: the clock never again comes to what it has said.
	never bool
}

const (
	endOfTime = time.Duration(math.MaxInt64) // 292 years
	aDay      = 24 * time.Hour
	aCentury  = 36525 * aDay
)

func leaps() []leap {
	by := func(d time.Duration) func(int, time.Duration) time.Duration {
		return func(_ int, t time.Duration) time.Duration { return t + d }
	}
	toEnd := endOfTime - 4*time.Hour
	rnd := rand.New(rand.NewPCG(1, 6))
	return []leap{
		{name: "an hour back", reads: by(-time.Hour), stays: -time.Hour, once: true},
		{name: "three hours back, before zero", reads: by(-3 * time.Hour), stays: -3 * time.Hour, once: true},
		{name: "a day ahead", reads: by(aDay), stays: aDay, ahead: true, once: true},
		{name: "a day ahead, and right again", reads: by(aDay), ahead: true, once: true},
		{name: "a century ahead", reads: by(aCentury), stays: aCentury, ahead: true, once: true},
		{name: "292 years ahead", reads: by(toEnd), stays: toEnd, ahead: true, once: true},
		{name: "292 years ahead, to the end of time, and right again", ahead: true, once: true, never: true,
			reads: func(int, time.Duration) time.Duration { return endOfTime }},
		{name: "an hour ahead in every second batch", ahead: true,
			reads: func(i int, t time.Duration) time.Duration { return t + time.Duration(1-i%2)*time.Hour }},
		{name: "a day ahead or back, in turn", ahead: true,
			reads: func(i int, t time.Duration) time.Duration { return t + time.Duration(1-i%2*2)*aDay }},
		{name: "up to a day ahead or back, at random",
			reads: func(_ int, t time.Duration) time.Duration { return t + time.Duration(rnd.Int64N(int64(2*aDay))) - aDay }},
	}
}

// clocks has the clock leap under controllers with routes in all states.
func clocks(c *check) {
	for i, l := range leaps() {
		var back, again time.Duration
		for _, k := range []kind{{cc.LawEpoch, true}, {cc.LawRound, true}, {cc.LawEpoch, false}} {
			b, a := c.leaps(l, k)
			back, again = max(back, b), max(again, a)
		}
		if !l.never {
			c.atMost(newBed(c, nil).firstCooldown().Seconds(), "time until all routes are HEALTHY, once the clock is right: "+l.name, back.Seconds(), seconds)
			c.atMost(leaseBound.Seconds(), "time until the next trial when one is lost: "+l.name, again.Seconds(), seconds)
		}
		c.at(float64(i+1) / float64(len(leaps())))
	}
}

// kind is a kind of controller.
type kind struct {
	law     cc.Law
	polling bool // a poller is registered
}

// leaseBound is the longest lease of a trial, and two questions.
const leaseBound = 10*time.Minute + 2*step

// batch is how long it takes from one poll batch to the next.
const batch = 10 * time.Millisecond

// leaper is a controller whose clock leaps.
type leaper struct {
	*bed
	leap
	kind
	right   time.Duration // what the clock should say
	offset  time.Duration // by how much it is wrong, but for the disorder
	highest time.Duration // that it has said

	busy, slow, hard, soft, tried, late *route

	inFlight [4]slice // of the busy route
	patient  slice    // of the slow route, whose deadline passes
	trial    slice    // of a route that is probed
	failing  slice    // of a route that fails late
}

// leaps has the clock leap under one controller. It returns how long routes take to recover
// once the clock is right, and how long it takes from a trial that is lost to the next.
func (c *check) leaps(l leap, k kind) (back, again time.Duration) {
	p := c.newLeaper(l, k)
	p.turns(2 * time.Second)
	equal(c, cc.Probing, p.tried.State(), "a route whose trial is out")
	before := p.busy.Snapshot().WindowBytes
	for i := range 200 {
		p.turn(func(t time.Duration) time.Duration { return l.reads(i, t) })
		if i == 0 {
			p.lands()
		}
	}
	if l.once && p.polling {
		equal(c, before, p.busy.Snapshot().WindowBytes, "%s: an epoch with a gap in the polling moves no window", l.name)
	}
	p.offset = l.stays
	p.turns(2 * time.Second) // while the controller's time may stand still
	p.settle(&p.trial, success)
	if l.never {
		p.settle(&p.patient, teardown)
		p.goesOn()
		p.rests()
		return 0, 0
	}
	if lag := p.highest - (p.right + p.offset); lag > time.Second {
		p.right += lag - time.Second
	}
	for last := p.highest; p.right+p.offset <= last; {
		p.turns(batch)
	}
	p.pauses()
	back = p.recovers(p.firstCooldown(), "routes recover once the clock is right: "+l.name, p.busy, p.slow, p.hard, p.soft, p.tried, p.late)
	p.right = p.now() - p.offset
	p.counts()
	p.grows()
	again = p.losesTrial()
	p.rests()
	return back, again
}

// newLeaper makes routes in all states.
func (c *check) newLeaper(l leap, k kind) *leaper {
	p := &leaper{leap: l, kind: k, bed: newBed(c, func(cfg *cc.Config) {
		cfg.Law = k.law
		cfg.TargetDrain, cfg.HighPressureEpochs = 50*time.Millisecond, 1
	})}
	if k.polling {
		var err error
		p.poller, err = p.ctl.NewPoller("mlx5_0", 1)
		c.works(err, "NewPoller")
	}
	p.right = p.now()
	for i, r := range []**route{&p.busy, &p.slow, &p.hard, &p.soft, &p.tried, &p.late} {
		*r = p.route(pair(fmt.Sprint("host-", i), 0, i))
	}
	var s slice
	p.quarantined(p.tried, &s)
	p.turns(p.firstCooldown())
	p.post(p.tried, &p.trial, kib)
	p.quarantined(p.hard, &s)
	p.fails(p.soft, &s, retryExc)
	p.post(p.slow, &p.patient, kib)
	p.post(p.late, &p.failing, kib)
	return p
}

// turns has poll batches for a while, before or after the disorder.
func (p *leaper) turns(d time.Duration) {
	for range d / batch {
		p.turn(func(t time.Duration) time.Duration { return t + p.offset })
	}
}

// turn is one poll batch: what the busy route had posted succeeds, and it posts again.
func (p *leaper) turn(reads func(t time.Duration) time.Duration) {
	p.right += batch
	reading := reads(p.right)
	p.highest = max(p.highest, reading)
	p.clock.Store(int64(reading))
	p.beat()
	for i := range p.inFlight {
		s := &p.inFlight[i]
		if s.use != 0 {
			equal(p.check, cc.Ended|cc.Released, p.settle(s, success), "%s: a success takes both edges", p.leap.name)
		}
		p.post(p.busy, s, 4*kib)
	}
	p.ctl.Tick(reading)
}

// lands is what comes with the first batch after the leap: a deadline that passes, and the
// completion of what failed long ago, by this clock.
func (p *leaper) lands() {
	if p.ahead && p.polling {
		equal(p.check, cc.Edges(0), p.settle(&p.patient, deadline), "%s: a deadline that passes in a gap of the polling counts for nothing", p.leap.name)
	}
	equal(p.check, cc.Ended|cc.Released, p.settle(&p.failing, retryExc), "%s: a failure takes both edges", p.leap.name)
	p.renew(p.late)
}

// counts has a deadline count again.
func (p *leaper) counts() {
	p.turns(2 * p.cfg.StallGap)
	equal(p.check, cc.Ended, p.settle(&p.patient, deadline), "%s: deadlines count once the clock is right", p.leap.name)
	p.settle(&p.patient, teardown)
	p.renew(p.slow)
	// Nothing was delivered for long, so it may be CONGESTED too.
	p.recovers(time.Duration(p.cfg.LowPressureEpochs+2)*p.cfg.Epoch, "a success ends a suspicion", p.slow)
}

// goesOn is for a controller whose time stands still for ever: windows stay as they are,
// but trials come due, and slices are admitted.
func (p *leaper) goesOn() {
	all := []*route{p.busy, p.slow, p.hard, p.soft, p.tried, p.late}
	for began := p.now(); p.now()-began < p.cooldown(); p.tick(step) {
		for _, r := range all {
			p.uses(r)
		}
	}
	var s slice
	for _, r := range all {
		p.must(r.State().Standing() != rail.Paused, "no quarantine is for ever: "+p.leap.name, "%s is %s", r.Pair(), r.State())
		p.transfers(r, &s, 1)
	}
}

// grows has the busy route's window be the limit, and fast: it grows.
func (p *leaper) grows() {
	p.pauses()
	before := p.busy.Snapshot().WindowBytes
	most := before // LawRound also empties the path now and then
	slices := make([]slice, 1024)
	for range 3 * p.cfg.LowPressureEpochs {
		for i := range slices {
			if !p.busy.ask(&slices[i], 16*kib).Admitted() {
				break
			}
			p.works(slices[i].permit.Posting(p.busy.qp, p.now()), "Posting")
		}
		for i := range slices {
			p.settle(&slices[i], success)
		}
		p.tick(p.cfg.Epoch)
		most = max(most, p.busy.Snapshot().WindowBytes)
	}
	p.must(most > before, "windows grow once the clock is right: "+p.leap.name, "from %d to %d bytes", before, most)
}

// losesTrial has the trial of a route whose failures came late get lost: another one is
// due when its lease has expired.
func (p *leaper) losesTrial() (again time.Duration) {
	var s, lost slice
	p.quarantined(p.late, &s)
	for range int(p.cooldown() / step) {
		if p.tick(step); p.late.ask(&lost, kib).Admitted() {
			break
		}
	}
	p.works(lost.permit.Posting(p.late.qp, p.now()), "Posting of a trial")
	equal(p.check, cc.Probing, p.late.State(), "a route whose trial is out")
	began := p.now()
	for p.tick(step); !p.late.ask(&s, kib).Admitted(); p.tick(step) {
		if p.now()-began > leaseBound {
			p.must(false, "the lease of a trial that is lost expires: "+p.leap.name, "%s is %s after %v; the bound is %v", p.late.Pair(), p.late.State(), p.now()-began, leaseBound)
		}
	}
	again = p.now() - began
	p.works(s.permit.Posting(p.late.qp, p.now()), "Posting of a trial")
	p.settle(&s, success)
	p.settle(&lost, teardown)
	return again
}

// pauses has the busy route's slices succeed, and nothing posted for now.
func (p *leaper) pauses() {
	for i := range p.inFlight {
		p.settle(&p.inFlight[i], success)
		p.inFlight[i].use = 0
	}
}

// rests settles what is left.
func (p *leaper) rests() {
	p.pauses()
	p.atRest()
}
