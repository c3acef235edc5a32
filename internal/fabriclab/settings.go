package fabriclab

import "time"

// Settings says how the engines of a bed work.
type Settings struct {
	QPs   int // of a route, beside the prober's
	Depth int // send queue entries of a QP
	Reads int // outstanding READs of a QP

	// Timeout and Retry are those of the QPs, see fabric.QPConfig.
	Timeout, Retry int

	// PostCost is the time that an engine's thread spends on a work request, and
	// PostJitter what comes on top of that at most, evenly distributed.
	PostCost, PostJitter time.Duration
	// PollEvery is how often completions are looked for, and PollBatch how many are
	// taken at once.
	PollEvery time.Duration
	PollBatch int

	// Tick is how often a controller is ticked; each engine has a phase of its own.
	Tick time.Duration
	// ProbeEvery is how often the prober asks what is due, and BuildPause how long it
	// takes to have a new endpoint in the place of one that failed.
	ProbeEvery, BuildPause time.Duration
}

// DefaultSettings is an engine with a thread that spins: one QP a route, 128 work
// requests deep, 200 to 400 ns a post, a poll each microsecond.
func DefaultSettings() Settings {
	return Settings{
		QPs: 1, Depth: 128, Reads: 16, Timeout: 14, Retry: 7,
		PostCost: 200 * time.Nanosecond, PostJitter: 200 * time.Nanosecond,
		PollEvery: time.Microsecond, PollBatch: 32,
		Tick: 10 * time.Millisecond, ProbeEvery: 50 * time.Millisecond, BuildPause: 50 * time.Millisecond,
	}
}
