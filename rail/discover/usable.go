package discover

import (
	"fmt"
	"strings"
)

// judge sets Usable and Why from the rest.
func (n *NIC) judge() {
	var active, reasons []string
	for _, p := range n.Ports {
		if p.State == PortActive {
			active = append(active, fmt.Sprintf("port %d is active", p.Number))
		}
	}
	if n.Uverbs == "" {
		reasons = append(reasons, "it has no uverbs node; load the ib_uverbs module")
	}
	switch {
	case len(n.Ports) == 0:
		reasons = append(reasons, "it has no port")
	case len(active) == 0:
		for _, p := range n.Ports {
			reasons = append(reasons, fmt.Sprintf("port %d is %s (physical state: %s)", p.Number, p.stateText(), p.PhysState))
		}
	}
	if len(reasons) > 0 {
		n.refuse(strings.Join(reasons, "; "))
		return
	}
	n.Usable, n.Why = true, strings.Join(append([]string{"it has " + n.Uverbs}, active...), ", ")
}

// refuse makes the NIC unusable for a reason, added to those it had.
func (n *NIC) refuse(reason string) {
	if !n.Usable && n.Why != "" {
		reason = n.Why + "; " + reason
	}
	n.Usable, n.Why = false, reason
}

// stateText is the port's state as the predicate of a sentence.
func (p Port) stateText() string {
	if p.State == PortUnknown {
		return "in an unknown state"
	}
	return p.State.String()
}
