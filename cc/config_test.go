package cc

import (
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDefaultConfig(t *testing.T) {
	c := DefaultConfig()
	require.NoError(t, c.Validate())
	assert.Equal(t, Config{
		Mode:           Off,
		MinWindowBytes: 65_536, StartWindowBytes: 65_536, MaxWindowBytes: 67_108_864,
		DeviceWindowBytes: 67_108_864,
		ProbeWindowBytes:  65_536, SuspectWindowBytes: 65_536, HardErrorThreshold: 3,
		ErrorWindow: 10 * time.Second, Cooldown: 30 * time.Second, CooldownCap: 5 * time.Minute, ProbeInterval: time.Second,
		Law: LawRound, Epoch: 100 * time.Millisecond, TargetDrain: 100 * time.Microsecond, HighPressureEpochs: 2, LowPressureEpochs: 3,
		SuspectAfter: 50 * time.Millisecond, StallGap: time.Second,
	}, c)
}

func TestConfigFaults(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		faults []string // one for each line of the error
	}{
		{"mode", func(c *Config) { c.Mode = 3 }, []string{"Mode is 3"}},
		{"zero value", func(c *Config) { *c = Config{} }, []string{
			"MinWindowBytes is 0", "StartWindowBytes is 0", "MaxWindowBytes is 0", "DeviceWindowBytes is 0", "ProbeWindowBytes is 0", "HardErrorThreshold is 0",
			"ErrorWindow is 0s", "Cooldown is 0s", "CooldownCap is 0s", "ProbeInterval is 0s",
			"Epoch is 0s", "TargetDrain is 0s", "StallGap is 0s", "HighPressureEpochs is 0", "LowPressureEpochs is 0",
		}},
		{"probe window above minimum", func(c *Config) { c.MinWindowBytes = c.ProbeWindowBytes - 1 }, []string{"ProbeWindowBytes is 65536, must not be above MinWindowBytes, which is 65535"}},
		{"negative suspect window", func(c *Config) { c.SuspectWindowBytes = -1 }, []string{"SuspectWindowBytes is -1, must be 0 (no limit)"}},
		{"no suspect window", func(c *Config) { c.SuspectWindowBytes = 0 }, nil},
		{"threshold", func(c *Config) { c.HardErrorThreshold = -2 }, []string{"HardErrorThreshold is -2"}},
		{"cooldown above its cap", func(c *Config) { c.Cooldown = c.CooldownCap + 1 }, []string{"must not be above CooldownCap"}},
		{"endless cooldown", func(c *Config) { c.CooldownCap = 1<<63 - 1 }, []string{"CooldownCap is"}},
		{"shortest times", func(c *Config) { c.ErrorWindow, c.Cooldown, c.CooldownCap, c.ProbeInterval = 1, 1, 1, 1 }, nil},
		{"a year", func(c *Config) {
			c.ErrorWindow, c.Cooldown, c.CooldownCap, c.ProbeInterval = maxDuration, maxDuration, maxDuration, maxDuration
		}, nil},
		{"more than a year", func(c *Config) { c.ErrorWindow = maxDuration + 1 }, []string{"ErrorWindow is 8760h0m0.000000001s, must be above 0 and at most 8760h0m0s"}},
		{"negative", func(c *Config) { c.MinWindowBytes = -1 }, []string{"MinWindowBytes is -1"}},
		{"too large", func(c *Config) { c.DeviceWindowBytes = MaxBytes + 1 }, []string{"DeviceWindowBytes is 2305843009213693952, must be 1 to 2305843009213693951 bytes"}},
		// A window that is none is compared with no other.
		{"huge minimum", func(c *Config) { c.MinWindowBytes = MaxBytes + 1 }, []string{"MinWindowBytes is 2305843009213693952, must be 1 to"}},
		{"huge start", func(c *Config) { c.StartWindowBytes = MaxBytes + 1 }, []string{"StartWindowBytes is 2305843009213693952, must be 1 to"}},
		{"negative start", func(c *Config) { c.StartWindowBytes = -1 }, []string{"StartWindowBytes is -1, must be 1 to"}},
		{"negative maximum", func(c *Config) { c.MaxWindowBytes = -1 }, []string{"MaxWindowBytes is -1, must be 1 to"}},
		{"negative device window", func(c *Config) { c.DeviceWindowBytes = -1 }, []string{"DeviceWindowBytes is -1, must be 1 to"}},
		{"huge suspect window", func(c *Config) { c.SuspectWindowBytes = MaxBytes + 1 }, []string{"SuspectWindowBytes is 2305843009213693952, must be 0 (no limit) to 2305843009213693951 bytes"}},
		{"largest suspect window", func(c *Config) { c.SuspectWindowBytes = MaxBytes }, nil},
		{"minimum above maximum", func(c *Config) {
			c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes, c.ProbeWindowBytes = 3, 3, 2, 1
		}, []string{"MinWindowBytes is 3, must not be above MaxWindowBytes, which is 2", "StartWindowBytes is 3"}},
		{"minimum above start", func(c *Config) { c.MinWindowBytes = c.StartWindowBytes + 1 }, []string{"must not be above StartWindowBytes"}},
		{"start above device", func(c *Config) { c.DeviceWindowBytes = c.StartWindowBytes - 1 }, []string{"must not be above DeviceWindowBytes"}},
		{"equal windows are fine", func(c *Config) {
			c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes, c.ProbeWindowBytes = 1, 1, 1, 1, 1
		}, nil},
		{"law", func(c *Config) { c.Law = 2 }, []string{"Law is 2; use LawEpoch or LawRound"}},
		{"short epoch", func(c *Config) { c.Epoch = time.Microsecond }, []string{"Epoch is 1µs, must be 1ms to"}},
		{"no target", func(c *Config) { c.TargetDrain = 0 }, []string{"TargetDrain is 0s, must be 1µs to"}},
		{"negative stall gap", func(c *Config) { c.StallGap = -1 }, []string{"StallGap is -1ns"}},
		{"epochs in a row", func(c *Config) { c.HighPressureEpochs, c.LowPressureEpochs = 0, 65536 }, []string{"HighPressureEpochs is 0, must be 1 to 65535", "LowPressureEpochs is 65536"}},
		{"negative suspicion", func(c *Config) { c.SuspectAfter = -1 }, []string{"SuspectAfter is -1ns, must be 0 (off)"}},
		{"no early suspicion", func(c *Config) { c.SuspectAfter = 0 }, nil},
		{"negative least device window", func(c *Config) { c.DeviceMinWindowBytes = -1 }, []string{"DeviceMinWindowBytes is -1, must be 0 (StartWindowBytes)"}},
		{"least device window above device window", func(c *Config) { c.DeviceMinWindowBytes = c.DeviceWindowBytes + 1 }, []string{"DeviceMinWindowBytes is 67108865, must not be above DeviceWindowBytes"}},
		{"huge least device window", func(c *Config) { c.DeviceMinWindowBytes = MaxBytes + 1 }, []string{"DeviceMinWindowBytes is 2305843009213693952, must be 0 (StartWindowBytes) to 2305843009213693951 bytes"}},
		{"largest least device window", func(c *Config) { c.DeviceWindowBytes, c.DeviceMinWindowBytes = MaxBytes, MaxBytes }, nil},
		{"least window of a device that has none", func(c *Config) { c.DeviceWindowBytes, c.DeviceMinWindowBytes = -1, 1 }, []string{"DeviceWindowBytes is -1", "DeviceMinWindowBytes is 1, must not be above DeviceWindowBytes, which is -1"}},
		{"shortest times of the law", func(c *Config) {
			c.Epoch, c.TargetDrain, c.StallGap, c.SuspectAfter = time.Millisecond, time.Microsecond, time.Microsecond, 1
		}, nil},
		{"a year for the law", func(c *Config) {
			c.Epoch, c.TargetDrain, c.StallGap, c.SuspectAfter = maxDuration, maxDuration, maxDuration, maxDuration
		}, nil},
		{"more than a year for the law", func(c *Config) { c.Epoch, c.SuspectAfter = maxDuration+1, maxDuration+1 }, []string{
			"Epoch is 8760h0m0.000000001s, must be 1ms to 8760h0m0s", "SuspectAfter is 8760h0m0.000000001s, must be 0 (off) to 8760h0m0s"}},
		{"largest", func(c *Config) { c.DeviceWindowBytes, c.MaxWindowBytes = MaxBytes, MaxBytes }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := DefaultConfig()
			tt.change(&c)
			ctl, err := New(c)
			if tt.faults == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Nil(t, ctl, "a faulty configuration makes no controller")
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(tt.faults), "every fault is named: %s", err)
			for i, fault := range tt.faults {
				assert.Contains(t, lines[i], fault)
			}
		})
	}
}

func TestRouteOfBadPair(t *testing.T) {
	r := newRig(t, Enforce)
	for name, p := range map[string]rail.Pair{
		"no names":  {},
		"huge name": {Peer: strings.Repeat("x", 1<<20), Local: "D1", Port: 1, Remote: "n1"},
		"port zero": {Peer: "P", Local: "D1", Remote: "n1"},
		"no remote": {Peer: "P", Local: "D1", Port: 1},
	} {
		_, err := r.ctl.Route(p)
		require.Error(t, err, name)
		assert.Less(t, len(err.Error()), 1000, "an error does not repeat a huge name")
	}
	assert.Empty(t, r.ctl.Snapshot().Routes, "nothing was made")
}

// Names are opaque and compared whole.
func TestRouteNames(t *testing.T) {
	r := newRig(t, Enforce)
	seen := map[*Route]string{}
	for _, local := range []string{"mlx5_1", "mlx5_10", "mlx5_bond_0", "rocep3s0f0", "ibp0s12f4", "rxe0", "siw0", "erdma_0", "irdma0", "bnxt_re0", "hns_0", "rdma5", "a@b", "a:1", "a b"} {
		for _, peer := range []string{"P", "P:1", "P@"} {
			route := r.route(local, peer, "mlx5_0")
			require.Empty(t, seen[route], "%s is a route of its own", route.Pair())
			seen[route] = local
			assert.Same(t, route, r.route(local, peer, "mlx5_0"), "one route for one pair")
		}
	}
}
