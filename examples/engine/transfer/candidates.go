package transfer

import (
	"slices"

	"github.com/rdmagate/rdmagate/cc"
	prail "github.com/rdmagate/rdmagate/rail"
)

// candidates are the rails to a peer in the order in which one worker asks them, made
// anew for each round of offers. What admits nothing more leaves the list until the
// next round; those that are equally good take turns.
type candidates struct {
	peer    *Peer
	want    prail.Want
	list    []prail.Choice // best first
	lead    int            // how many at the front are equally good
	placed  int            // slices in this round
	outcome prail.Outcome
}

func newCandidates(p *Peer, turn int) candidates { return candidates{peer: p, want: p.want(turn)} }

// begin puts the rails in order for a round.
func (c *candidates) begin() {
	c.want.Turn += uint64(c.placed)
	c.placed = 0
	c.list, c.outcome = c.peer.paths.Select(c.list, c.want)
	c.lead = leading(c.list)
}

// next returns the place in the list of the rail to ask, which is another than avoid
// as long as there is one. The list must not be empty.
func (c *candidates) next(avoid *rail) (int, *rail) {
	k := c.placed % c.lead
	if c.rail(k) == avoid && len(c.list) > 1 {
		k = (k + 1) % max(c.lead, 2)
	}
	return k, c.rail(k)
}

func (c *candidates) rail(k int) *rail { return c.peer.byPath[c.list[k].Index] }

// pass takes a rail that admits nothing more off the list.
func (c *candidates) pass(k int) {
	c.list = slices.Delete(c.list, k, k+1)
	c.lead = leading(c.list)
}

// leading returns how many choices at the front are equally good, but for what is
// under way on them. The NUMA nodes of buffers are not known here.
func leading(list []prail.Choice) int {
	n := 0
	for n < len(list) && list[n].Standing == list[0].Standing && list[n].SameRail() == list[0].SameRail() {
		n++
	}
	return n
}

// want says what is known of the rails at any moment. While the controller refuses
// nothing, its opinion of them does not count either.
func (p *Peer) want(turn int) prail.Want {
	w := prail.Want{
		Turn:  uint64(turn),
		Bytes: int64(p.engine.cfg.SliceBytes),
		Load:  func(path *prail.Path) int64 { return p.byPath[path.Index].route.InFlight() },
	}
	if p.engine.ctl.Mode() == cc.Enforce {
		w.Standing = func(path *prail.Path) prail.Standing { return p.byPath[path.Index].route.State().Standing() }
	}
	return w
}
