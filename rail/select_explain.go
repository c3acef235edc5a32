package rail

import (
	"fmt"
	"strings"
)

// Explanation is the place of one pair in a choice, and why it has it.
type Explanation struct {
	*Path
	// Rank counts from 1, the best; 0 is an excluded pair.
	Rank int
	// Standing is what the caller said. An excluded pair is not asked for.
	Standing Standing
	// Why gives the reasons in words. It may hold what a NIC's Unusable holds.
	Why string
}

// Explain returns every pair: those that [Map.Select] lists, in its order, and the
// excluded ones after them. It is meant for people.
func (m *Map) Explain(w Want) []Explanation {
	chosen, _ := m.Select(nil, w)
	all := make([]Explanation, 0, len(m.paths))
	for i, c := range chosen {
		all = append(all, Explanation{Path: c.Path, Rank: i + 1, Standing: c.Standing, Why: c.why(w)})
	}
	for i := range m.paths {
		if p := &m.paths[i]; p.Excluded != Allowed {
			all = append(all, Explanation{Path: p, Why: p.Why})
		}
	}
	return all
}

func (c *Choice) why(w Want) string {
	reasons := []string{c.Match.String()}
	if c.Match == SameSubnet {
		reasons[0] += " " + c.Subnet.String()
	}
	if c.Standing != Healthy {
		reasons = append(reasons, c.Standing.String())
	}
	reasons = append(reasons, nodeReason("local", c.localNode, w.Local)...)
	reasons = append(reasons, nodeReason("remote", c.remoteNode, w.Remote)...)
	if c.Load > 0 {
		reasons = append(reasons, fmt.Sprintf("%d bytes under way", c.Load))
	}
	return strings.Join(reasons, "; ")
}

// nodeReason says how a NIC is placed to its buffer, if anybody knows where that is.
func nodeReason(side string, nic, buffer Node) []string {
	if !buffer.Known {
		return nil
	}
	return []string{fmt.Sprintf("%s NUMA node %v, buffer on %v", side, nic, buffer)}
}
