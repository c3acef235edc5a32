package softroce

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConfigValidate(t *testing.T) {
	good := Config{Agent: "/bin/agent"}
	tests := []struct {
		name string
		edit func(*Config)
		want []string // parts of the error; none means valid
	}{
		{"defaults", func(*Config) {}, nil},
		{"most NICs", func(c *Config) { c.NICs = MaxNICs }, nil},
		{"too many NICs", func(c *Config) { c.NICs = MaxNICs + 1 }, []string{"17 NICs", "1 to 16"}},
		{"negative NICs", func(c *Config) { c.NICs = -1 }, []string{"-1 NICs"}},
		{"little memory", func(c *Config) { c.MemoryMiB = 100 }, []string{"100 MiB", "at least 512"}},
		{"many processors", func(c *Config) { c.CPUs = 65 }, []string{"65 processors"}},
		{"negative tries", func(c *Config) { c.Tries = -1 }, []string{"-1 tries", "at least 1"}},
		{"negative limit", func(c *Config) { c.TimeLimit = -1 }, []string{"positive"}},
		{"relative agent", func(c *Config) { c.Agent = "guestexec" }, []string{`"guestexec"`, "absolute"}},
		{"quote in the agent", func(c *Config) { c.Agent = `/tmp/a"b` }, []string{"without quotes"}},
		{"relative share", func(c *Config) { c.Share = "out" }, []string{`"out"`, "absolute"}},
		{"comma in the share", func(c *Config) { c.Share = "/tmp/a,b" }, []string{"without commas"}},
		{"two faults", func(c *Config) { c.NICs, c.CPUs = -1, -2 }, []string{"-1 NICs", "-2 processors"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := good
			tt.edit(&c)
			err := c.Validate()
			if tt.want == nil {
				assert.NoError(t, err)
			}
			for _, part := range tt.want {
				assert.ErrorContains(t, err, part, "the error names the value and the rule")
			}
		})
	}
}
