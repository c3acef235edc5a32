package replay

import (
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// presets are the configurations that have a name.
var presets = map[string]func() cc.Config{
	"default": func() cc.Config {
		cfg := cc.DefaultConfig()
		cfg.Mode = cc.Enforce
		return cfg
	},
	// What the field scenarios are told with: small windows, the epoch law with a target of
	// 10 ms, no early suspicion.
	"field": func() cc.Config {
		cfg := cc.DefaultConfig()
		cfg.Mode = cc.Enforce
		cfg.MinWindowBytes, cfg.StartWindowBytes, cfg.MaxWindowBytes, cfg.DeviceWindowBytes = 64<<10, 1<<20, 4<<20, 4<<20
		cfg.Law, cfg.TargetDrain, cfg.LowPressureEpochs, cfg.SuspectAfter = cc.LawEpoch, 10*time.Millisecond, 2, 0
		return cfg
	},
}

// config returns the configuration of a worker by what was said so far.
func (w *world) config(k *worker) (cc.Config, error) {
	cfg := presets["default"]()
	for i := range w.settings {
		s := &w.settings[i]
		if s.Kind == scenario.Settings {
			cfg = presets[s.Text("name")]()
			continue
		}
		if of := s.Values("worker"); len(of) == 0 || of[0].ID() == k.name {
			configure(&cfg, s.Args)
		}
	}
	configure(&cfg, w.overrides)
	return cfg, cfg.Validate()
}

// configure sets the fields that arguments name.
func configure(cfg *cc.Config, args []scenario.Arg) {
	for _, a := range args {
		n, d := a.Num, time.Duration(a.Num)
		switch a.Param.Name {
		case "mode":
			cfg.Mode = cc.Mode(n)
		case "min_window_bytes":
			cfg.MinWindowBytes = n
		case "max_window_bytes":
			cfg.MaxWindowBytes = n
		case "start_window_bytes":
			cfg.StartWindowBytes = n
		case "device_window_bytes":
			cfg.DeviceWindowBytes = n
		case "probe_window_bytes":
			cfg.ProbeWindowBytes = n
		case "suspect_window_bytes":
			cfg.SuspectWindowBytes = n
		case "hard_error_threshold":
			cfg.HardErrorThreshold = int(n)
		case "error_window":
			cfg.ErrorWindow = d
		case "cooldown":
			cfg.Cooldown = d
		case "cooldown_cap":
			cfg.CooldownCap = d
		case "probe_interval":
			cfg.ProbeInterval = d
		case "law":
			cfg.Law = cc.Law(n)
		case "epoch":
			cfg.Epoch = d
		case "target_drain":
			cfg.TargetDrain = d
		case "high_pressure_epochs":
			cfg.HighPressureEpochs = int(n)
		case "low_pressure_epochs":
			cfg.LowPressureEpochs = int(n)
		case "device_min_window_bytes":
			cfg.DeviceMinWindowBytes = n
		case "suspect_after":
			cfg.SuspectAfter = d
		case "stall_gap":
			cfg.StallGap = d
		case "prober":
			cfg.Prober = n != 0
		case "keep_last_route":
			cfg.KeepLastRoute = n != 0
		}
	}
}
