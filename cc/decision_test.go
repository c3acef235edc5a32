package cc

import (
	"errors"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
)

func TestDecisionString(t *testing.T) {
	for want, d := range map[string]Decision{
		"boom":                                      {Err: errors.New("boom")},
		"admit, use 7":                              {Ruling: Ruling{Answer: Admit}, Use: 7},
		"defer, BYTE_WINDOW of the device":          {Ruling: Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: DeviceDomain}},
		"avoid, PATH_QUARANTINED, renew":            {Ruling: Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined, Hint: NeedRenew}},
		"avoid, PATH_QUARANTINED, ask again in 24s": {Ruling: Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined}, RetryAfter: 24 * time.Second},
	} {
		assert.Equal(t, want, d.String())
	}
}

func TestStateStanding(t *testing.T) {
	for state, want := range map[State]rail.Standing{
		Healthy: rail.Healthy, Congested: rail.Healthy, Suspect: rail.Suspect, Quarantined: rail.Paused, Probing: rail.Paused,
	} {
		assert.Equal(t, want, state.Standing(), state.String())
	}
}
