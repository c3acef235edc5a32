package cc

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfigFromEnv(t *testing.T) {
	for _, tc := range []struct {
		name    string
		environ []string
		want    func(c *Config)
	}{
		{"nothing set", []string{"PATH=/bin", "MC_ADAPTIVE=1", "mc_adaptive_cc_mode=on", "=C:=C:", "LONE"}, func(*Config) {}},
		{"all set", []string{
			envMode + "=enforce", envMinWindow + "=131072", envMaxWindow + "=8388608", envProbe + "=4096", envDrain + "=2000",
			envHigh + "=4", envLow + "=5", envThreshold + "=6", envCooldown + "=7000",
		}, func(c *Config) {
			c.Mode, c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = Enforce, 128*kib, 128*kib, 8*mib, 8*mib
			c.ProbeWindowBytes, c.SuspectWindowBytes = 4*kib, 4*kib
			c.TargetDrain, c.Cooldown = 2*time.Millisecond, 7*time.Second
			c.HighPressureEpochs, c.LowPressureEpochs, c.HardErrorThreshold = 4, 5, 6
		}},
		{"minimum above the default start", []string{envMinWindow + "=1048576"}, func(c *Config) {
			c.MinWindowBytes, c.StartWindowBytes = mib, mib
		}},
		{"maximum below the default start", []string{envMinWindow + "=4096", envMaxWindow + "=32768"}, func(c *Config) {
			c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = 4*kib, 4*kib, 4*kib
			c.MaxWindowBytes, c.StartWindowBytes, c.DeviceWindowBytes = 32*kib, 32*kib, 32*kib
		}},
		{"minimum below the default probe window", []string{envMinWindow + "=4096"}, func(c *Config) {
			c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = 4*kib, 4*kib, 4*kib
		}},
		{"cooldown above the default cap", []string{envCooldown + "=600000"}, func(c *Config) {
			c.Cooldown, c.CooldownCap = 10*time.Minute, 10*time.Minute
		}},
		{"limits", []string{envMinWindow + "=" + strconv.Itoa(MaxBytes), envMaxWindow + "=" + strconv.Itoa(MaxBytes), envThreshold + "=2147483647",
			envProbe + "=" + strconv.Itoa(MaxBytes), envDrain + "=3600000000", envCooldown + "=31536000000", envHigh + "=65535", envLow + "=65535"}, func(c *Config) {
			c.ProbeWindowBytes, c.SuspectWindowBytes = MaxBytes, MaxBytes
			c.TargetDrain, c.Cooldown, c.CooldownCap = time.Hour, maxDuration, maxDuration
			c.HighPressureEpochs, c.LowPressureEpochs = 65535, 65535
			c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = MaxBytes, MaxBytes, MaxBytes, MaxBytes
			c.HardErrorThreshold = 1<<31 - 1
		}},
		{"the least", []string{envMinWindow + "=1", envProbe + "=1", envDrain + "=1", envHigh + "=1", envLow + "=1", envThreshold + "=1", envCooldown + "=1"}, func(c *Config) {
			c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = 1, 1, 1
			c.TargetDrain, c.Cooldown = time.Microsecond, time.Millisecond
			c.HighPressureEpochs, c.LowPressureEpochs, c.HardErrorThreshold = 1, 1, 1
		}},
		{"among others", []string{"PATH=/bin", envHigh + "=4", "HOME=/root"}, func(c *Config) { c.HighPressureEpochs = 4 }},
		{"probe window as large as the minimum", []string{envProbe + "=65536"}, func(*Config) {}},
		{"same value twice", []string{envHigh + "=4", envHigh + "=4"}, func(c *Config) { c.HighPressureEpochs = 4 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ConfigFromEnv(tc.environ)
			require.NoError(t, err)
			want := DefaultConfig()
			tc.want(&want)
			assert.Equal(t, want, got)
			_, err = New(got)
			assert.NoError(t, err)
		})
	}
}

// Every fault names the variable, the value and the rule.
func TestConfigFromEnvFaults(t *testing.T) {
	const digits = "decimal digits"
	long := strings.Repeat("9", 1<<20)
	for _, tc := range []struct {
		name    string
		environ []string
		want    []string
	}{
		{"zero", []string{envHigh + "=0"}, []string{envHigh, `"0"`, "must be 1 to"}},
		{"negative", []string{envLow + "=-1"}, []string{envLow, `"-1"`, digits}},
		{"plus sign", []string{envThreshold + "=+3"}, []string{envThreshold, `"+3"`, digits}},
		{"suffix", []string{envMinWindow + "=64K"}, []string{envMinWindow, `"64K"`, digits}},
		{"unit", []string{envDrain + "=500us"}, []string{envDrain, `"500us"`, digits}},
		{"space", []string{envCooldown + "= 30000"}, []string{envCooldown, `" 30000"`, digits}},
		{"newline", []string{envCooldown + "=30000\n"}, []string{envCooldown, `"30000\n"`, digits}},
		{"underscore", []string{envMaxWindow + "=1_000_000"}, []string{envMaxWindow, digits}},
		{"hexadecimal", []string{envMaxWindow + "=0x100000"}, []string{envMaxWindow, digits}},
		{"fraction", []string{envDrain + "=0.5"}, []string{envDrain, digits}},
		{"other digits", []string{envHigh + "=٣"}, []string{envHigh, digits}},
		{"empty", []string{envProbe + "="}, []string{envProbe, `""`, digits}},
		{"no value", []string{envProbe}, []string{envProbe, `""`, digits}},
		{"overflow", []string{envMaxWindow + "=9223372036854775808"}, []string{envMaxWindow, "must be 1 to 2305843009213693951"}},
		{"above the largest window", []string{envMaxWindow + "=2305843009213693952"}, []string{envMaxWindow, "must be 1 to 2305843009213693951"}},
		{"minimum above the largest window", []string{envMinWindow + "=2305843009213693952"}, []string{envMinWindow, "must be 1 to 2305843009213693951"}},
		{"probe window above the largest window", []string{envProbe + "=2305843009213693952"}, []string{envProbe, "must be 1 to 2305843009213693951"}},
		{"a cooldown of more than a year", []string{envCooldown + "=31536000001"}, []string{envCooldown, "must be 1 to 31536000000"}},
		{"a drain time that overflows", []string{envDrain + "=9223372036854775807"}, []string{envDrain, "must be 1 to 31536000000000"}},
		{"a count that overflows", []string{envHigh + "=65536"}, []string{envHigh, "must be 1 to 65535"}},
		{"a long value", []string{envCooldown + "=" + long}, []string{envCooldown, "(1048576 bytes)", "must be 1 to"}},
		{"unknown mode", []string{envMode + "=Enforce"}, []string{envMode, `"Enforce"`, "must be off, observe or enforce"}},
		{"empty mode", []string{envMode + "="}, []string{envMode, `""`, "off, observe or enforce"}},
		{"unknown name", []string{"MC_ADAPTIVE_CC_COOLDOWN=30000"}, []string{"MC_ADAPTIVE_CC_COOLDOWN is", "no such setting", envCooldown}},
		{"a name that upsets a message", []string{"MC_ADAPTIVE_CC_A\nB=1"}, []string{`"MC_ADAPTIVE_CC_A\nB" is "1"`}},
		{"nothing but the prefix", []string{envPrefix + "=1"}, []string{envPrefix + " is", "no such setting"}},
		{"minimum above maximum", []string{envMinWindow + "=2000", envMaxWindow + "=1000"},
			[]string{envMinWindow + " is 2000", "must not be above " + envMaxWindow + " is 1000"}},
		{"minimum above the default maximum", []string{envMinWindow + "=67108865"},
			[]string{envMinWindow + " is 67108865", envMaxWindow + ", which is not set and defaults to 67108864"}},
		{"maximum below the default minimum", []string{envMaxWindow + "=65535"},
			[]string{envMinWindow + ", which is not set and defaults to 65536", envMaxWindow + " is 65535"}},
		{"probe window above the minimum", []string{envProbe + "=65537"},
			[]string{envProbe + " is 65537", envMinWindow + ", which is not set and defaults to 65536"}},
		{"set twice", []string{envHigh + "=1", envHigh + "=2"}, []string{envHigh, `"1"`, `"2"`, "once"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, err := ConfigFromEnv(tc.environ)
			require.Error(t, err)
			for _, part := range tc.want {
				assert.ErrorContains(t, err, part)
			}
			assert.Less(t, len(err.Error()), 1000, "length of the message")
			assert.Zero(t, cfg, "nothing is half set")
			_, err = New(cfg)
			assert.Error(t, err, "and no controller comes of it")
		})
	}
}

// All faults come at once.
func TestConfigFromEnvJoinsFaults(t *testing.T) {
	_, err := ConfigFromEnv([]string{envMode + "=on", envHigh + "=0", "MC_ADAPTIVE_CC_X=", envMinWindow + "=9", envMaxWindow + "=8", envProbe + "=70000"})
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "a joined error")
	assert.Len(t, joined.Unwrap(), 5, "%v", err)
}

// What is no number is compared with no other.
func TestConfigFromEnvNamesAFaultOnce(t *testing.T) {
	for _, environ := range [][]string{
		{envMinWindow + "=x", envMaxWindow + "=1000"}, {envMaxWindow + "=x", envMinWindow + "=67108865"},
		{envMinWindow + "=x", envProbe + "=70000"}, {envProbe + "=x", envMinWindow + "=4096"},
	} {
		_, err := ConfigFromEnv(environ)
		require.Error(t, err)
		assert.Len(t, strings.Split(err.Error(), "\n"), 1, "%v", err)
	}
}

func TestLongValueIsCut(t *testing.T) {
	name := strings.Repeat("v", 79) + "wxyz"
	for length, want := range map[int]string{79: `"` + name[:79] + `"`, 80: `"` + name[:80] + `"`, 81: `"` + name[:80] + `"... (81 bytes)`, 82: `"` + name[:80] + `"... (82 bytes)`} {
		assert.Equal(t, want, shown(name[:length]))
	}
}

// Whatever the environment holds, the result is a valid configuration in which each
// variable counts, or an error and nothing.
func FuzzConfigFromEnv(f *testing.F) {
	f.Add("enforce", "65536", "1048576", "4096", "500", "2", "3", "30000", "X")
	f.Add("observe", "1", "1", "1", "1", "1", "1", "1", "")
	f.Add("off", "-1", "+1", " 1", "1k", "99999999999999999999", "0", "", "MODE")
	f.Fuzz(func(t *testing.T, mode, least, most, probe, drain, epochs, threshold, cooldown, other string) {
		environ := []string{envMode + "=" + mode, envMinWindow + "=" + least, envMaxWindow + "=" + most, envProbe + "=" + probe,
			envDrain + "=" + drain, envHigh + "=" + epochs, envLow + "=" + epochs, envThreshold + "=" + threshold, envCooldown + "=" + cooldown}
		cfg, err := ConfigFromEnv(environ)
		reversed := slices.Clone(environ)
		slices.Reverse(reversed)
		again, errAgain := ConfigFromEnv(reversed)
		require.Equal(t, err == nil, errAgain == nil, "the order does not matter")
		if err != nil {
			require.Zero(t, cfg)
			return
		}
		require.Equal(t, cfg, again)
		require.NoError(t, cfg.Validate())
		number := func(text string) int64 {
			v, err := strconv.ParseUint(text, 10, 63)
			require.NoError(t, err, "%q was taken for a number", text)
			return int64(v)
		}
		require.Equal(t, mode, cfg.Mode.String())
		require.Equal(t, number(least), cfg.MinWindowBytes)
		require.Equal(t, number(most), cfg.MaxWindowBytes)
		require.Equal(t, number(probe), cfg.ProbeWindowBytes)
		require.Equal(t, number(drain), cfg.TargetDrain.Microseconds())
		require.Equal(t, number(epochs), int64(cfg.HighPressureEpochs))
		require.Equal(t, number(threshold), int64(cfg.HardErrorThreshold))
		require.Equal(t, number(cooldown), cfg.Cooldown.Milliseconds())

		environ = append(environ, envPrefix+other+"=x")
		_, err = ConfigFromEnv(environ)
		require.Error(t, err, "a name of its own, or a second value: %q", envPrefix+other)
	})
}

func TestAdvice(t *testing.T) {
	cfg := DefaultConfig()
	for _, tc := range []struct {
		name string
		with Surroundings
		want []string
	}{
		{"nothing known", Surroundings{}, nil},
		{"all is well", Surroundings{RetryTime: 10 * time.Second, FanIn: 64, BufferBytes: 64 * 64 * kib, RNRRetry: 6}, nil},
		{"retry time above the error window", Surroundings{RetryTime: 10*time.Second + 1}, []string{"ErrorWindow is 10s"}},
		{"fan-in into a buffer that is not known", Surroundings{FanIn: 64}, nil},
		{"a buffer without a fan-in", Surroundings{BufferBytes: 1}, nil},
		{"one sender", Surroundings{FanIn: 1, BufferBytes: 64*kib - 1}, []string{"use at most 65535"}},
		{"minimum windows overrun the buffer", Surroundings{FanIn: 64, BufferBytes: 64*64*kib - 1}, []string{"use at most 65535"}},
		{"fan-in above the buffer's bytes", Surroundings{FanIn: 64, BufferBytes: 1}, []string{"use at most 1"}},
		{"RNR for ever", Surroundings{RNRRetry: 7}, []string{"rnr_retry is 7"}},
		{"all at once", Surroundings{time.Hour, 1000, mib, 7}, []string{"ErrorWindow", "MinWindowBytes", "rnr_retry"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := cfg.Advice(tc.with)
			require.Len(t, got, len(tc.want), "%q", got)
			for i := range got {
				assert.Contains(t, got[i], tc.want[i])
			}
		})
	}
	assert.NoError(t, cfg.Validate(), "advice is no error")
}
