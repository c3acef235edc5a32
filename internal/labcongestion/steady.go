package labcongestion

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/verbs"
)

// SteadySetup is a bottleneck that all senders together fill for longer than the
// target, and for less than the ACK timeout: nothing is lost or sent again, and the
// queue is what the windows make it. Too small a window leaves the link idle: the path
// alone holds nine slices. The rate is one that an emulated machine carries with time to
// spare.
func SteadySetup(mode cc.Mode, law cc.Law, seed uint64) Setup {
	c := cc.DefaultConfig()
	c.Mode, c.Law = mode, law
	c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = 4<<10, 4<<10, 4<<10
	c.StartWindowBytes = 8 << 10
	c.TargetDrain = 100 * time.Millisecond
	return Setup{
		Senders: 4, SliceBytes: 4 << 10, Offered: 32, PathMTU: verbs.MTU4096,
		Mbit: 10, QueuePackets: 1000, PathDelay: 30 * time.Millisecond, AckTimeout: 18, Seed: seed, Control: c,
	}
}

// ObservedArm offers n slices a sender in mode observe.
func ObservedArm(n int, seed uint64) Arm {
	s := SteadySetup(cc.Observe, cc.LawEpoch, seed)
	s.Offered = n
	return Arm{fmt.Sprintf("observe, %d offered", n), s}
}

// StaticArm enforces a window of n slices that never moves.
func StaticArm(n int, seed uint64) Arm {
	s := SteadySetup(cc.Enforce, cc.LawEpoch, seed).WithStaticWindow(n)
	return Arm{fmt.Sprintf("static window of %d slices", n), s}
}

// LawArm lets a law move the windows.
func LawArm(law cc.Law, seed uint64) Arm {
	return Arm{"law " + law.String(), SteadySetup(cc.Enforce, law, seed)}
}

// OffArm has no admission control.
func OffArm(seed uint64) Arm { return Arm{"off", SteadySetup(cc.Off, cc.LawEpoch, seed)} }
