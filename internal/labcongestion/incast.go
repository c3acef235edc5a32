package labcongestion

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/verbs"
)

// IncastQueues are the queue limits of the incast, in packets: one that is longer
// than the ACK timeout, so that what waits in it is sent again, and one that drops.
var IncastQueues = []int{1000, 40}

// IncastSetup is an incast whose senders time out: four senders with 32 slices of
// 16 KiB each would fill 420 ms of the link, and the ACK timeout is 17 ms.
func IncastSetup(queue int, mode cc.Mode, law cc.Law, seed uint64) Setup {
	c := cc.DefaultConfig()
	c.Mode, c.Law = mode, law
	c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = 16<<10, 16<<10, 16<<10
	c.StartWindowBytes = 64 << 10
	c.TargetDrain = 20 * time.Millisecond
	return Setup{
		Senders: 4, SliceBytes: 16 << 10, Offered: 32, PathMTU: verbs.MTU1024,
		Mbit: 40, QueuePackets: queue, AckTimeout: 12, Seed: seed, Control: c,
	}
}

// IncastArm is the arm of that queue and policy; the law matters in mode enforce only.
func IncastArm(queue int, mode cc.Mode, law cc.Law, seed uint64) Arm {
	return Arm{incastName(queue, mode, law), IncastSetup(queue, mode, law, seed)}
}

func incastName(queue int, mode cc.Mode, law cc.Law) string {
	if mode != cc.Enforce {
		return fmt.Sprintf("queue %d, %s", queue, mode)
	}
	return fmt.Sprintf("queue %d, %s by %s", queue, mode, law)
}
