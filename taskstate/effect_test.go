package taskstate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/taskstate"
)

func TestEffectIgnored(t *testing.T) {
	for effect, ignored := range map[taskstate.Effect]bool{
		taskstate.Nothing:          false,
		taskstate.Recorded:         false,
		taskstate.Outranked:        false,
		taskstate.OldAttempt:       true,
		taskstate.OldGeneration:    true,
		taskstate.NotAdmitted:      true,
		taskstate.AlreadySucceeded: true,
	} {
		assert.Equal(t, ignored, effect.Ignored(), "%s: was the call too late, or for something else?", effect)
	}
}
