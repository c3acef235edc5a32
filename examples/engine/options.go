package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/rail"
)

// options are the flags that the commands share.
type options struct {
	fabric  string
	nics    string
	mode    string
	verbose bool

	engine transfer.Config
	slice  size
	ack    uint
	retry  uint
	start  size
	most   size
	device size
	health healthOptions
	rails  railOptions
	record recordOptions
	sim    simOptions      // of demo
	given  map[string]bool // flags on the command line
}

// newFlags returns the flag set of a command with the shared flags in it.
func newFlags(command string, stderr io.Writer) (*flag.FlagSet, *options) {
	numbers := cc.DefaultConfig()
	o := &options{
		engine: transfer.DefaultConfig(),
		start:  size(numbers.StartWindowBytes), most: size(numbers.MaxWindowBytes), device: size(numbers.DeviceWindowBytes),
	}
	o.slice = size(o.engine.SliceBytes)
	f := flag.NewFlagSet("engine "+command, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.fabric, "fabric", "auto", "`kind` of fabric: auto, verbs or sim")
	f.StringVar(&o.nics, "nics", "", "RDMA devices to use, as a comma-separated `list`; all usable ones if empty")
	f.StringVar(&o.mode, "mode", cc.Enforce.String(), "admission: off, observe or enforce")
	f.BoolVar(&o.verbose, "v", false, "log endpoints and events to the standard error output")
	f.Var(&o.slice, "slice", "`bytes` of a slice")
	f.IntVar(&o.engine.Workers, "workers", o.engine.Workers, "goroutines that post and poll")
	f.IntVar(&o.engine.QPsPerWorker, "qps", o.engine.QPsPerWorker, "QPs of each worker in an endpoint")
	f.UintVar(&o.ack, "ack-timeout", uint(o.engine.AckTimeout), "QP timeout `code` t: 4.096 us x 2^t a try")
	f.UintVar(&o.retry, "retry", uint(o.engine.Retry), "QP `count` of retries after a timeout")
	f.DurationVar(&o.engine.Deadline, "deadline", o.engine.Deadline, "longest time of a work request")
	f.Var(&o.start, "window", "`bytes` of a new route's window")
	f.Var(&o.most, "max-window", "`bytes` of the largest window of a route")
	f.Var(&o.device, "device-window", "`bytes` of a device's window")
	f.DurationVar(&o.health.cooldown, "cooldown", numbers.Cooldown, "base length of a quarantine")
	f.DurationVar(&o.health.limit, "cooldown-cap", numbers.CooldownCap, "longest quarantine")
	f.DurationVar(&o.health.probe, "probe-interval", numbers.ProbeInterval, "time between early or undecided trials of a quarantined route")
	f.DurationVar(&o.health.drain, "target-drain", numbers.TargetDrain, "drain time that windows aim at")
	f.StringVar(&o.rails.name, "rails", "", "JSON `file` of the NIC pairs that may be used; all if empty")
	f.IntVar(&o.rails.ipv4, "prefix", 0, "`bits` of an IPv4 address within which NICs reach each other; 0 if they do anyway")
	f.IntVar(&o.rails.ipv6, "prefix6", 0, "`bits` of an IPv6 address within which NICs reach each other; 0 if they do anyway")
	return f, o
}

// parse reads a command's arguments. There must be none besides flags.
func (o *options) parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q; flags come as -name value", errUsage, f.Arg(0))
	}
	o.given = map[string]bool{}
	f.Visit(func(fl *flag.Flag) { o.given[fl.Name] = true })
	switch o.fabric {
	case "auto", "verbs", "sim":
	default:
		return fmt.Errorf("%w: -fabric %q is unknown; use auto, verbs or sim", errUsage, o.fabric)
	}
	if o.ack < 1 || o.ack > 31 || o.retry > 7 {
		return fmt.Errorf("%w: -ack-timeout %d -retry %d: the first must be 1 to 31, the second 0 to 7", errUsage, o.ack, o.retry)
	}
	o.engine.AckTimeout, o.engine.Retry = uint8(o.ack), uint8(o.retry)
	o.engine.SliceBytes = int(o.slice)
	if err := o.engine.Validate(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if o.start < 1 || o.most < o.start || o.device < o.start {
		return fmt.Errorf("%w: -window %d -max-window %d -device-window %d: the first must be at least 1, the others at least as large",
			errUsage, o.start, o.most, o.device)
	}
	if err := o.sim.validate(o.fabric); err != nil {
		return err
	}
	if err := o.rails.read(); err != nil {
		return err
	}
	if err := o.record.validate(o.mode); err != nil {
		return err
	}
	_, err := o.controller() // a mistake is told before anything is set up
	return err
}

// suggest sets how QPs retry, how large windows are and which rails there are, where
// the command line does not say.
func (o *options) suggest(s *stage) {
	if !o.given["ack-timeout"] {
		o.engine.AckTimeout = s.ackTimeout
	}
	if !o.given["retry"] {
		o.engine.Retry = s.retry
	}
	if !o.given["window"] && s.window > 0 {
		o.start = s.window
	}
	if o.rails.file == nil {
		o.rails.file = s.rails
	}
	o.health.suggest(s.health, o.given)
}

// healthOptions say when a route is congested, and for how long one that fails is
// left alone.
type healthOptions struct {
	cooldown, limit, probe, drain time.Duration
}

// suggest takes over what is set in s and was not given on the command line.
func (h *healthOptions) suggest(s healthOptions, given map[string]bool) {
	for _, c := range []struct {
		flag  string
		value *time.Duration
		use   time.Duration
	}{
		{"cooldown", &h.cooldown, s.cooldown}, {"cooldown-cap", &h.limit, s.limit},
		{"probe-interval", &h.probe, s.probe}, {"target-drain", &h.drain, s.drain},
	} {
		if c.use > 0 && !given[c.flag] {
			*c.value = c.use
		}
	}
	if !given["cooldown-cap"] {
		h.limit = max(h.limit, h.cooldown)
	}
}

func (h healthOptions) String() string {
	return fmt.Sprintf("cooldown %v to %v, probe %v, target drain %v", h.cooldown, h.limit, h.probe, h.drain)
}

// names returns the devices that were asked for, nil for all.
func (o *options) names() []string {
	if o.nics == "" {
		return nil
	}
	return strings.Split(o.nics, ",")
}

// controller returns the process's controller.
func (o *options) controller(opts ...cc.Option) (*cc.Controller, error) {
	mode, err := cc.ParseMode(o.mode)
	if err != nil {
		return nil, fmt.Errorf("%w: -mode: %w", errUsage, err)
	}
	c := cc.DefaultConfig()
	c.Mode = mode
	c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = int64(o.start), int64(o.most), int64(o.device)
	c.MinWindowBytes = min(c.MinWindowBytes, c.StartWindowBytes)
	c.ProbeWindowBytes = min(c.ProbeWindowBytes, c.MinWindowBytes)
	c.Cooldown, c.CooldownCap = o.health.cooldown, o.health.limit
	c.ProbeInterval, c.TargetDrain = o.health.probe, o.health.drain
	c.Prober = true // the engine's
	ctl, err := cc.New(c, append(opts, cc.WithPauses(rail.Shared()))...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return ctl, nil
}

// engineConfig returns the engine's numbers. Its prober looks ten times in a probe
// interval at least.
func (o *options) engineConfig() transfer.Config {
	c := o.engine
	c.ProbePause = max(min(c.ProbePause, o.health.probe/10), time.Millisecond)
	return c
}

func (o *options) logger(stderr io.Writer) *slog.Logger {
	if !o.verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(stderr, nil))
}

// serverConfig returns what the server of this process is made with.
func (o *options) serverConfig(name string, log *slog.Logger) transfer.ServerConfig {
	c := transfer.DefaultServerConfig()
	c.Name, c.Log = name, log
	c.AckTimeout, c.Retry, c.RNRRetry = o.engine.AckTimeout, o.engine.Retry, o.engine.RNRRetry
	return c
}

// size is a number of bytes on the command line: 65536, 64K, 64M or 1G, where K is
// 1024.
type size int64

func (s *size) String() string { return strconv.FormatInt(int64(*s), 10) }

func (s *size) Set(text string) error {
	digits, unit := text, int64(1)
	for suffix, n := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if before, found := strings.CutSuffix(text, suffix); found {
			digits, unit = before, n
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return fmt.Errorf("%q is no number of bytes; write 65536, 64K, 64M or 1G", text)
	}
	*s = size(n * unit)
	return nil
}

// bytesText prints a number of bytes for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// timeText prints a duration with three digits or so.
func timeText(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}
