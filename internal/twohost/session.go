package twohost

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/rail"
)

// Session is an arm that is set up: controllers, engines and endpoints. It has
// learnt nothing when it starts.
type Session struct {
	Arm     Arm
	Numbers Numbers

	bed      *Bed
	host     fabric.Host
	recorder *Recorder
	verdicts verdicts
	server   *transfer.Server
	ctls     []*cc.Controller
	engines  []*transfer.Engine
	peers    []*transfer.Peer
}

// Start sets an arm up on the bed.
func (b *Bed) Start(ctx context.Context, a Arm, n Numbers) (s *Session, err error) {
	s = &Session{Arm: a, Numbers: n, bed: b, recorder: &Recorder{remote: b.remotes()}}
	s.host = &host{b.a, s.recorder}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	sc := transfer.DefaultServerConfig()
	sc.Name, sc.AckTimeout, sc.Retry = "host-b", n.AckTimeout, n.Retry
	if s.server, err = transfer.NewServer(b.b, sc); err != nil {
		return s, err
	}
	var pauses []cc.Option
	if a.Shared {
		pauses = append(pauses, cc.WithPauses(rail.NewTable()))
	}
	var pairs *rail.File
	if a.Perfect {
		pairs = b.railFile()
	}
	for i := range a.Controllers {
		ctl, err := cc.New(n.controller(a), append(pauses, cc.WithTransitions(s.verdicts.hook(i)), cc.WithJitter(n.jitter(i)))...)
		if err != nil {
			return s, err
		}
		s.ctls = append(s.ctls, ctl)
		e, err := transfer.New(s.host, ctl, n.engine(a), transfer.WithName(fmt.Sprint("host-a.", i)), transfer.WithRails(pairs))
		if err != nil {
			return s, err
		}
		s.engines = append(s.engines, e)
		near, far := net.Pipe()
		go s.server.Serve(far)
		p, err := e.Connect(ctx, near)
		if err != nil {
			return s, err
		}
		s.peers = append(s.peers, p)
	}
	return s, nil
}

// Snapshots reads the controllers.
func (s *Session) Snapshots() (list []cc.Snapshot) {
	for _, c := range s.ctls {
		list = append(list, c.Snapshot())
	}
	return list
}

// Slices returns the work requests that have ended since it was asked the last time. It
// is not for a session that has a run under way.
func (s *Session) Slices() []Slice { return s.recorder.Take() }

// builds counts the endpoints that were built so far.
func (s *Session) builds() (n int) {
	for _, p := range s.peers {
		for _, r := range p.NewSampler().Sample() {
			n += int(r.Builds)
		}
	}
	return n
}

// Close takes everything down.
func (s *Session) Close() error {
	var faults []error
	for _, e := range s.engines {
		faults = append(faults, e.Close())
	}
	if s.server != nil {
		faults = append(faults, s.server.Close())
	}
	for _, p := range s.peers {
		if left := p.InFlight(); left != 0 {
			faults = append(faults, fmt.Errorf("twohost: %d bytes are still in flight", left))
		}
	}
	for _, c := range s.ctls {
		c.Close()
	}
	return errors.Join(faults...)
}
