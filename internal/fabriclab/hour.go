package fabriclab

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// hour is a host that writes to several receivers, as a model of fluids: the slices of
// a route are served one after the other, at a share of the receiver's rate that is its
// share of what is out to the receiver, and all routes together no faster than the line.
// There are no packets, pauses and failures, so that an hour can be had.
type hour struct {
	weather
	random *rand.Rand
	now    time.Duration
	ctl    *cc.Controller
	poller *cc.Poller
	lanes  []*lane
	moves  []Move
	times  []time.Duration // one in timeEvery
	free   []*posted

	othersOut float64 // slices that each other sender has out: a start window
	served    int64   // slices
}

// timeEvery is how many slices one whose time is kept stands for.
const timeEvery = 64

// lane is a route of an hour and its receiver.
type lane struct {
	path    *cc.Route
	out     []*posted // in order
	left    float64   // bytes of the first
	rate    float64   // bytes a nanosecond
	others  int       // senders that are at it
	storm   bool
	changes []change // the receiver's storms first, then the other senders
	first   int      // of the changes
}

// change is a thing that is on or off, and until when.
type change struct {
	on    bool
	until time.Duration
}

// posted is a slice on its way.
type posted struct {
	permit cc.Permit
	use    cc.Use
	at     time.Duration
}

const never = time.Duration(1<<63 - 1)

func hourOf(seed uint64, arm Arm, w weather, length time.Duration) (Outcome, error) {
	out := newOutcome()
	if err := align(); err != nil {
		return out, err
	}
	h := &hour{weather: w, random: rand.New(rand.NewPCG(seed, 0x686f7572))}
	h.othersOut = float64(arm.Config.StartWindowBytes) / float64(slice64)
	if err := h.open(*arm.Config, rand.New(rand.NewPCG(seed, 1))); err != nil {
		return out, fmt.Errorf("arm %s, seed %d: %w", arm.Name, seed, err)
	}
	defer h.ctl.Close()
	if err := h.run(length); err != nil {
		return out, fmt.Errorf("arm %s, seed %d, at %v: %w", arm.Name, seed, h.now, err)
	}
	out.Moves = h.moves
	out.Values["SUSPECT or QUARANTINED"] = diverted(h.moves)
	out.Values["slice time, median"] = millis(quantile(h.times, 0.5))
	out.Values["slice time, p99"] = millis(quantile(h.times, 0.99))
	out.Values["goodput"] = 100 * float64(h.served*slice64) / (diversionRate / 8 * length.Seconds())
	out.Times = thin(h.times)
	return out, nil
}

// open makes the controller, and a route to each receiver.
func (h *hour) open(cfg cc.Config, random *rand.Rand) (err error) {
	h.ctl, err = cc.New(cfg, cc.WithClock(func() time.Duration { return h.now }),
		cc.WithJitter(func() float64 { return 0.8 + 0.4*random.Float64() }),
		cc.WithTransitions(func(t cc.Transition) { h.moves = append(h.moves, Move{t, "host0"}) }))
	if err != nil {
		return err
	}
	if h.poller, err = h.ctl.NewPoller("nic", 1); err != nil {
		return err
	}
	for i := range h.receivers {
		l := &lane{}
		name := fmt.Sprint("receiver", i)
		if l.path, err = h.ctl.Route(rail.Pair{Peer: name, Local: "nic", Port: 1, Remote: name}); err != nil {
			return err
		}
		if _, err = l.path.Renew(0, []cc.QP{{ID: uint64(1 + i), CQ: 1}}); err != nil {
			return err
		}
		l.changes = []change{{until: never}}
		if h.storms > 0 {
			l.changes[0].until = h.storm(h.random, false)
		}
		for range h.others {
			l.changes = append(l.changes, change{until: h.spell(h.random)})
		}
		l.setFirst()
		h.lanes = append(h.lanes, l)
	}
	return nil
}

func (h *hour) run(length time.Duration) error {
	const tick = 10 * time.Millisecond
	nextTick := tick
	if err := h.fill(); err != nil {
		return err
	}
	for h.now < length {
		h.setRates()
		next, at, which := h.next()
		next = min(next, nextTick)
		h.serve(next)
		switch {
		case next == nextTick:
			h.poller.Beat(h.now)
			h.ctl.Tick(h.now)
			nextTick += tick
		case which < 0:
			if err := h.settle(at); err != nil {
				return err
			}
		default:
			h.turn(at, which)
			continue
		}
		if err := h.fill(); err != nil {
			return err
		}
	}
	return nil
}

// next returns when and where the next thing happens: a slice is served (which is
// -1), or a change comes.
func (h *hour) next() (when time.Duration, l *lane, which int) {
	when = never
	for _, at := range h.lanes {
		if len(at.out) > 0 {
			if t := h.now + time.Duration(at.left/at.rate) + 1; t < when {
				when, l, which = t, at, -1
			}
		}
		if c := at.changes[at.first]; c.until < when {
			when, l, which = c.until, at, at.first
		}
	}
	return when, l, which
}

// turn carries out a change.
func (h *hour) turn(l *lane, which int) {
	c := &l.changes[which]
	c.on = !c.on
	switch {
	case which == 0:
		l.storm = c.on
		c.until = h.now + h.weather.storm(h.random, c.on)
	case c.on:
		l.others++
		c.until = h.now + h.spell(h.random)
	default:
		l.others--
		c.until = h.now + h.spell(h.random)
	}
	l.setFirst()
}

func (l *lane) setFirst() {
	l.first = 0
	for i, c := range l.changes {
		if c.until < l.changes[l.first].until {
			l.first = i
		}
	}
}

// setRates gives each route that has something to send its share of its receiver, and
// of the line as much as the others leave, all alike.
func (h *hour) setRates() {
	const line = diversionRate / 8 / 1e9 // bytes a nanosecond
	left, waiting := line, 0
	for i, l := range h.lanes {
		l.rate = 0
		if len(l.out) > 0 {
			mine := float64(len(l.out))
			l.rate = -line * h.share(i, l.storm) * mine / (mine + float64(l.others)*h.othersOut) // at most; not decided yet
			waiting++
		}
	}
	for waiting > 0 {
		fair, before := left/float64(waiting), waiting
		for _, l := range h.lanes {
			if l.rate < 0 && -l.rate <= fair {
				l.rate = -l.rate
				left -= l.rate
				waiting--
			}
		}
		if waiting == before {
			for _, l := range h.lanes {
				if l.rate < 0 {
					l.rate = fair
				}
			}
			return
		}
	}
}

// serve has time pass.
func (h *hour) serve(until time.Duration) {
	for _, l := range h.lanes {
		l.left -= l.rate * float64(until-h.now)
	}
	h.now = until
}

// settle ends the first slice of a route.
func (h *hour) settle(l *lane) error {
	p := l.out[0]
	l.out = append(l.out[:0], l.out[1:]...)
	h.poller.Beat(h.now)
	if edges := p.permit.Settle(p.use, classify.Completion(classify.StatusSuccess, 0), h.now); edges&cc.Released == 0 {
		return fmt.Errorf("a slice did not release its bytes: %v", edges)
	}
	if h.served++; h.served%timeEvery == 0 {
		h.times = append(h.times, h.now-p.at)
	}
	h.free = append(h.free, p)
	l.left = float64(slice64)
	return nil
}

// take returns a slice that is not on its way.
func (h *hour) take() *posted {
	n := len(h.free)
	if n == 0 {
		return &posted{}
	}
	p := h.free[n-1]
	h.free = h.free[:n-1]
	return p
}

// fill posts what is admitted, a slice of each route in turn.
func (h *hour) fill() error {
	for again := true; again; {
		again = false
		for i, l := range h.lanes {
			p := h.take()
			d := l.path.TryAcquire(&p.permit, 1, slice64, nil)
			if d.Err != nil {
				return d.Err
			}
			if !d.Admitted() {
				h.free = append(h.free, p)
				continue
			}
			p.use, p.at = d.Use, h.now
			if err := p.permit.Posting(uint64(1+i), h.now); err != nil {
				return err
			}
			if len(l.out) == 0 {
				l.left = float64(slice64)
			}
			l.out = append(l.out, p)
			again = true
		}
	}
	return nil
}
