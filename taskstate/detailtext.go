package taskstate

import (
	"encoding/json"
	"fmt"
)

// String is the detail as one line for a log. Every field is there, and what was
// not observed says so.
func (d Detail) String() string {
	return fmt.Sprintf("%s (%s): attempt %d, unresolved %d, reason %s, resolved %s, scope %s, pair %s, "+
		"at %s, observed in attempt %s, generation %s, verdict [%s], root cause [%s], "+
		"window bytes %s, in-flight bytes %s, cooldown %s",
		d.State, d.Guidance(), d.Attempt, d.Unresolved, d.Reason, d.Resolved, d.Scope, d.Pair,
		d.At, d.ObservedAttempt, d.Generation, d.Verdict, d.RootCause,
		d.Window, d.InFlight, d.Cooldown)
}

// MarshalJSON gives the detail as one object, always with the same keys, and with the
// guidance, which follows from the state. Times are nanoseconds. What was not observed
// is null.
func (d Detail) MarshalJSON() ([]byte, error) {
	type fields Detail
	return json.Marshal(struct {
		State    State    `json:"state"`
		Guidance Guidance `json:"guidance"`
		fields
	}{d.State, d.Guidance(), fields(d)})
}
