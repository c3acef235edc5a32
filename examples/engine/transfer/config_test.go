package transfer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfigValidate(t *testing.T) {
	require.NoError(t, DefaultConfig().Validate())
	for _, tc := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no workers", func(c *Config) { c.Workers = 0 }, "Workers is 0, must be 1 to 256"},
		{"slices of no bytes", func(c *Config) { c.SliceBytes = 0 }, "SliceBytes is 0"},
		{"a slice above a work request", func(c *Config) { c.SliceBytes = 1<<30 + 1 }, "SliceBytes is 1073741825"},
		{"a post batch above the queue", func(c *Config) { c.PostBatch = 129 }, "PostBatch is 129, must be 1 to 128"},
		{"a timeout code of 0", func(c *Config) { c.AckTimeout = 0 }, "AckTimeout is 0"},
		{"a retry count of 8", func(c *Config) { c.Retry = 8 }, "Retry is 8"},
		{"no deadline", func(c *Config) { c.Deadline = 0 }, "Deadline is 0s, must be above 0"},
	} {
		c := DefaultConfig()
		tc.change(&c)
		assert.ErrorContains(t, c.Validate(), tc.want, tc.name)
	}
	err := Config{}.Validate()
	for _, field := range []string{"Workers", "QPsPerWorker", "SendDepth", "CQDepth", "PollBatch", "MaxAttempts", "Patience"} {
		assert.ErrorContains(t, err, field, "all faults must be reported at once")
	}
}
