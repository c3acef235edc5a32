package scenario

// What only recordings have.
var (
	// Recording says that what follows was recorded.
	Recording = &Kind{Code: 120, Verb: "recording", Meaning: "What follows was recorded: calls in the order in which they returned, each with what was answered. What an answer leaves out was empty. What a call read from the clock, drew by chance and told stands right before it; the first call also has what was read when the controller was made.", Params: []Param{
		{Name: "complete", Type: Bool, Place: Keyed, Meaning: "it begins with the controller, and nothing was left out up to there"},
		{Name: "serial", Type: Bool, Place: Keyed, Meaning: "no two calls ran at the same time"},
		{Name: "program", Type: String, Place: Keyed, Meaning: "who recorded", Plain: true},
		{Name: "started", Type: String, Place: Keyed, Meaning: "the date and time at 0s", Plain: true},
	}}
	// Clock is one reading of the clock.
	Clock = &Kind{Code: 121, Verb: "clock", Meaning: "The next call read the clock: it showed the time of this statement."}
	// Told is a transition or notice.
	Told = &Kind{Code: 122, Verb: "told", Meaning: "The next call told of a transition or notice. With gen, in a complete recording of calls that did not run at the same time, all of it is compared, else the states, the reason and the notice.", Params: []Param{
		routeParam,
		{Name: "from", Type: Word, Words: States, Meaning: "the state before", Plain: true},
		{Name: "to", Type: Word, Words: States, Meaning: "the state after", Plain: true},
		{Name: "reason", Type: Word, Words: Reasons, Place: Optional, Meaning: "what led to it", Plain: true},
		{Name: "notice", Type: Word, Words: Notices, Place: Keyed, Meaning: "the notice", Plain: true},
		{Name: "source", Type: Word, Words: Sources, Place: Keyed, Meaning: "the kind of observation that led to it", Plain: true},
		{Name: "raw", Type: Number, Place: Keyed, Meaning: "its number in package classify", Plain: true},
		{Name: "vendor", Type: Hex, Place: Keyed, Meaning: "vendor_err of the completion", Plain: true},
		{Name: "gen", Type: Number, Place: Keyed, Meaning: "the current generation", Plain: true},
		{Name: "last_route", Type: Bool, Place: Keyed, Meaning: "every route to the peer is out of use now"},
		{Name: "shared", Type: Bool, Place: Keyed, Meaning: "another controller learnt it"},
	}}
	// Found is where a route was when a recording that is not complete begins.
	Found = &Kind{Code: 123, Verb: "found", Meaning: "A route as it was where the recording begins. With a generation and no QPs, these are not known: a post on any QP is taken there.", Params: []Param{
		routeParam,
		{Name: "state", Type: Word, Words: States, Meaning: "its state", Plain: true},
		{Name: "gen", Type: Number, Place: Keyed, Meaning: "its generation", Plain: true},
		{Name: "window", Type: Bytes, Place: Keyed, Meaning: "its window", Plain: true},
		{Name: "in_flight", Type: Bytes, Place: Keyed, Meaning: "bytes in flight", Plain: true},
		{Name: "failures", Type: Number, Place: Keyed, Meaning: "failures in a row", Plain: true},
		{Name: "cooldown_left", Type: Duration, Place: Keyed, Meaning: "how long its quarantine still ran", Plain: true},
		{Name: "qps", Type: Number, List: true, Place: Keyed, Meaning: "its QPs", Plain: true},
		{Name: "cq", Type: Number, List: true, Place: Keyed, Meaning: "their CQs, as renew has them"},
	}}
	// Lost says that records are missing.
	Lost = &Kind{Code: 124, Verb: "lost", Meaning: "So many statements are missing here.", Params: []Param{
		{Name: "count", Type: Number, Meaning: "how many; 0 if that is not known"},
	}}
	// Mark is a remark of the program that recorded.
	Mark = &Kind{Code: 125, Verb: "mark", Meaning: "A remark, such as why the recording was kept.", Params: []Param{
		{Name: "text", Type: String, Meaning: "the remark"},
	}}
)
