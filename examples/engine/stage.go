package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/fabric/verbsfabric"
	"github.com/rdmagate/rdmagate/internal/livefabric"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/rail"
)

// stage is where a demonstration takes place: two hosts, and the faults that can
// be made between them.
type stage struct {
	title  string
	a, b   fabric.Host
	faults faults // nil on real hardware
	// rails lists the NIC pairs that can reach each other; nil is all.
	rails *rail.File
	// bytes is how much to move unless the caller says otherwise.
	bytes int64
	// ackTimeout and retry suit the fabric: a dead path should show soon, and a
	// busy one must not look dead.
	ackTimeout, retry uint8
	// window is that of a new route; 0 leaves the default.
	window size
	// health suits the length of a demonstration and the fabric: a blocked pair is to
	// be quarantined and back before the end. Zeros leave the defaults.
	health healthOptions
	// remark says at the end what a reader of the figures should know, or nothing; nil is
	// nothing.
	remark func() string
	close  func() error
}

// setStage chooses the fabric of a demonstration. guest says that the whole
// program should run in the Soft-RoCE guest instead; there is no stage then.
func setStage(ctx context.Context, o *options, stderr io.Writer) (s *stage, guest bool, err error) {
	switch {
	case o.fabric == "sim" && o.nics != "":
		return nil, false, fmt.Errorf("%w: -nics %s: the simulated fabric has NICs of its own", errUsage, o.nics)
	case o.fabric == "sim":
		s, err = simStage("asked for", o.sim)
		return s, false, err
	case softroce.InGuest():
		s, err = guestStage(o)
		return s, false, err
	}
	devices, reason := verbsfabric.Devices()
	if len(devices) > 0 {
		s, err = deviceStage(o)
		return s, false, err
	}
	if reason == nil {
		reason = errors.New("this machine has no RDMA device")
	}
	if o.fabric == "verbs" {
		return nil, false, fmt.Errorf("-fabric verbs: no usable RDMA device: %w; use -fabric auto, which brings its own", reason)
	}
	if o.nics != "" {
		return nil, false, fmt.Errorf("-nics %s: no usable RDMA device: %w", o.nics, reason)
	}
	if reason := guestReady(ctx, stderr); ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	} else if reason != nil {
		fmt.Fprintln(stderr, "engine: no Soft-RoCE guest:", reason)
		s, err = simStage("no RDMA device, and no guest to emulate one", o.sim)
		return s, false, err
	}
	return nil, true, nil
}

// simRate is what a link of the simulated fabric carries, in bit/s: fast enough to be
// busy, and slow enough to be watched and simulated.
const simRate = 500e6

// simStage makes two hosts with two NICs each in this process.
func simStage(reason string, o simOptions) (*stage, error) {
	net, err := livefabric.New(livefabric.Config{
		Hosts: []livefabric.HostConfig{
			{Name: "host-a", NICs: []string{"sima0", "sima1"}},
			{Name: "host-b", NICs: []string{"simb0", "simb1"}},
		},
		Rate: simRate, Switch: o.config(), Crowd: o.incast, Reason: reason,
	})
	if err != nil {
		return nil, err
	}
	a, err := net.Host("host-a")
	if err != nil {
		return nil, err
	}
	b, err := net.Host("host-b")
	if err != nil {
		return nil, err
	}
	if o.incast > 0 {
		if _, err := net.Incast(b.NICs()[0], incastTime); err != nil {
			return nil, err
		}
	}
	return &stage{
		title: fmt.Sprintf("simulated fabric in this process (%s): no RDMA is used", reason),
		a:     a, b: b, faults: simFaults{net}, bytes: 1 << 30,
		ackTimeout: 12, retry: 3, // 67 ms
		health: demoHealth(20 * time.Millisecond),
		remark: func() string { return paceText(net.Behind()) },
		close:  func() error { return errors.Join(a.Close(), b.Close(), net.Close()) },
	}, nil
}

// guestStage takes the two emulated hosts of the guest that this process runs in.
func guestStage(o *options) (*stage, error) {
	lab, err := softroce.Current()
	if err != nil {
		return nil, err
	}
	if o.nics != "" {
		return nil, fmt.Errorf("%w: -nics %s: the guest's devices are laid out already", errUsage, o.nics)
	}
	s := &stage{
		title:  "Soft-RoCE (rdma_rxe) in a guest: real verbs, emulated in software",
		faults: guestFaults{lab}, bytes: 128 << 20,
		// Emulated NICs are slow: the bytes in flight must drain well within the
		// timeout, or every queue looks like a loss. Soft-RoCE has also been seen to
		// complete a READ without its data after a retransmission.
		ackTimeout: 15, retry: 2, window: 128 << 10, // 0.4 s
		health: demoHealth(50 * time.Millisecond), // a QP sends again after 134 ms
	}
	if s.a, err = verbsfabric.Open("Soft-RoCE", devices(lab.A)...); err != nil {
		return nil, err
	}
	if s.b, err = verbsfabric.Open("Soft-RoCE", devices(lab.B)...); err != nil {
		return nil, errors.Join(err, s.a.Close())
	}
	s.close = func() error { return errors.Join(lab.Heal(), s.a.Close(), s.b.Close()) }
	return s, nil
}

// demoHealth returns short quarantines, and the drain time that suits a fabric.
func demoHealth(drain time.Duration) healthOptions {
	return healthOptions{cooldown: 2 * time.Second, limit: 4 * time.Second, probe: 500 * time.Millisecond, drain: drain}
}

func devices(nics []softroce.NIC) []string {
	var names []string
	for _, n := range nics {
		names = append(names, n.Device)
	}
	return names
}

// deviceStage plays both hosts on this machine's own devices. Each device talks to
// itself: that works however the ports are cabled.
func deviceStage(o *options) (*stage, error) {
	a, err := verbsfabric.Open("RDMA devices of this machine", o.names()...)
	if err != nil {
		return nil, err
	}
	b, err := verbsfabric.Open("RDMA devices of this machine", o.names()...)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &stage{
		title: a.Name() + ", each looped back to itself; no fault is injected into real hardware",
		a:     a, b: b, bytes: 4 << 30,
		ackTimeout: 14, retry: 7,
		rails: loops(a),
		close: func() error { return errors.Join(a.Close(), b.Close()) },
	}, nil
}

// loops pairs each NIC with itself.
func loops(host fabric.Host) *rail.File {
	var f rail.File
	for _, nic := range host.NICs() {
		f.All = append(f.All, rail.FilePair{Local: nic.Name(), Remote: nic.Name()})
	}
	return &f
}
