package taskstate

//go:generate go tool stringer -type=Guidance -linecomment

// Guidance is the advice that belongs to a [State]. The text is a name for
// programs and logs; [Guidance.Advice] says it in a sentence.
// Specification: task evidence table, caller guidance column.
type Guidance uint8

const (
	// Inspect belongs to [Unknown].
	Inspect Guidance = iota // inspect
	// HandleNormally belongs to [Normal].
	HandleNormally // handle normally
	// BackOff belongs to [Congested].
	BackOff // back off
	// TryElsewhere belongs to [LongUnavailable].
	TryElsewhere // try elsewhere
)

// Advice says in a sentence what to do, and what not to conclude.
func (g Guidance) Advice() string {
	switch g {
	case HandleNormally:
		return "nothing is amiss; carry on"
	case BackOff:
		return "keep the task, or retry it after a pause of your own; the peer is not down"
	case TryElsewhere:
		return "use another rail or transport; only when every path has failed may the control plane judge the node"
	default:
		return "look at the detail and use the error handling you have; this is neither congestion nor a dead peer"
	}
}
