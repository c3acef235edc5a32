package cc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// envPrefix begins the names of all settings. A name that begins with it and is
// none of them is a fault: most likely it is misspelt.
const envPrefix = "MC_ADAPTIVE_CC_"

// Settings by the rest of their names.
const (
	envMode      = envPrefix + "MODE"
	envMinWindow = envPrefix + "MIN_WINDOW_BYTES"
	envMaxWindow = envPrefix + "MAX_WINDOW_BYTES"
	envProbe     = envPrefix + "PROBE_WINDOW_BYTES"
	envDrain     = envPrefix + "TARGET_DRAIN_US"
	envHigh      = envPrefix + "HIGH_PRESSURE_EPOCHS"
	envLow       = envPrefix + "LOW_PRESSURE_EPOCHS"
	envThreshold = envPrefix + "HARD_ERROR_THRESHOLD"
	envCooldown  = envPrefix + "COOLDOWN_MS"
)

// ConfigFromEnv returns [DefaultConfig] with what the environment sets. environ is
// a list of NAME=value as [os.Environ] returns it; names that do not begin with
// MC_ADAPTIVE_CC_ are passed over.
//
//	MC_ADAPTIVE_CC_MODE                  off, observe or enforce
//	MC_ADAPTIVE_CC_MIN_WINDOW_BYTES      MinWindowBytes
//	MC_ADAPTIVE_CC_MAX_WINDOW_BYTES      MaxWindowBytes and DeviceWindowBytes
//	MC_ADAPTIVE_CC_PROBE_WINDOW_BYTES    ProbeWindowBytes and SuspectWindowBytes
//	MC_ADAPTIVE_CC_TARGET_DRAIN_US       TargetDrain, in microseconds
//	MC_ADAPTIVE_CC_HIGH_PRESSURE_EPOCHS  HighPressureEpochs
//	MC_ADAPTIVE_CC_LOW_PRESSURE_EPOCHS   LowPressureEpochs
//	MC_ADAPTIVE_CC_HARD_ERROR_THRESHOLD  HardErrorThreshold
//	MC_ADAPTIVE_CC_COOLDOWN_MS           Cooldown, in milliseconds
//
// Numbers are positive and written in decimal digits only. The minimum window must
// not exceed the maximum, and a probe window that is set must not exceed the
// minimum; where only one of two is set the other's default counts.
//
// What cannot be set follows what can: the start window moves to the nearest value
// between the minimum and the maximum, the smallest device window with it, a probe
// window that is not set is at most the minimum, and the longest cooldown is at
// least the base one.
//
// Every fault names the variable, its value and the rule, and all are joined into
// one error. Then the configuration is the zero one, which [New] refuses: there is
// no controller rather than one with half of its settings.
//
// Specification: configuration, compatibility and rollback.
func ConfigFromEnv(environ []string) (Config, error) {
	e := envReader{values: map[string]string{}}
	e.collect(environ)
	cfg := DefaultConfig()
	if v, ok := e.values[envMode]; ok {
		var err error
		if cfg.Mode, err = ParseMode(v); err != nil {
			e.fault("%s is %s: must be off, observe or enforce", envMode, shown(v))
		}
	}
	const ms, us = int64(time.Millisecond), int64(time.Microsecond)
	least := e.number(envMinWindow, MaxBytes, &cfg.MinWindowBytes)
	most := e.number(envMaxWindow, MaxBytes, &cfg.MaxWindowBytes)
	probe := e.number(envProbe, MaxBytes, &cfg.ProbeWindowBytes)
	drain := e.number(envDrain, int64(maxDuration)/us, nil)
	cooldown := e.number(envCooldown, int64(maxDuration)/ms, nil)
	e.count(envHigh, math.MaxUint16, &cfg.HighPressureEpochs)
	e.count(envLow, math.MaxUint16, &cfg.LowPressureEpochs)
	e.count(envThreshold, math.MaxInt32, &cfg.HardErrorThreshold)
	if least.ok && most.ok && cfg.MinWindowBytes > cfg.MaxWindowBytes {
		e.fault("%s: must not be above %s", least.say(cfg.MinWindowBytes), most.say(cfg.MaxWindowBytes))
	}
	if probe.set && probe.ok && least.ok && cfg.ProbeWindowBytes > cfg.MinWindowBytes {
		e.fault("%s: must not be above %s", probe.say(cfg.ProbeWindowBytes), least.say(cfg.MinWindowBytes))
	}
	if len(e.faults) > 0 {
		return Config{}, errors.Join(e.faults...)
	}
	if most.set {
		cfg.DeviceWindowBytes = cfg.MaxWindowBytes
	}
	if probe.set {
		cfg.SuspectWindowBytes = cfg.ProbeWindowBytes
	}
	if drain.set {
		cfg.TargetDrain = time.Duration(drain.value * us)
	}
	if cooldown.set {
		cfg.Cooldown = time.Duration(cooldown.value * ms)
	}
	cfg.follow()
	if err := cfg.Validate(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// follow moves what the environment cannot set to where the rest allows it.
func (c *Config) follow() {
	c.StartWindowBytes = min(max(c.StartWindowBytes, c.MinWindowBytes), c.MaxWindowBytes)
	if c.ProbeWindowBytes > c.MinWindowBytes {
		c.ProbeWindowBytes = c.MinWindowBytes
		c.SuspectWindowBytes = c.MinWindowBytes
	}
	c.CooldownCap = max(c.CooldownCap, c.Cooldown)
}

// envReader reads settings and gathers faults.
type envReader struct {
	values map[string]string
	faults []error
}

func (e *envReader) fault(format string, args ...any) {
	e.faults = append(e.faults, fmt.Errorf("cc: "+format, args...))
}

// collect picks the settings out of an environment.
func (e *envReader) collect(environ []string) {
	known := []string{envMode, envMinWindow, envMaxWindow, envProbe, envDrain, envHigh, envLow, envThreshold, envCooldown}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) {
			continue
		}
		before, twice := e.values[name]
		switch {
		case !slices.Contains(known, name):
			e.fault("%s is %s: there is no such setting; known are %s", shownName(name), shown(value), strings.Join(known, ", "))
		case twice && before != value:
			e.fault("%s is %s and also %s: must be set once", name, shown(before), shown(value))
		default:
			e.values[name] = value
		}
	}
}

// setting is what was read for one name.
type setting struct {
	name    string
	set, ok bool // ok: it is not set, or what is set is in range
	value   int64
}

// say names the setting with the value that counts.
func (s setting) say(value int64) string {
	if s.set {
		return fmt.Sprintf("%s is %d", s.name, value)
	}
	return fmt.Sprintf("%s, which is not set and defaults to %d", s.name, value)
}

// number reads a number from 1 to most. When it is set and in range, and to is not
// nil, it is stored there.
func (e *envReader) number(name string, most int64, to *int64) setting {
	text, set := e.values[name]
	if !set {
		return setting{name: name, ok: true}
	}
	v, err := strconv.ParseInt(text, 10, 64)
	switch digits := text != "" && strings.Trim(text, "0123456789") == ""; {
	case !digits:
		e.fault("%s is %s: must be a positive number in decimal digits, without sign, unit or space", name, shown(text))
	case err != nil || v < 1 || v > most:
		e.fault("%s is %s: must be 1 to %d", name, shown(text), most)
	default:
		if to != nil {
			*to = v
		}
		return setting{name: name, set: true, ok: true, value: v}
	}
	return setting{name: name, set: true}
}

// count reads a small number.
func (e *envReader) count(name string, most int64, to *int) {
	if s := e.number(name, most, nil); s.set && s.ok {
		*to = int(s.value)
	}
}

// shown quotes a value, however long or odd, for an error message.
func shown(value string) string {
	const most = 80
	if len(value) > most {
		return fmt.Sprintf("%q... (%d bytes)", value[:most], len(value))
	}
	return strconv.Quote(value)
}

// shownName is a name as it is, or quoted if it could upset a message.
func shownName(name string) string {
	if q := shown(name); q != `"`+name+`"` {
		return q
	}
	return name
}
