package scenario

// What a scenario written by hand has beside single calls.
var (
	// Advance lets time pass.
	Advance = &Kind{Code: 60, Verb: "advance", Meaning: "Time moves on. What is on its way meanwhile arrives in its time.", Params: []Param{
		{Name: "time", Type: Duration, Meaning: "by how much", Plain: true},
	}}
	// Send is acquire and post.
	Send = &Kind{Code: 61, Verb: "send", Meaning: "Asks for bytes and posts them; they have to be admitted.",
		Params: []Param{permitsParam, routeParam, bytesParam, qpParam, generationParam, taskParam}}
	// Transfer is send and complete.
	Transfer = &Kind{Code: 62, Verb: "transfer", Meaning: "Asks for bytes, posts them and has them completed; they have to be admitted.", Params: []Param{
		permitsParam, routeParam,
		{Name: "bytes", Type: Bytes, Meaning: "how many", Plain: true},
		{Name: "status", Type: Word, Words: Statuses, Place: Optional, Meaning: "the status of the completion; SUCCESS if left out", Plain: true},
		vendorParam,
		{Name: "takes", Type: Duration, Place: Keyed, Meaning: "how long it takes; no time if left out"},
		qpParam, generationParam, taskParam,
	}}
	// Reclaim tears an endpoint down.
	Reclaim = &Kind{Code: 63, Verb: "reclaim", Meaning: "An endpoint is torn down: teardown of every permit that is posted on it.", Params: []Param{routeParam, generationParam},
		Answers: []Param{{Name: "permits", Type: Number, Meaning: "how many gave their bytes back by it"}}}
	// Epoch is one control epoch.
	Epoch = &Kind{Code: 64, Verb: "epoch", Meaning: "One control epoch. Each route that is named is filled up to its window with slices of 64KiB, which succeed after a time that makes the pressure; then the next epoch begins, with a tick.", Params: []Param{
		{Name: "high", Type: Label, List: true, Place: Keyed, Meaning: "their slices take twice the target"},
		{Name: "low", Type: Label, List: true, Place: Keyed, Meaning: "a tenth of it"},
		{Name: "neutral", Type: Label, List: true, Place: Keyed, Meaning: "four fifths of it"},
		{Name: "times", Type: Number, Place: Keyed, Meaning: "how many such epochs; one if left out", Plain: true},
	}}
	// Traffic is many slices.
	Traffic = &Kind{Code: 65, Verb: "traffic", Meaning: "Has slices come one after the other (every 1ms, each taking 1ms to a SUCCESS, unless said otherwise). It moves no time: they come with what moves time afterwards. One that is not admitted is asked for again with the next.", Params: []Param{
		routeParam,
		{Name: "count", Type: Number, Meaning: "how many", Plain: true},
		{Name: "bytes", Type: Bytes, Meaning: "how large each is", Plain: true},
		{Name: "every", Type: Duration, Place: Keyed, Meaning: "the time from one to the next; 1ms if left out", Plain: true},
		{Name: "takes", Type: Duration, Place: Keyed, Meaning: "the time from the post to the completion; 1ms if left out", Plain: true},
		{Name: "status", Type: Word, Words: Statuses, Place: Keyed, Meaning: "the status of the completions; SUCCESS if left out", Plain: true},
	}}
	// Ticks has ticks come by themselves.
	Ticks = &Kind{Code: 66, Verb: "ticks", Meaning: "From now on ticks come by themselves while time moves on.", Params: []Param{
		{Name: "every", Type: Duration, Meaning: "the time from one to the next; 0s ends it"},
	}}
	// Random is many steps by chance.
	Random = &Kind{Code: 67, Verb: "random", Meaning: "So many steps by chance: slices of 1 byte to 300KiB are acquired, posted, succeed, fail, are flushed or torn down, endpoints are rebuilt and time passes. After each step a device has in flight what its routes have. All is settled at the end.", Params: []Param{
		{Name: "steps", Type: Number, Meaning: "how many", Plain: true},
		{Name: "route", Type: Label, List: true, Meaning: "the routes", Plain: true},
		{Name: "seed", Type: Number, Place: Keyed, Meaning: "where chance begins; 1 if left out", Plain: true},
	}}
	// Returned waits for a waiter.
	Returned = &Kind{Code: 68, Verb: "returned", Meaning: "What wait was answered. It has to have returned, or to return at once.", Params: []Param{permitsParam}, Answers: decision}
	// Classify asks what a completion means.
	Classify = &Kind{Code: 69, Verb: "classify", Meaning: "What a completion means, whatever its vendor_err.", Params: []Param{
		statusParam,
		{Name: "vendor", Type: Hex, List: true, Place: Keyed, Meaning: "vendor_err; of several, each has to mean the same"},
	}, Answers: []Param{
		{Name: "class", Type: Word, Words: Classes, Meaning: "the class", Plain: true},
		{Name: "scope", Type: Word, Words: Scopes, Place: Optional, Meaning: "how far it may reach", Plain: true},
		{Name: "counts", Type: Bool, Place: Keyed, Meaning: "whether it counts towards a quarantine", Plain: true},
	}}
	// EndNever ends what may never be.
	EndNever = &Kind{Code: 70, Verb: "end_never", Meaning: "What was said with never ends here."}
)
