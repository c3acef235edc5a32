package taskstate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
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

// MarshalJSON gives the detail as one object, always with the same keys. Times are
// nanoseconds. What was not observed is null.
func (d Detail) MarshalJSON() ([]byte, error) {
	return json.Marshal(detailJSON{
		State:           d.State,
		Guidance:        d.Guidance(),
		Attempt:         d.Attempt,
		Unresolved:      d.Unresolved,
		Reason:          d.Reason,
		Resolved:        d.Resolved,
		Scope:           d.Scope,
		Pair:            d.Pair,
		At:              convert(d.At, time.Duration.Nanoseconds),
		ObservedAttempt: d.ObservedAttempt,
		Generation:      d.Generation,
		Verdict:         convert(d.Verdict, verdictJSONOf),
		RootCause:       convert(d.RootCause, verdictJSONOf),
		Window:          d.Window,
		InFlight:        d.InFlight,
		Cooldown:        convert(d.Cooldown, time.Duration.Nanoseconds),
	})
}

type detailJSON struct {
	State           State                     `json:"state"`
	Guidance        Guidance                  `json:"guidance"`
	Attempt         uint32                    `json:"attempt"`
	Unresolved      uint32                    `json:"unresolved"`
	Reason          Observed[classify.Reason] `json:"reason"`
	Resolved        Observed[bool]            `json:"resolved"`
	Scope           Observed[classify.Scope]  `json:"scope"`
	Pair            Observed[rail.Pair]       `json:"pair"`
	At              Observed[int64]           `json:"at_ns"`
	ObservedAttempt Observed[uint32]          `json:"observed_attempt"`
	Generation      Observed[uint64]          `json:"generation"`
	Verdict         Observed[verdictJSON]     `json:"verdict"`
	RootCause       Observed[verdictJSON]     `json:"root_cause"`
	Window          Observed[int64]           `json:"window_bytes"`
	InFlight        Observed[int64]           `json:"in_flight_bytes"`
	Cooldown        Observed[int64]           `json:"cooldown_ns"`
}

type verdictJSON struct {
	Source    classify.Source `json:"source"`
	Class     classify.Class  `json:"class"`
	Scope     classify.Scope  `json:"scope"`
	Raw       uint32          `json:"raw"`
	VendorErr uint32          `json:"vendor_err"`
}

func verdictJSONOf(v classify.Verdict) verdictJSON {
	return verdictJSON{
		Source:    v.Source(),
		Class:     v.Class(),
		Scope:     v.Scope(),
		Raw:       v.Raw(),
		VendorErr: v.VendorErr(),
	}
}

// convert turns the value into another form of it, if it was observed.
func convert[T, U any](o Observed[T], form func(T) U) Observed[U] {
	if v, seen := o.Get(); seen {
		return Seen(form(v))
	}
	return Observed[U]{}
}
