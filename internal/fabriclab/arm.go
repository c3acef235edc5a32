package fabriclab

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// Arm is a way to decide what may be posted.
type Arm struct {
	// Name is what [ParseArm] reads.
	Name string
	// Config is that of the controller; nil for arms without.
	Config *cc.Config

	plain func() control
}

// build makes the control of an engine.
func (a Arm) build(e *Engine) (control, error) {
	if a.Config == nil {
		return a.plain(), nil
	}
	return newGate(e, *a.Config, rand.New(rand.NewPCG(e.random.Uint64(), 1)))
}

// DefaultArms are those that are compared if no others are named.
func DefaultArms() []string {
	return []string{"none", "static", "aimd", "epoch,start=256KiB,target=500us", "epoch", "round"}
}

// None is the arm that the others are compared to.
func None() Arm { return Arm{Name: "none", plain: func() control { return unlimited{} }} }

// ParseArm reads an arm's name:
//
//	none      no control: send queues are the limit
//	static    a window of one bandwidth-delay product, and one slice, for each route
//	aimd      a window for each device: 64 MiB, 4 KiB more for each slice that was
//	          delivered up to 256 MiB, half of it for each that failed
//	epoch     rdmagate's controller with that law, enforcing, with a prober
//	round     the same with the law that is the default
//
// The last two take settings, such as "round,start=64KiB,target=100us": min, start, max,
// device, devicemin, probe and suspect are windows, target, epoch and silence are times,
// high and low are counts of epochs.
func ParseArm(name string) (Arm, error) {
	kind, settings, _ := strings.Cut(name, ",")
	a := Arm{Name: name}
	switch kind {
	case "none":
		a = None()
	case "static":
		a.plain = func() control { return static{} }
	case "aimd":
		a.plain = func() control { return newAIMD() }
	case "epoch", "round":
		cfg := cc.DefaultConfig()
		cfg.Mode, cfg.Prober = cc.Enforce, true
		if cfg.Law = cc.LawEpoch; kind == "round" {
			cfg.Law = cc.LawRound
		}
		a.Config = &cfg
	default:
		return Arm{}, fmt.Errorf("arm %q: it begins with none, static, aimd, epoch or round", name)
	}
	if settings == "" {
		return a, nil
	}
	if a.Config == nil {
		return Arm{}, fmt.Errorf("arm %q: %s has no settings", name, kind)
	}
	for _, s := range strings.Split(settings, ",") {
		if err := set(a.Config, s); err != nil {
			return Arm{}, fmt.Errorf("arm %q: %w", name, err)
		}
	}
	if err := a.Config.Validate(); err != nil {
		return Arm{}, fmt.Errorf("arm %q: %w", name, err)
	}
	return a, nil
}

// set carries out one setting of an arm.
func set(cfg *cc.Config, setting string) (err error) {
	key, value, _ := strings.Cut(setting, "=")
	windows := map[string]*int64{
		"min": &cfg.MinWindowBytes, "start": &cfg.StartWindowBytes, "max": &cfg.MaxWindowBytes,
		"device": &cfg.DeviceWindowBytes, "devicemin": &cfg.DeviceMinWindowBytes,
		"probe": &cfg.ProbeWindowBytes, "suspect": &cfg.SuspectWindowBytes,
	}
	times := map[string]*time.Duration{"target": &cfg.TargetDrain, "epoch": &cfg.Epoch, "silence": &cfg.SuspectAfter}
	counts := map[string]*int{"high": &cfg.HighPressureEpochs, "low": &cfg.LowPressureEpochs}
	switch {
	case windows[key] != nil:
		*windows[key], err = parseBytes(value)
	case times[key] != nil:
		*times[key], err = time.ParseDuration(value)
	case counts[key] != nil:
		*counts[key], err = strconv.Atoi(value)
	default:
		return fmt.Errorf("there is no setting %q", key)
	}
	if err != nil {
		return fmt.Errorf("setting %q: %w", setting, err)
	}
	return nil
}

// parseBytes reads a number of bytes such as 64KiB, 1MiB or 4096.
func parseBytes(text string) (int64, error) {
	factor := int64(1)
	for unit, f := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if n, found := strings.CutSuffix(text, unit); found {
			text, factor = n, f
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n * factor, err
}
