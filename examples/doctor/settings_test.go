package main

import (
	"testing"

	"github.com/rdmagate/rdmagate/cc"
)

func TestSettings(t *testing.T) {
	runExamples(t, checkSettings, []example{
		{name: "none"},
		{
			name: "two faults",
			with: func(h *host) {
				_, h.configErr = cc.ConfigFromEnv([]string{"MC_ADAPTIVE_CC_MODE=loud", "MC_ADAPTIVE_CC_COOLDOWN_MS=-1"})
			},
			want: []string{"FAULT: MC_ADAPTIVE_CC_", "FAULT: MC_ADAPTIVE_CC_"},
		},
	})
}
