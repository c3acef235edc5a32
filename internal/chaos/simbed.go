package chaos

import (
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/simfabric"
)

// SimBed is the simulated fabric: host A and a host for each peer. It is meant for a
// bubble of testing/synctest, in which waiting costs nothing.
type SimBed struct {
	setup Setup
	net   *simfabric.Net
	near  *simfabric.Host
	far   []*simfabric.Host
}

// simRate is what a simulated NIC carries, in bytes per second.
const simRate = 100e6

// NewSimBed makes the fabric.
func NewSimBed(n Setup) (*SimBed, error) {
	nics := func(prefix string) (list []simfabric.NICConfig) {
		for i := range n.NICs {
			list = append(list, simfabric.NICConfig{Name: fmt.Sprint(prefix, i)})
		}
		return list
	}
	hosts := []simfabric.HostConfig{{Name: "a", NICs: nics("a")}}
	for p := range n.Peers {
		hosts = append(hosts, simfabric.HostConfig{Name: peerName(p), NICs: nics(fmt.Sprint("p", p, "."))})
	}
	net, err := simfabric.New(simfabric.Config{Hosts: hosts, Rate: simRate, Latency: 20 * time.Microsecond, Reason: "chaos"})
	if err != nil {
		return nil, err
	}
	b := &SimBed{setup: n, net: net}
	if b.near, err = net.Host("a"); err != nil {
		return nil, err
	}
	for p := range n.Peers {
		h, err := net.Host(peerName(p))
		if err != nil {
			return nil, err
		}
		b.far = append(b.far, h)
		for i, from := range b.near.NICs() {
			for j, to := range h.NICs() {
				if n.dead(i, j) {
					_, there := net.Block(from, to)
					_, back := net.Block(to, from)
					if err := errors.Join(there, back); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return b, nil
}

// Near returns host A.
func (b *SimBed) Near() fabric.Host { return b.near }

// Far returns the host of a peer.
func (b *SimBed) Far(peer int) fabric.Host { return b.far[peer] }

// Shared returns false: every peer is a machine of its own.
func (b *SimBed) Shared() bool { return false }

// Close switches the fabric off. It is an error if something still uses it.
func (b *SimBed) Close() error {
	faults := []error{b.near.Close()}
	for _, h := range b.far {
		faults = append(faults, h.Close())
	}
	return errors.Join(append(faults, b.net.Close())...)
}

// Numbers are those of the default configurations, made about twenty times as fast.
func (b *SimBed) Numbers() Numbers {
	law, _ := b.setup.law()
	c := cc.DefaultConfig()
	c.Mode, c.Prober, c.Law = cc.Enforce, true, law
	c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = 16<<10, 16<<10, 16<<10
	c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = 64<<10, 256<<10, 512<<10
	c.Epoch, c.TargetDrain, c.SuspectAfter, c.StallGap = 10*time.Millisecond, 5*time.Millisecond, 10*time.Millisecond, 40*time.Millisecond
	c.ErrorWindow = 500 * time.Millisecond
	c.Cooldown, c.CooldownCap, c.ProbeInterval = 100*time.Millisecond, 800*time.Millisecond, 50*time.Millisecond
	e := transfer.DefaultConfig()
	e.Workers, e.QPsPerWorker, e.SliceBytes, e.PollBatch, e.PostBatch = b.setup.Workers, 1, 16<<10, 2, 8 // who stood still takes a while to catch up
	e.AckTimeout, e.Retry = 10, 3                                                                        // 17 ms
	e.ProbeAckTimeout, e.ProbeRetry = 10, 1                                                              // 8 ms
	e.Deadline, e.FlushGrace, e.StallGap = 150*time.Millisecond, 20*time.Millisecond, 40*time.Millisecond
	e.BuildPause, e.ProbePause, e.Patience = time.Millisecond, 10*time.Millisecond, 2*time.Second
	return Numbers{CC: c, Engine: e, Slack: 20 * time.Millisecond, Look: 5 * time.Millisecond, Build: 20 * time.Millisecond}
}

func (b *SimBed) nic(f Fault) fabric.NIC {
	if f.Far {
		return b.far[f.Peer].NICs()[f.Remote]
	}
	return b.near.NICs()[f.Local]
}

// Begin makes a fault.
func (b *SimBed) Begin(f Fault) (func() error, error) {
	from, to := b.near.NICs()[f.Local], b.far[f.Peer].NICs()[f.Remote]
	if f.Back {
		from, to = to, from
	}
	switch f.Kind {
	case Block:
		return b.net.Block(from, to)
	case BlackHole, Hang:
		return b.net.BlackHole(from, to)
	case LinkDown:
		return b.net.LinkDown(b.nic(f))
	case Rate:
		return b.net.Rate(b.nic(f), int64(f.Amount))
	case Delay:
		return b.net.Delay(b.nic(f), time.Duration(f.Amount)*time.Microsecond)
	case GIDChange:
		tell := func() error {
			return b.net.Inject(b.nic(f), classify.Event{Type: classify.EventGIDChange, Element: classify.Element{Port: 1}})
		}
		return tell, tell()
	case DeviceFatal:
		return nil, b.net.Inject(b.near.NICs()[f.Local], classify.Event{Type: classify.EventDeviceFatal})
	}
	return nil, fmt.Errorf("chaos: the simulated fabric has no fault %v", f.Kind)
}
