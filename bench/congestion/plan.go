package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/cc"
	lab "github.com/rdmagate/rdmagate/internal/labcongestion"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// senders is how many NICs a side the guest has.
const senders = 4

// plan says what is measured.
type plan struct {
	Rounds  int
	Measure time.Duration
	Seed    uint64
}

func defaultPlan() plan { return plan{Rounds: 3, Measure: 2 * time.Second, Seed: 1} }

func (p plan) check() error {
	if p.Rounds < 1 || p.Measure < 500*time.Millisecond {
		return fmt.Errorf("-rounds is %d and -measure %s; give at least 1 and 500ms", p.Rounds, p.Measure)
	}
	return nil
}

// findings is what was measured.
type findings struct {
	Kernel string
	Steady []lab.Result
	Follow []followed
}

// followed is how a law followed the rate of the link.
type followed struct {
	Setup  lab.Setup
	Phases []phase
}

// phase is a phase with what is left of it ten epochs after the change.
type phase struct {
	lab.Phase
	Late    lab.Stretch
	Settled time.Duration // when the delay was below twice the target for good
}

// followEpochs is how many epochs a law has to follow a change.
const followEpochs = 10

var laws = []cc.Law{cc.LawEpoch, cc.LawRound}

// measure does all of it, in the guest.
func (p plan) measure(progress io.Writer) (found findings, err error) {
	fabric, err := softroce.Current()
	if err != nil {
		return found, err
	}
	if err := fabric.Heal(); err != nil {
		return found, err
	}
	say := func(format string, args ...any) { fmt.Fprintf(progress, "congestion: "+format+"\n", args...) }
	found.Kernel = machine.Kernel()
	say("steady bottleneck")
	if found.Steady, err = p.compare(fabric, say, p.steady()); err != nil {
		return found, err
	}
	say("a rate that changes")
	for _, law := range laws {
		f, err := p.follow(fabric, say, law)
		if err != nil {
			return found, err
		}
		found.Follow = append(found.Follow, f)
	}
	return found, nil
}

func (p plan) compare(fabric *softroce.Lab, say func(string, ...any), arms []lab.Arm) ([]lab.Result, error) {
	c := lab.Comparison{Lab: fabric, Arms: arms, Warm: time.Second, Measure: p.Measure, Progress: say}
	for range p.Rounds {
		if err := c.Round(); err != nil {
			return nil, err
		}
	}
	return c.Results(), nil
}

func (p plan) steady() []lab.Arm {
	arms := []lab.Arm{lab.OffArm(p.Seed)}
	for _, n := range []int{2, 8, 32} {
		arms = append(arms, lab.ObservedArm(n, p.Seed))
	}
	for _, law := range laws {
		arms = append(arms, lab.LawArm(law, p.Seed))
	}
	for _, n := range []int{1, 2, 4, 8, 16, 32} {
		arms = append(arms, lab.StaticArm(n, p.Seed))
	}
	return arms
}

// follow halves and quarters the rate and restores it each time.
func (p plan) follow(fabric *softroce.Lab, say func(string, ...any), law cc.Law) (f followed, err error) {
	f.Setup = lab.LawArm(law, p.Seed).Setup
	full, late := f.Setup.Mbit, followEpochs*f.Setup.Control.Epoch
	phases, err := lab.Follow(fabric, f.Setup, late+p.Measure, say, full, full/2, full, full/4, full)
	for _, ph := range phases {
		f.Phases = append(f.Phases, phase{ph, ph.From(late), ph.SettledAfter(2 * f.Setup.Control.TargetDrain)})
	}
	return f, err
}
