package scenario

// What a scenario begins with. See also configParams.
var (
	// Settings chooses numbers for all that is configured.
	Settings = &Kind{Code: 1, Verb: "settings", Meaning: "Chooses a configuration that has a name. Stands before the first route.", Params: []Param{
		{Name: "name", Type: Word, Words: Presets, Meaning: "field is what most field scenarios use, default the library's defaults in mode enforce"},
	}}
	// Set changes single numbers of the configuration.
	Set = &Kind{Code: 2, Verb: "set", Meaning: "Changes fields of the configuration, of all workers or of one. Stands before the first route.", Params: append([]Param{
		{Name: "worker", Type: Label, Place: Keyed, Meaning: "the worker, if it is for one alone"},
	}, configParams...)}
	// Case begins one of several endings.
	Case = &Kind{Code: 3, Verb: "case", Meaning: "Begins one of several endings: what stands before the first case is run again at the beginning of each, with that case's configuration.", Params: append([]Param{
		{Name: "name", Type: String, Meaning: "what makes it different"},
	}, configParams...)}
	// Worker makes a controller.
	Worker = &Kind{Code: 4, Verb: "worker", Meaning: "Makes one more controller. Without it there is one, called main.", Params: []Param{
		{Name: "worker", Type: Label, Meaning: "its name", Plain: true},
		{Name: "pauses", Type: Label, Place: Keyed, Meaning: "the pause table that it shares with the workers who name the same; its own if left out"},
	}}
	// Route makes a route.
	Route = &Kind{Code: 5, Verb: "route", Call: true, Meaning: "Makes the route of a pair.", Params: []Param{
		{Name: "route", Type: Label, Meaning: "what the scenario calls it", Plain: true},
		{Name: "device", Type: String, Meaning: "the local device", Plain: true},
		{Name: "peer", Type: String, Meaning: "the peer machine", Plain: true},
		{Name: "remote", Type: String, Meaning: "the peer's NIC", Plain: true},
		{Name: "port", Type: Number, Place: Keyed, Meaning: "the local port; 1 if left out"},
		{Name: "incarnation", Type: String, Place: Keyed, Meaning: "the peer's incarnation", Plain: true},
		workerParam,
	}, Answers: failure}
	// Poller registers a poller.
	Poller = &Kind{Code: 6, Verb: "poller", Call: true, Meaning: "Registers who polls some CQs of a device.", Params: []Param{
		{Name: "poller", Type: Label, Meaning: "what the scenario calls it", Plain: true},
		{Name: "device", Type: String, Meaning: "the local device", Plain: true},
		{Name: "cq", Type: Number, List: true, Place: Keyed, Meaning: "the CQs; 1 if left out"},
		workerParam,
		{Name: "empty", Type: Bool, Place: Keyed, Meaning: "it polls no CQ, which is refused"},
	}, Answers: failure}
	// Jitter sets random factors.
	Jitter = &Kind{Code: 7, Verb: "jitter", Meaning: "Sets the factors that the next cooldowns and probe intervals are multiplied with; 1 when none is left. In a recording they are those that the next call drew.", Params: []Param{
		{Name: "factor", Type: Factor, List: true, Meaning: "one or several", Plain: true},
	}}
	// LeaveOpen leaves out the last check.
	LeaveOpen = &Kind{Code: 8, Verb: "leave_open", Meaning: "Leaves out the check at the end: that no bytes are in flight, and that each route which is not quarantined admits a slice as large as its window."}
)

// configParams are the fields of the configuration, by the names that they have in
// package cc.
var configParams = []Param{
	{Name: "mode", Type: Word, Words: Modes, Place: Keyed},
	{Name: "min_window_bytes", Type: Bytes, Place: Keyed},
	{Name: "max_window_bytes", Type: Bytes, Place: Keyed},
	{Name: "start_window_bytes", Type: Bytes, Place: Keyed},
	{Name: "device_window_bytes", Type: Bytes, Place: Keyed},
	{Name: "probe_window_bytes", Type: Bytes, Place: Keyed},
	{Name: "suspect_window_bytes", Type: Bytes, Place: Keyed},
	{Name: "hard_error_threshold", Type: Number, Place: Keyed},
	{Name: "error_window", Type: Duration, Place: Keyed},
	{Name: "cooldown", Type: Duration, Place: Keyed},
	{Name: "cooldown_cap", Type: Duration, Place: Keyed},
	{Name: "probe_interval", Type: Duration, Place: Keyed},
	{Name: "law", Type: Word, Words: Laws, Place: Keyed},
	{Name: "epoch", Type: Duration, Place: Keyed},
	{Name: "target_drain", Type: Duration, Place: Keyed},
	{Name: "high_pressure_epochs", Type: Number, Place: Keyed},
	{Name: "low_pressure_epochs", Type: Number, Place: Keyed},
	{Name: "device_min_window_bytes", Type: Bytes, Place: Keyed},
	{Name: "suspect_after", Type: Duration, Place: Keyed},
	{Name: "stall_gap", Type: Duration, Place: Keyed},
	{Name: "prober", Type: Bool, Place: Keyed},
	{Name: "keep_last_route", Type: Bool, Place: Keyed},
}

// ConfigParams returns the fields of the configuration, which set and case take.
func ConfigParams() []Param { return configParams }
