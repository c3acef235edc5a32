package cc

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/internal/clock"
	"github.com/rdmagate/rdmagate/rail"
)

// Controller holds the devices and routes of a process. Make one with [New] and
// share it among all workers. It is safe for concurrent use.
type Controller struct {
	cfg    Config
	clock  func() time.Duration
	now    func() time.Duration // clock; with a recorder the reading is recorded
	jitter func() float64
	hook   func(Transition)
	log    *slog.Logger
	table  *rail.Table
	recording

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
	syncs     atomic.Uint64 // how often a route took in what the table knew
}

// Option sets a collaborator of a controller.
type Option func(*Controller)

// WithClock sets the clock, for tests. now returns the time since a fixed instant;
// it must not go backwards and must be safe for concurrent use.
func WithClock(now func() time.Duration) Option {
	return func(c *Controller) { c.clock = now }
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
		clock:   clock.Now,
		jitter:  func() float64 { return 0.8 + 0.4*rand.Float64() },
		table:   rail.NewTable(),
		devices: map[string]*device{},
		pollers: map[cqKey]*Poller{},
	}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("cc: New: option %d of %d is nil; leave it out", i+1, len(opts))
		}
		o(c)
	}
	if c.clock == nil || c.jitter == nil || c.table == nil {
		return nil, errors.New("cc: New: WithClock, WithJitter or WithPauses was given nil; leave the option out for the default")
	}
	if cfg.Mode != Enforce {
		c.table = rail.NewTable()
	}
	c.now = c.clock
	if err := c.startRecording(); err != nil {
		return nil, err
	}
	c.law, c.deviceLaw = cfg.laws()
	c.monitor.last = c.now()
	if c.rec != nil {
		c.rec.Begin(c.monitor.last)
	}
	c.monitor.epoch = c.monitor.last / cfg.Epoch
	c.monitor.began = c.monitor.last
	return c, nil
}

// Now reads the controller's clock: by default the time since the process started. All
// times of the library are readings of it. Read it once for a batch of posts or
// completions and pass the reading on.
func (c *Controller) Now() time.Duration { return c.clock() }

// Mode returns the mode that the controller was built with.
func (c *Controller) Mode() Mode { return c.cfg.Mode }

// Config returns what the controller was built with. With the build tag rdmagate_off the
// mode is off.
func (c *Controller) Config() Config { return c.cfg }

// Route returns the route of a pair, and makes it at the first call. All callers
// of one pair get the same route. Keep it: the look-up takes a lock.
func (c *Controller) Route(pair rail.Pair) (*Route, error) {
	if err := pair.Validate(); err != nil {
		return nil, err
	}
	if c.rec != nil {
		return c.recordRoute(pair)
	}
	r, _, err := c.route(pair)
	return r, err
}

// route finds or makes a route.
func (c *Controller) route(pair rail.Pair) (r *Route, made bool, err error) {
	r, made, told, err := c.findRoute(pair)
	c.tell(told)
	return r, made, err
}

// findRoute finds or makes a route, and returns the transitions of a new one.
func (c *Controller) findRoute(pair rail.Pair) (r *Route, made bool, told []Transition, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false, nil, fmt.Errorf("cc: Route(%s): %w", pair, ErrClosed)
	}
	if r := c.routes.find(pair); r != nil {
		return r, false, nil, nil
	}
	dev := c.device(pair.Local)
	r = &Route{ctl: c, pair: pair, device: dev, mode: c.cfg.Mode, calls: c.calls}
	r.lawWindow = c.cfg.StartWindowBytes
	r.window.Store(r.lawWindow)
	r.peer = c.table.Join(pair)
	r.none.route = r
	r.none.retire() // so that the fast path admits nothing on it
	r.measureAll(c.cfg.Law == LawRound)
	r.current.Store(&r.none)
	r.flight.leasedAcquired.Store(closedBit)
	if c.rec != nil {
		r.id = c.rec.NewRoute()
	}
	c.routes.add(r)
	return r, true, dev.run(func() { dev.add(r, c.now()) }), nil
}

// device finds or makes the device of a name. The caller holds the lock.
func (c *Controller) device(name string) *device {
	dev := c.devices[name]
	if dev == nil {
		dev = &device{name: name, ctl: c, qps: registry{}}
		dev.window.Store(c.cfg.DeviceWindowBytes)
		c.devices[name] = dev
		c.deviceList = append(c.deviceList, dev)
	}
	return dev
}
