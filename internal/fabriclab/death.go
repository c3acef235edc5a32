package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// fault is a way in which the first of two rails dies.
type fault struct {
	name, text string
	peer       bool // the peer's NIC; else the sender's own
	notice     fabric.Notice
}

var (
	peerFault = fault{"peer", "the peer's NIC goes black, of which no event tells", true, fabric.Notice{Lost: true}}
	portFault = fault{"port", "the link of the sender's NIC goes down, with its port event", false, fabric.Notice{}}
	lateFault = fault{"port-late", "the link of the sender's NIC goes down; its port event comes 50 ms late", false, fabric.Notice{Late: 50 * time.Millisecond}}
	lostFault = fault{"port-lost", "the link of the sender's NIC goes down; its port event is lost", false, fabric.Notice{Lost: true}}
)

const twoRailsText = "Two rails through one switch of 4 MiB, 10 Gb/s, 1 us a hop. A host writes to two others without end, in slices of 64 KiB, over both rails in turn. "

// twoRails is a bed where a host writes to two others over two rails.
type twoRails struct {
	*Bed
	flow  *Flow  // to the peer of the fault
	dying *route // its first
}

func newTwoRails(seed uint64, arm Arm, rate int64, light bool) (*twoRails, error) {
	b, err := newBed(seed, arm, fabric.Config{
		Topology: fabric.Star(6), NICs: 2, Link: fabric.LinkConfig{Rate: rate}, Switch: fabric.SwitchConfig{Buffer: 4 << 20},
	}, DefaultSettings())
	if err != nil {
		return nil, err
	}
	t := &twoRails{Bed: b, flow: b.Flow(1, 0, fabric.Write)}
	other := b.Flow(1, 2, fabric.Write)
	for _, f := range []*Flow{t.flow, other} {
		begin := func() { f.Stream(slice64) }
		if light && f == t.flow {
			begin = t.trickle
		}
		b.Sim.At(time.Duration(1+b.random.Int64N(int64(10*time.Microsecond))), begin)
	}
	if b.err != nil {
		return nil, b.err
	}
	t.dying = t.flow.routes[0]
	return t, nil
}

// trickle hands over a slice for the peer of the fault now and then.
func (t *twoRails) trickle() {
	if !t.ending {
		t.flow.Transfer(slice64, slice64, nil)
		t.Sim.After(10*time.Millisecond+time.Duration(t.random.Int64N(int64(20*time.Millisecond))), t.trickle)
	}
}

// die has the fault happen now, mend ends it.
func (t *twoRails) die(f fault) {
	if !f.peer {
		t.Sim.NIC(1, 0).Link().Down(f.notice)
		return
	}
	t.blackhole(true)
}

func (t *twoRails) mend(f fault) {
	if !f.peer {
		t.Sim.NIC(1, 0).Link().Up(f.notice)
		return
	}
	t.blackhole(false)
}

func (t *twoRails) blackhole(on bool) {
	link := t.Sim.NIC(0, 0).Link()
	link.A.Blackhole(on)
	link.B.Blackhole(on)
}

// deaths: a rail dies while there is another one. Where traffic is light a window does
// not soon fill, so that it alone does not stop what goes into the dead path.
func deaths() (all []Experiment) {
	for _, c := range []struct {
		fault
		light bool
	}{{peerFault, false}, {peerFault, true}, {portFault, true}, {lateFault, false}, {lateFault, true}, {lostFault, false}, {lostFault, true}} {
		name, traffic := c.name, twoRailsText
		if c.light {
			name += "-light"
			traffic += "To the peer of the fault it is only a slice each 10 to 30 ms. "
		}
		all = append(all, Experiment{
			Name:  "death/" + name,
			Setup: fmt.Sprintf("%sAfter 200 to 300 ms %s. QPs give up after 0.54 s; what they lose is sent again on the other rail. Watched for %v.", traffic, c.text, deathLength),
			Figures: []Figure{
				{"last new slice into it after", "ms", atMost(100)},
				{"lost slices", "", Goal{}},
				{"goodput to the peer, then", "% of before", Goal{}},
			},
			Run: func(seed uint64, arm Arm) (Outcome, error) { return death(seed, arm, c.fault, c.light, deathLength) },
		})
	}
	return all
}

// deathLength is how long a dead path is watched.
const deathLength = 2500 * time.Millisecond

func death(seed uint64, arm Arm, f fault, light bool, length time.Duration) (Outcome, error) {
	out := newOutcome()
	t, err := newTwoRails(seed, arm, 10e9, light)
	if err != nil {
		return out, err
	}
	every := 5 * time.Millisecond
	rate := t.watchRate("goodput to the peer", every, t.flow)
	window := t.watchWindow("window of the dying route", every, t.flow)
	at := 200*time.Millisecond + time.Duration(t.random.Int64N(int64(100*time.Millisecond)))
	t.Sim.Run(at)
	t.die(f)
	t.Sim.Run(at + length)
	out.Values["last new slice into it after"] = millis(max(0, t.dying.lastPost-at))
	out.Values["lost slices"] = float64(t.failures)
	out.Values["goodput to the peer, then"] = 100 * rate.mean(at, at+length) / rate.mean(100*time.Millisecond, at)
	out.Series = []*Series{rate, window}
	out.Marks = []Mark{{at, "death"}}
	out.Moves = t.moves
	return out, t.Finish()
}
