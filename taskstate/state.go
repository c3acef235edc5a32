package taskstate

//go:generate go tool stringer -type=State -linecomment

// State is the minimal answer about a task. Specification: task evidence table.
type State uint8

const (
	// Unknown says that nothing is known, or that something failed in a way that
	// says nothing about a path. It is the zero value: the state of a new task, of
	// a nil one, of one whose controller is off or whose transport gives no evidence.
	Unknown State = iota // UNKNOWN
	// Normal says that a transfer of this attempt succeeded and no anomaly is open.
	Normal // NORMAL
	// Congested says that something of the task waits or was slow, and that the
	// path is believed to work.
	Congested // CONGESTED
	// LongUnavailable says that a path the task wants stayed unavailable, through
	// quarantine or a failed recovery. It proves no damage to a NIC or a peer.
	LongUnavailable // LONG_UNAVAILABLE
)

// Guidance is what the caller should do about a task in this state.
func (s State) Guidance() Guidance {
	switch s {
	case Normal:
		return HandleNormally
	case Congested:
		return BackOff
	case LongUnavailable:
		return TryElsewhere
	default:
		return Inspect
	}
}
