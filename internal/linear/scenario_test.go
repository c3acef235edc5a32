package linear

import (
	"math/rand/v2"

	"github.com/rdmagate/rdmagate/cc"
)

// scenario is a kind of history.
//
// A lease has a sixteenth of the device's window, and leases are given while a quarter
// of it is left. So small slices go on leases and others do not, and leases end when
// the device fills up.
type scenario struct {
	name            string
	devices, routes int
	slots           int   // of each device
	route, device   int64 // windows, at the start
	// Slices have from least to most bytes, by one of these.
	sizes []span
	lists bool // every third slot is a list
	// moving: windows move down to a quarter and up again. Of such a scenario there
	// can be one device.
	moving bool
}

type span struct{ least, most int64 }

var scenarios = []scenario{
	{name: "one route", devices: 1, routes: 1, slots: 12, route: 100, device: 1600,
		sizes: []span{{1, 30}, {1, 60}, {1, 60}, {1, 300}}},
	{name: "thin lease", devices: 1, routes: 1, slots: 16, route: 100, device: 480,
		sizes: []span{{1, 30}, {1, 30}, {1, 30}, {1, 100}}},
	{name: "few leases", devices: 1, routes: 3, slots: 24, route: 80, device: 160,
		sizes: []span{{7, 10}}},
	{name: "scarce device", devices: 1, routes: 3, slots: 16, route: 80, device: 160,
		sizes: []span{{1, 10}, {1, 10}, {1, 10}, {1, 80}, {1, 100}, {1, 300}}},
	{name: "lists", devices: 1, routes: 2, slots: 12, route: 80, device: 120,
		sizes: []span{{1, 7}, {1, 7}, {1, 30}, {1, 100}}, lists: true},
	{name: "two devices", devices: 2, routes: 2, slots: 8, route: 80, device: 120,
		sizes: []span{{1, 7}, {1, 30}, {1, 60}, {1, 200}}, lists: true},
	{name: "windows move", devices: 1, routes: 2, slots: 12, route: 80, device: 160,
		sizes: []span{{1, 10}, {1, 20}, {1, 80}}, lists: true, moving: true},
	{name: "thin lease moves", devices: 1, routes: 1, slots: 16, route: 100, device: 480,
		sizes: []span{{1, 30}, {1, 30}, {1, 30}, {1, 80}}, moving: true},
	{name: "few leases move", devices: 1, routes: 3, slots: 24, route: 40, device: 160,
		sizes: []span{{1, 10}}, moving: true},
}

func (sc *scenario) size(rng *rand.Rand) int64 {
	s := sc.sizes[rng.IntN(len(sc.sizes))]
	return s.least + rng.Int64N(s.most-s.least+1)
}

// start returns the state in which a device begins.
func (sc *scenario) start() (s state) {
	s[deviceDomain].size = sc.device
	for r := range sc.routes {
		s[routeDomain(r)].size = sc.route
	}
	return s
}

// config returns a configuration with these windows. Those that are not to move cannot.
func (sc *scenario) config(rng *rand.Rand) cc.Config {
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	cfg.MinWindowBytes, cfg.StartWindowBytes, cfg.MaxWindowBytes = sc.route, sc.route, sc.route
	cfg.DeviceWindowBytes = sc.device
	cfg.ProbeWindowBytes = 1
	cfg.SuspectAfter = 0
	cfg.Epoch = epoch
	switch {
	case sc.moving: // LawRound moves windows in any settle, and only ticks are written down
		cfg.MinWindowBytes, cfg.DeviceMinWindowBytes = sc.route/4, sc.device/4
		cfg.Law, cfg.HighPressureEpochs, cfg.LowPressureEpochs = cc.LawEpoch, 1, 1
	case rng.IntN(2) == 0:
		cfg.Law = cc.LawEpoch
	}
	return cfg
}
