package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/internal/simfabric"
)

// Chapter is a part of the story: a fault, for a while, and then peace.
type Chapter struct {
	Fault       string // in words
	Lasts, Rest time.Duration

	begin func(*simfabric.Net) (simfabric.Undo, error)
}

// Story is what happens, again and again.
var Story = []Chapter{
	{
		Fault: "sima0 to simb0 is blocked", Lasts: 7 * time.Second, Rest: 6 * time.Second,
		begin: func(n *simfabric.Net) (simfabric.Undo, error) {
			from, to, err := both(n, "host-a", "sima0", "host-b", "simb0")
			if err != nil {
				return nil, err
			}
			return n.Block(from, to)
		},
	},
	{
		Fault: "simc0 takes a tenth of its rate", Lasts: 8 * time.Second, Rest: 5 * time.Second,
		begin: func(n *simfabric.Net) (simfabric.Undo, error) {
			nic, err := n.NIC("host-c", "simc0")
			if err != nil {
				return nil, err
			}
			return n.Rate(nic, rate/10)
		},
	},
	{
		Fault: "the port of sima2 is down", Lasts: 5 * time.Second, Rest: 7 * time.Second,
		begin: func(n *simfabric.Net) (simfabric.Undo, error) {
			nic, err := n.NIC("host-a", "sima2")
			if err != nil {
				return nil, err
			}
			return n.LinkDown(nic)
		},
	},
}

func both(n *simfabric.Net, hostA, a, hostB, b string) (from, to fabric.NIC, err error) {
	if from, err = n.NIC(hostA, a); err != nil {
		return nil, nil, err
	}
	if to, err = n.NIC(hostB, b); err != nil {
		return nil, nil, err
	}
	return from, to, nil
}

// firstRest is how long all is well in the beginning.
const firstRest = 2 * time.Second

// tell tells the story until ctx ends. A chapter that cannot be told ends it.
func (d *Demo) tell(ctx context.Context) {
	pause(ctx, firstRest)
	for i := 0; ctx.Err() == nil; i++ {
		c := Story[i%len(Story)]
		undo, err := c.begin(d.net)
		if err != nil {
			d.say(fmt.Sprint("no faults any more: ", err))
			return
		}
		d.say(c.Fault)
		pause(ctx, c.Lasts)
		if err := undo(); err != nil {
			d.say(fmt.Sprint("no faults any more: ", err))
			return
		}
		d.say("")
		pause(ctx, c.Rest)
	}
}

func (d *Demo) say(fault string) { d.fault.Store(&fault) }

// Fault returns in words which fault there is at the moment; "" is none.
func (d *Demo) Fault() string {
	if s := d.fault.Load(); s != nil {
		return *s
	}
	return ""
}
