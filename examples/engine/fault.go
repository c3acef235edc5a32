package main

import (
	"fmt"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/internal/livefabric"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// faults makes the demonstration's fault: what the local NIC sends to the remote
// one gets lost, and no other pair is touched.
type faults interface {
	Block(local, remote fabric.NIC) (unblock func() error, err error)
}

// simFaults blocks pairs of the simulated fabric.
type simFaults struct{ net *livefabric.Net }

func (f simFaults) Block(local, remote fabric.NIC) (func() error, error) {
	return f.net.Block(local, remote)
}

// guestFaults blocks pairs of the Soft-RoCE guest.
type guestFaults struct{ lab *softroce.Lab }

func (f guestFaults) Block(local, remote fabric.NIC) (func() error, error) {
	from, err := f.lab.ByDevice(local.Name())
	if err != nil {
		return nil, fmt.Errorf("blocking a pair: %w", err)
	}
	to, err := f.lab.ByDevice(remote.Name())
	if err != nil {
		return nil, fmt.Errorf("blocking a pair: %w", err)
	}
	return f.lab.Block(from, to)
}
