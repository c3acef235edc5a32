// Package demo keeps the example engine busy on a simulated fabric with faults, so that
// there is something to look at without any hardware.
//
//	var recent live.Recent
//	d, err := demo.Start(recent.Add)
//	defer d.Close()
//	http.Handle("/", &live.Handler{Controller: d.Controller, Recent: &recent, Admissions: d.Admissions})
//
// One machine with three NICs writes objects to two others and reads them back. A story
// of faults goes round and round meanwhile: see [Story].
package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/simfabric"
	"github.com/rdmagate/rdmagate/rail"
)

// Demo is an engine at work. Make one with [Start].
type Demo struct {
	// Controller is what the engine asks, and Pauses its pause table.
	Controller *cc.Controller
	Pauses     *rail.Table

	net     *simfabric.Net
	engine  *transfer.Engine
	peers   []*transfer.Peer
	stop    context.CancelFunc
	running sync.WaitGroup
	closers []func() error // to be called last to first
	fault   atomic.Pointer[string]
}

// The fabric: slow enough for a small machine to carry, and to be watched.
const (
	rate    = 5e6 // bytes a second, of each NIC
	latency = 50 * time.Microsecond
	streams = 2       // objects under way at once, with each peer
	object  = 1 << 20 // bytes of an object
)

func hosts() []simfabric.HostConfig {
	nics := func(names ...string) (list []simfabric.NICConfig) {
		for _, name := range names {
			list = append(list, simfabric.NICConfig{Name: name})
		}
		return list
	}
	return []simfabric.HostConfig{
		{Name: "host-a", NICs: nics("sima0", "sima1", "sima2")},
		{Name: "host-b", NICs: nics("simb0", "simb1", "simb2")},
		{Name: "host-c", NICs: nics("simc0", "simc1")},
	}
}

// numbers returns the controller's configuration: short quarantines, and windows that a
// slow NIC drains in time as long as it has its rate.
func numbers() cc.Config {
	c := cc.DefaultConfig()
	c.Mode = cc.Enforce
	c.Cooldown, c.CooldownCap, c.ProbeInterval = 3*time.Second, 12*time.Second, 500*time.Millisecond
	c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes = 16<<10, 64<<10, 128<<10
	c.ProbeWindowBytes, c.SuspectWindowBytes = 16<<10, 16<<10
	c.DeviceWindowBytes = 1 << 20
	c.TargetDrain = 200 * time.Millisecond
	c.Prober = true // the engine's
	return c
}

// Start starts the engine, its two peers and the story. hook is told of transitions; nil
// if nobody wants to know.
func Start(hook func(cc.Transition)) (*Demo, error) {
	ctx, stop := context.WithCancel(context.Background())
	d := &Demo{stop: stop, Pauses: rail.NewTable()}
	if err := d.start(ctx, hook); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Demo) start(ctx context.Context, hook func(cc.Transition)) (err error) {
	if d.net, err = simfabric.New(simfabric.Config{Hosts: hosts(), Rate: rate, Latency: latency, Reason: "a demonstration"}); err != nil {
		return err
	}
	d.closers = append(d.closers, d.net.Close)
	began := time.Now()
	clock := func() time.Duration { return time.Since(began) }
	if d.Controller, err = cc.New(numbers(), cc.WithTransitions(hook), cc.WithPauses(d.Pauses), cc.WithClock(clock)); err != nil {
		return err
	}
	d.closers = append(d.closers, func() error { d.Controller.Close(); return nil })
	if err := d.startEngine(); err != nil {
		return err
	}
	for _, name := range []string{"host-b", "host-c"} {
		if err := d.connect(ctx, name); err != nil {
			return err
		}
	}
	for i, p := range d.peers {
		for n := range streams {
			d.running.Go(func() { d.stream(ctx, p, fmt.Sprintf("object-%d", n), uint64(i*streams+n)) })
		}
	}
	d.running.Go(func() { d.tell(ctx) })
	return nil
}

func (d *Demo) startEngine() error {
	host, err := d.net.Host("host-a")
	if err != nil {
		return err
	}
	d.closers = append(d.closers, host.Close)
	c := transfer.DefaultConfig()
	c.Workers, c.SliceBytes = 1, 16<<10
	c.AckTimeout, c.Retry = 12, 3 // 67 ms
	c.ProbeAckTimeout, c.ProbeRetry = 12, 3
	if d.engine, err = transfer.New(host, d.Controller, c, transfer.WithName("host-a")); err != nil {
		return err
	}
	d.closers = append(d.closers, d.engine.Close)
	return nil
}

// connect starts a server on a host and connects the engine to it.
func (d *Demo) connect(ctx context.Context, name string) error {
	host, err := d.net.Host(name)
	if err != nil {
		return err
	}
	c := transfer.DefaultServerConfig()
	c.Name = name
	server, err := transfer.NewServer(host, c)
	if err != nil {
		return errors.Join(err, host.Close())
	}
	// Servers end after the engine, and before the fabric.
	d.closers = slices.Insert(d.closers, 1, host.Close, server.Close)
	near, far := net.Pipe()
	go server.Serve(far)
	peer, err := d.engine.Connect(ctx, near)
	if err != nil {
		return err
	}
	d.peers = append(d.peers, peer)
	return nil
}

// stream puts an object and gets it back, again and again. What a fault fails is tried
// again.
func (d *Demo) stream(ctx context.Context, p *transfer.Peer, name string, seed uint64) {
	turn := rand.New(rand.NewPCG(seed, 0))
	for ctx.Err() == nil {
		if err := d.roundTrip(ctx, p, name); err != nil {
			pause(ctx, 100*time.Millisecond)
		}
		pause(ctx, time.Duration(turn.IntN(100))*time.Millisecond)
	}
}

func (d *Demo) roundTrip(ctx context.Context, p *transfer.Peer, name string) (err error) {
	sent, err := d.engine.NewBuffer(object)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sent.Close()) }()
	if _, err := p.Put(ctx, name, sent); err != nil {
		return err
	}
	got, _, err := p.Get(ctx, name)
	if err == nil {
		err = got.Close()
	}
	return errors.Join(err, p.Delete(context.WithoutCancel(ctx), name))
}

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Admissions returns how many slices the controller admitted.
func (d *Demo) Admissions() (n uint64) {
	for _, r := range d.engine.Totals().Rulings {
		if r.Answer == cc.Admit {
			n += r.Count
		}
	}
	return n
}

// Close ends the story and stops everything. A second Close does nothing.
func (d *Demo) Close() error {
	d.stop()
	d.running.Wait()
	var faults []error
	for _, end := range slices.Backward(d.closers) {
		faults = append(faults, end())
	}
	d.closers = nil
	return errors.Join(faults...)
}
