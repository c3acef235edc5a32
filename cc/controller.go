package cc

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/clock"
	"github.com/rdmagate/rdmagate/rail"
)

// Controller holds the devices and routes of a process. Make one with [New] and
// share it among all workers. It is safe for concurrent use.
type Controller struct {
	cfg    Config
	now    func() time.Duration
	jitter func() float64
	hook   func(Transition)
	log    *slog.Logger
	table  *rail.Table

	mu      sync.Mutex // guards what follows; never held on the post path
	closed  bool
	routes  routeIndex
	devices map[string]*device
	pollers map[cqKey]*Poller
	// deviceList is the devices again. It only grows: who copied it may read on.
	deviceList []*device

	law       law
	deviceLaw epochLaw
	monitor   monitor
}

// Option sets a collaborator of a controller.
type Option func(*Controller)

// WithClock sets the clock, for tests. now returns the time since a fixed instant;
// it must not go backwards and must be safe for concurrent use.
func WithClock(now func() time.Duration) Option {
	return func(c *Controller) { c.now = now }
}

// WithJitter sets what cooldowns and probe intervals are multiplied with, so that
// processes do not all try at once. By default it is between 0.8 and 1.2. factor
// must be safe for concurrent use.
func WithJitter(factor func() float64) Option {
	return func(c *Controller) { c.jitter = factor }
}

// New returns a controller, or the faults of the configuration joined into one
// error.
func New(cfg Config, opts ...Option) (*Controller, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !enabled {
		cfg.Mode = Off
	}
	c := &Controller{
		cfg:     cfg,
		now:     clock.Now,
		jitter:  func() float64 { return 0.8 + 0.4*rand.Float64() },
		table:   rail.NewTable(),
		devices: map[string]*device{},
		pollers: map[cqKey]*Poller{},
	}
	for _, o := range opts {
		o(c)
	}
	c.law, c.deviceLaw = cfg.laws()
	c.monitor.last = c.now()
	c.monitor.epoch = c.monitor.last / cfg.Epoch
	c.monitor.began = c.monitor.last
	return c, nil
}

// Now reads the controller's clock. Read it once for a batch of posts or
// completions and pass the reading on.
func (c *Controller) Now() time.Duration { return c.now() }

// Mode returns the mode that the controller was built with.
func (c *Controller) Mode() Mode { return c.cfg.Mode }

// Route returns the route of a pair, and makes it at the first call. All callers
// of one pair get the same route. Keep it: the look-up takes a lock.
func (c *Controller) Route(pair rail.Pair) (*Route, error) {
	if err := pair.Validate(); err != nil {
		return nil, err
	}
	r, told, err := c.findRoute(pair)
	c.tell(told)
	return r, err
}

// findRoute finds or makes a route, and returns the transitions of a new one.
func (c *Controller) findRoute(pair rail.Pair) (*Route, []Transition, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, fmt.Errorf("cc: Route(%s): %w", pair, ErrClosed)
	}
	if r := c.routes.find(pair); r != nil {
		return r, nil, nil
	}
	dev := c.devices[pair.Local]
	if dev == nil {
		dev = &device{name: pair.Local, ctl: c, qps: registry{}}
		dev.window.Store(c.cfg.DeviceWindowBytes)
		c.devices[pair.Local] = dev
		c.deviceList = append(c.deviceList, dev)
	}
	r := &Route{ctl: c, pair: pair, device: dev, mode: c.cfg.Mode}
	r.lawWindow = c.cfg.StartWindowBytes
	r.window.Store(r.lawWindow)
	r.health.entry = c.table.Entry(pair)
	r.none.route = r
	r.none.retired.Store(true) // so that the fast path admits nothing on it
	r.longSample = uint32(min(longSample, c.cfg.TargetDrain/4))
	r.current.Store(&r.none)
	r.flight.leasedAcquired.Store(closedBit)
	c.routes.add(r)
	return r, dev.run(func() { dev.add(r, c.now()) }), nil
}

// Event takes an asynchronous event that the caller's own reader got, and returns
// what it means and how many QPs of current generations it reached. An element
// that no current generation registered, or that was retired, reaches none, and
// then nothing changes. The call does not block. It calls nothing back but the
// function of [WithTransitions], with no lock of the controller's held; without
// that function it may be made with any lock of the owner's held.
//
// The element's Device must be set, for every event that is not ignored.
//
// A QP that an event kills has the event as the root cause of its later flushes.
// An event that leaves its element out gives an error that wraps
// [classify.ErrNoElement], and changes nothing.
//
// Specification: async event matrix.
func (c *Controller) Event(e classify.Event, now time.Duration) (v classify.Verdict, reached int, err error) {
	if v, err = e.Verdict(); err != nil {
		return v, 0, fmt.Errorf("cc: Event: %w", err)
	}
	if v.Scope() == classify.ScopeNone {
		return v, 0, nil
	}
	if e.Element.Device == "" {
		return classify.Verdict{}, 0, fmt.Errorf("cc: Event %s: %w: Device is empty; name the local device that reported it", e.Type, classify.ErrNoElement)
	}
	return v, c.event(v, e, now), nil
}

// event applies a verdict within its scope and counts the QPs that it reaches.
func (c *Controller) event(v classify.Verdict, e classify.Event, now time.Duration) (reached int) {
	if c.cfg.Mode == Off {
		return 0
	}
	c.mu.Lock()
	dev := c.devices[e.Element.Device]
	if c.closed || dev == nil {
		c.mu.Unlock()
		return 0
	}
	hit := dev.qps.within(v.Scope(), e)
	c.mu.Unlock()

	faulty := map[*generation][]*qp{}
	for _, r := range hit {
		r.qp.note(v)
		if v.Countable() {
			faulty[r.gen] = append(faulty[r.gen], r.qp)
		}
	}
	for gen, qps := range faulty {
		gen.route.failed(gen, failure{verdict: v}, now, qps...)
	}
	dev.locked(func() {
		switch {
		case v.Immediate() && v.Scope() == classify.ScopeCQ:
			for _, r := range hit {
				if r.gen.route.current.Load() == r.gen {
					r.gen.route.isolate(v, dev.later(now))
					dev.checkUsable(r.gen.route, v, dev.latest)
				}
			}
		case v.Immediate() && v.Scope() == classify.ScopePort:
			dev.mark(e.Element.Port, v, now)
		case v.Immediate():
			dev.mark(0, v, now)
		case v.Class() == classify.ClassRecovery:
			dev.portActive(e.Element.Port, now)
		}
	})
	return len(hit)
}

// Close ends admission: from now on TryAcquire, Renew and Route answer
// [ErrClosed] and events are ignored. It never waits for permits; settles that
// come later give their bytes back. A second Close does nothing.
func (c *Controller) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for r := range c.routes.all() {
		end := &generation{number: closedGeneration, route: r}
		end.retired.Store(true) // nothing is admitted on it, whatever number is asked for
		r.current.Store(end)
		r.wake()
		r.returnTrial(c.now())
	}
	for _, d := range c.devices {
		clear(d.qps)
	}
}
