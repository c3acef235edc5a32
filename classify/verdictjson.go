package classify

import (
	"encoding/json"
	"fmt"
)

// verdictJSON is a verdict in JSON.
type verdictJSON struct {
	Source    Source `json:"source"`
	Signal    Signal `json:"signal,omitzero"`
	Class     Class  `json:"class"`
	Scope     Scope  `json:"scope"`
	Raw       uint32 `json:"raw"`
	VendorErr uint32 `json:"vendor_err"`
}

// MarshalJSON gives the verdict as one object: source, class and scope by name, the
// raw number and vendor_err, and for a signal its name.
func (v Verdict) MarshalJSON() ([]byte, error) {
	return json.Marshal(verdictJSON{v.Source(), v.signal(), v.Class(), v.Scope(), v.raw, v.vendorErr})
}

// UnmarshalJSON reads what MarshalJSON wrote. It classifies the observation again:
// class and scope follow from it, and are not read.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	var in struct {
		Source    Source `json:"source"`
		Signal    Signal `json:"signal"`
		Raw       uint32 `json:"raw"`
		VendorErr uint32 `json:"vendor_err"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("classify: verdict: %w", err)
	}
	switch in.Source {
	case SourceCompletion:
		*v = Completion(Status(in.Raw), in.VendorErr)
	case SourceAsyncEvent:
		*v = AsyncEvent(EventType(in.Raw))
	case SourceCMEvent:
		*v = CMEvent(CMEventType(in.Raw))
	case SourceSignal:
		if *v = Of(in.Signal); in.Signal == SignalRejectedPost {
			*v = RejectedPost(in.Raw)
		}
	default:
		*v = Verdict{}
	}
	return nil
}

// signal returns the signal that was classified, 0 if it was something else.
func (v Verdict) signal() Signal {
	switch {
	case v.Source() != SourceSignal:
		return 0
	case v.row == matrices.signals[SignalRejectedPost]:
		return SignalRejectedPost // the raw number is the errno
	}
	return Signal(v.raw)
}
