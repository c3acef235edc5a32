package verbsfabric

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

// nic is one device with its first active port.
type nic struct {
	ctx     *verbs.Context
	pd      *verbs.PD
	device  verbs.DeviceAttr
	port    uint8
	traffic verbs.PortAttr // of the port, when it was opened

	mu     sync.Mutex
	reader *verbs.AsyncReader
}

func openNIC(name string) (*nic, error) {
	ctx, err := verbs.Open(name)
	if err != nil {
		return nil, err
	}
	n := &nic{ctx: ctx}
	if err := n.init(); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *nic) init() error {
	var err error
	if n.device, err = n.ctx.Query(); err != nil {
		return err
	}
	if err := n.findPort(); err != nil {
		return err
	}
	if _, err := n.gid(); err != nil {
		return err
	}
	n.pd, err = n.ctx.AllocPD()
	return err
}

// findPort takes the first active port.
func (n *nic) findPort() error {
	var faults []error
	for port := uint8(1); port <= n.device.Ports; port++ {
		if err := n.ctx.CheckPort(port); err != nil {
			faults = append(faults, err)
			continue
		}
		attr, err := n.ctx.QueryPort(port)
		if err != nil {
			return err
		}
		n.port, n.traffic = port, attr
		return nil
	}
	return fmt.Errorf("verbsfabric: %s has no active port: %w", n.Name(), errors.Join(faults...))
}

// gid returns the address that QPs of the port use now: on Ethernet RoCE v2 with
// IPv4 where there is one, then any RoCE v2, then whatever there is.
func (n *nic) gid() (verbs.GIDEntry, error) {
	entries, err := n.ctx.GIDs(n.port)
	if err != nil {
		return verbs.GIDEntry{}, err
	}
	best, found := verbs.GIDEntry{}, -1
	for _, e := range entries {
		rank := 0
		if e.Type == verbs.GIDTypeRoCEv2 {
			rank = 1
			if e.GID.Addr().Is4() {
				rank = 2
			}
		}
		if rank > found && !e.GID.IsZero() && e.Index <= 255 {
			best, found = e, rank
		}
	}
	if found < 0 {
		return best, fmt.Errorf("verbsfabric: port %d of %s has no GID; give its network interface an address", n.port, n.Name())
	}
	return best, nil
}

func (n *nic) Name() string { return n.ctx.Device() }

func (n *nic) Port() uint8 { return n.port }

func (n *nic) Register(mem []byte) (fabric.Region, error) {
	return n.pd.RegisterMR(mem, verbs.AccessLocalWrite|verbs.AccessRemoteRead|verbs.AccessRemoteWrite)
}

func (n *nic) NewCQ(depth int) (fabric.CQ, error) {
	return n.ctx.CreateCQ(verbs.CQInit{Depth: depth})
}

// NextEvent waits for an event of the device. The reader is opened with the first
// call and closed when a call's ctx ends.
func (n *nic) NextEvent(ctx context.Context) (classify.Event, error) {
	reader, err := n.events()
	if err != nil {
		return classify.Event{}, err
	}
	stop := context.AfterFunc(ctx, func() { n.closeReader() })
	defer stop()
	e, err := reader.Next()
	if err != nil {
		return classify.Event{}, errors.Join(err, context.Cause(ctx))
	}
	return e.Event(), nil
}

func (n *nic) events() (*verbs.AsyncReader, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.reader == nil {
		r, err := n.ctx.AsyncEvents()
		if err != nil {
			return nil, err
		}
		n.reader = r
	}
	return n.reader, nil
}

func (n *nic) closeReader() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.reader == nil {
		return nil
	}
	err := n.reader.Close()
	n.reader = nil
	return err
}

func (n *nic) close() error {
	faults := []error{n.closeReader()}
	if n.pd != nil {
		faults = append(faults, n.pd.Close())
	}
	return errors.Join(append(faults, n.ctx.Close())...)
}
