package taskstate

//go:generate go tool stringer -type=Effect -linecomment

// Effect is what a call did to a task.
type Effect uint8

const (
	// Nothing: there is no task, or the call said nothing about one.
	Nothing Effect = iota // nothing to record
	// Recorded: the evidence or the success is part of the task's state.
	Recorded // recorded
	// Outranked: the slice is troubled by something worse, which stays in force.
	Outranked // outranked by worse evidence of the slice
	// OldAttempt: the task has begun a newer attempt since this slice was admitted
	// or refused. The call changed nothing.
	OldAttempt // ignored: older attempt of the task
	// OldGeneration: the evidence names another generation than the one the slice
	// was admitted on. The call changed nothing.
	OldGeneration // ignored: other generation than the slice was admitted on
	// NotAdmitted: the slice has no attempt that could have ended. The call
	// changed nothing.
	NotAdmitted // ignored: slice has no open attempt
	// AlreadySucceeded: the slice's attempt has ended in a late success, which
	// its deadline cannot take back. The call changed nothing.
	AlreadySucceeded // ignored: attempt has already succeeded
)

// Ignored reports whether the call came too late, or for something else, and was
// left out so that it cannot spoil the task's present attempt.
func (e Effect) Ignored() bool { return e >= OldAttempt }
