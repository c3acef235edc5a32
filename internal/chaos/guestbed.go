package chaos

import (
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/fabric/verbsfabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// GuestBed is real verbs in the Soft-RoCE guest. The peers are servers on host B, each
// with contexts of its own on the same devices.
type GuestBed struct {
	setup Setup
	lab   *softroce.Lab
	near  *verbsfabric.Host
	far   []*verbsfabric.Host
}

// A NIC takes in guestMbit Mbit/s, with guestQueue packets in front, so that the NICs are
// the bottleneck, as they are on hardware, and not the processor that emulates them.
const (
	guestMbit  = 16
	guestQueue = 1000
)

// OpenGuestBed opens the hosts and blocks the dead pairs. It works in the guest only.
func OpenGuestBed(n Setup) (*GuestBed, error) {
	lab, err := softroce.Current()
	if err != nil {
		return nil, err
	}
	if len(lab.A) != n.NICs {
		return nil, fmt.Errorf("chaos: the guest has %d NICs a side, the schedule needs %d", len(lab.A), n.NICs)
	}
	b := &GuestBed{setup: n, lab: lab}
	return b, b.open()
}

func (b *GuestBed) open() (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if err := b.lab.Heal(); err != nil {
		return err
	}
	if b.near, err = verbsfabric.Open("host a", devices(b.lab.A)...); err != nil {
		return err
	}
	for p := range b.setup.Peers {
		h, err := verbsfabric.Open(peerName(p), devices(b.lab.B)...)
		if err != nil {
			return err
		}
		b.far = append(b.far, h)
	}
	for i, from := range b.lab.A {
		for j, to := range b.lab.B {
			if !b.setup.dead(i, j) {
				continue
			}
			_, there := b.lab.Block(from, to)
			_, back := b.lab.Block(to, from)
			if err := errors.Join(there, back); err != nil {
				return err
			}
		}
	}
	for _, nic := range b.lab.All() {
		if err := b.shape(nic); err != nil {
			return err
		}
	}
	return nil
}

func devices(nics []softroce.NIC) (names []string) {
	for _, n := range nics {
		names = append(names, n.Device)
	}
	return names
}

func (b *GuestBed) shape(nic softroce.NIC) error {
	_, err := b.lab.Rate(nic, guestMbit, guestQueue)
	return err
}

// Near returns host A.
func (b *GuestBed) Near() fabric.Host { return b.near }

// Far returns the host of a peer.
func (b *GuestBed) Far(peer int) fabric.Host { return b.far[peer] }

// Shared returns true: both peers are on host B.
func (b *GuestBed) Shared() bool { return true }

// Close heals the lab and closes the hosts. It is an error if something is open there.
func (b *GuestBed) Close() error {
	faults := []error{b.lab.Heal()}
	if b.near != nil {
		faults = append(faults, b.near.Close())
	}
	for _, h := range b.far {
		faults = append(faults, h.Close())
	}
	return errors.Join(faults...)
}

// Numbers suit emulated NICs: a work request on a dead pair fails after 1.1 s, a probe
// after 0.3 s, and what a window holds drains well within one ACK timeout.
func (b *GuestBed) Numbers() Numbers {
	law, _ := b.setup.law()
	c := cc.DefaultConfig()
	c.Mode, c.Prober, c.Law = cc.Enforce, true, law
	c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = 8<<10, 8<<10, 8<<10
	c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = 32<<10, 64<<10, 128<<10
	c.TargetDrain, c.SuspectAfter = 50*time.Millisecond, 500*time.Millisecond
	c.Cooldown, c.CooldownCap, c.ProbeInterval = 3*time.Second, 12*time.Second, 1500*time.Millisecond
	e := transfer.DefaultConfig()
	e.Workers, e.QPsPerWorker, e.SliceBytes, e.PostBatch = b.setup.Workers, 1, 8<<10, 4
	e.AckTimeout, e.Retry = 16, 3
	e.ProbeAckTimeout, e.ProbeRetry = 15, 1
	e.Deadline, e.FlushGrace = 5*time.Second, time.Second
	e.BuildPause, e.ProbePause, e.Patience = 100*time.Millisecond, 250*time.Millisecond, 30*time.Second
	return Numbers{CC: c, Engine: e, Slack: 3 * time.Second, Look: 100 * time.Millisecond, Build: 3 * time.Second, Lies: true}
}

// Begin makes a fault.
func (b *GuestBed) Begin(f Fault) (func() error, error) {
	from, to := b.lab.A[f.Local], b.lab.B[f.Remote]
	nic := from
	if f.Far {
		nic = to
	}
	if f.Back {
		from, to = to, from
	}
	switch f.Kind {
	case Block:
		return b.lab.Block(from, to)
	case BlackHole, Hang:
		return b.lab.BlackHole(from, to)
	case LinkDown:
		return b.lab.LinkDown(nic)
	case Rate:
		_, err := b.lab.Rate(nic, f.Amount*8/1e6, guestQueue)
		return func() error { return b.shape(nic) }, err
	case Delay:
		return b.lab.Delay(nic, time.Duration(f.Amount)*time.Microsecond)
	case Loss:
		return b.lab.Loss(nic, f.Amount)
	case GIDChange:
		_, undo, err := b.lab.AddAddress(nic)
		return undo, err
	}
	return nil, fmt.Errorf("chaos: the guest has no fault %v", f.Kind)
}
