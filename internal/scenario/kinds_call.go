package scenario

// Parameters and answers that several calls have.
var (
	workerParam     = Param{Name: "worker", Type: Label, Place: Keyed, Meaning: "the worker; the first one if left out", Plain: true}
	everyWorker     = Param{Name: "worker", Type: Label, Place: Keyed, Meaning: "the worker; all of them if left out", Plain: true}
	permitsParam    = Param{Name: "permit", Type: Label, List: true, Meaning: "one permit or several", Plain: true}
	routeParam      = Param{Name: "route", Type: Label, Meaning: "the route", Plain: true}
	bytesParam      = Param{Name: "bytes", Type: Bytes, Place: Optional, Meaning: "how many; 4KiB if left out"}
	sizesParam      = Param{Name: "bytes", Type: Bytes, List: true, Meaning: "those of each slice", Plain: true}
	generationParam = Param{Name: "gen", Type: Number, Place: Keyed, Meaning: "the generation; the current one if left out"}
	taskParam       = Param{Name: "task", Type: Label, List: true, Place: Keyed, Meaning: "the task; the one with the permit's name if left out, and none says that there is none"}
	qpParam         = Param{Name: "qp", Type: Number, List: true, Place: Keyed, Meaning: "the QP, or several that are taken in turn; the generation's first if left out"}
	statusParam     = Param{Name: "status", Type: Word, Words: Statuses, Meaning: "the status, by its name in libibverbs or as a number", Plain: true}
	vendorParam     = Param{Name: "vendor", Type: Hex, Place: Keyed, Meaning: "vendor_err", Plain: true}
	useParam        = Param{Name: "use", Type: Number, Place: Keyed, Meaning: "the admission that it speaks of: the number that was answered, or else 1 for the permit's first, 2 for its second; the latest if left out"}
	slicesParam     = Param{Name: "slices", Type: Slices, Place: Keyed, Meaning: "of a list, these slices; all if left out"}

	failure  = []Param{{Name: "error", Type: Word, Words: Errors, Place: Keyed, Meaning: "why the call was wrong", Plain: true}}
	decision = []Param{
		{Name: "answer", Type: Word, Words: Answers, Meaning: "what admission says", Plain: true},
		{Name: "reason", Type: Word, Words: Reasons, Place: Optional, Meaning: "why not", Plain: true},
		{Name: "domain", Type: Word, Words: Domains, Place: Keyed, Meaning: "the window that refused", Plain: true},
		{Name: "hint", Type: Word, Words: Hints, Place: Keyed, Meaning: "what would help", Plain: true},
		{Name: "retry_after", Type: Duration, Place: Keyed, Compares: true, Meaning: "how long the refusal lasts", Plain: true},
		{Name: "use", Type: Number, Place: Keyed, Meaning: "the number of the admission", Plain: true},
		{Name: "error", Type: Word, Words: Errors, Place: Keyed, Meaning: "why the call was wrong", Plain: true},
	}
	settled = []Param{
		{Name: "edges", Type: Word, Words: Edges, Place: Optional, Meaning: "what the call took from a permit", Plain: true},
		{Name: "ended", Type: Slices, Place: Keyed, Meaning: "of a list, the slices whose attempt it ended"},
		{Name: "released", Type: Slices, Place: Keyed, Meaning: "of a list, the slices whose bytes it gave back"},
	}
)

// Calls of the controller, in the order of a slice's life.
var (
	Renew = &Kind{Code: 20, Verb: "renew", Call: true, Meaning: "An endpoint was built: the route's next generation.", Params: []Param{
		routeParam,
		{Name: "qps", Type: Number, List: true, Place: Keyed, Meaning: "the numbers of its QPs; one that nobody has yet if left out"},
		{Name: "cq", Type: Number, List: true, Place: Keyed, Meaning: "the CQ of each QP, or of all of them; 1 if left out"},
		{Name: "srq", Type: Number, List: true, Place: Keyed, Meaning: "the SRQs in the same way; none if left out"},
		{Name: "wq", Type: Number, List: true, Place: Keyed, Meaning: "the WQs in the same way; none if left out"},
		{Name: "incarnation", Type: Number, List: true, Place: Keyed, Meaning: "the QPs' incarnations in the same way; none if left out"},
		{Name: "old", Type: Number, Place: Keyed, Meaning: "the generation that it replaces; the current one if left out"},
		{Name: "empty", Type: Bool, Place: Keyed, Meaning: "it has no QP, which is refused"},
	}, Answers: []Param{
		{Name: "gen", Type: Number, Place: Optional, Meaning: "the new generation", Plain: true},
		{Name: "error", Type: Word, Words: Errors, Place: Keyed, Meaning: "why it was refused", Plain: true},
	}}
	Unreachable = &Kind{Code: 47, Verb: "unreachable", Call: true, Meaning: "No endpoint could be built: the peer refused or did not answer. Quarantines a route that is SUSPECT by a failure, as a failed probe would.", Params: []Param{
		routeParam,
		{Name: "old", Type: Number, Place: Keyed, Meaning: "the generation that it was to replace; the current one if left out"},
	}}
	Acquire = &Kind{Code: 21, Verb: "acquire", Call: true, Meaning: "Asks for bytes on a route.",
		Params: []Param{permitsParam, routeParam, bytesParam, generationParam, taskParam}, Answers: decision}
	Probe = &Kind{Code: 22, Verb: "probe", Call: true, Meaning: "Asks for bytes on a route, as a prober. It has no task, and may be the trial before the cooldown is over, unless the pair has a longer one since it flaps.",
		Params: []Param{permitsParam, routeParam, bytesParam, generationParam}, Answers: decision}
	Wait = &Kind{Code: 23, Verb: "wait", Call: true, Meaning: "Asks for bytes on a route and waits for room. The scenario goes on; returned says how it ended.",
		Params: []Param{permitsParam, routeParam, bytesParam, generationParam, taskParam}, Answers: decision}
	Handoff = &Kind{Code: 24, Verb: "handoff", Call: true, Meaning: "Moves a reservation that was not posted to another route.",
		Params: []Param{permitsParam, routeParam, generationParam, taskParam}, Answers: decision}
	AcquireList = &Kind{Code: 25, Verb: "acquire_list", Call: true, Meaning: "Asks for the bytes of a post list. The name stands for the list from then on.",
		Params: []Param{permitsParam, routeParam, sizesParam, generationParam, taskParam}, Answers: decision}
	Fit = &Kind{Code: 26, Verb: "fit", Call: true, Meaning: "How many of the first slices there is room for.", Params: []Param{routeParam, sizesParam},
		Answers: []Param{{Name: "slices", Type: Number, Meaning: "how many", Plain: true}}}
	Post = &Kind{Code: 27, Verb: "post", Call: true, Meaning: "The work request is handed to the hardware.", Params: []Param{
		permitsParam, qpParam,
		{Name: "accepted", Type: Number, Place: Keyed, Meaning: "a partial post: the first so many went out, and the others are given back"},
	}, Answers: failure}
	Unposted = &Kind{Code: 28, Verb: "unposted", Call: true, Meaning: "The work request did not reach the hardware.", Params: []Param{
		permitsParam,
		{Name: "from", Type: Number, Place: Keyed, Meaning: "of a list, the slices from this one on; 0 if left out"},
	}, Answers: []Param{
		{Name: "gave_back", Type: Bool, Place: Optional, Meaning: "of a permit, whether this call gave the bytes back"},
		{Name: "released", Type: Slices, Place: Keyed, Meaning: "of a list, the slices whose bytes it gave back"},
	}}
	Complete = &Kind{Code: 29, Verb: "complete", Call: true, Meaning: "A work completion came.",
		Params: []Param{permitsParam, statusParam, vendorParam, useParam, slicesParam}, Answers: settled}
	Deadline = &Kind{Code: 30, Verb: "deadline", Call: true, Meaning: "A software deadline passed.", Params: []Param{
		permitsParam,
		{Name: "poller", Type: Word, Words: Progress, Place: Optional, Meaning: "what the poller was doing; progressing if left out"},
		useParam, slicesParam,
	}, Answers: settled}
	Cancel = &Kind{Code: 31, Verb: "cancel", Call: true, Meaning: "The application gave the request up.",
		Params: []Param{permitsParam, useParam, slicesParam}, Answers: settled}
	Teardown = &Kind{Code: 32, Verb: "teardown", Call: true, Meaning: "The QP was reset or destroyed: no completion needs to come.",
		Params: []Param{permitsParam, useParam, slicesParam}, Answers: settled}
	Reject = &Kind{Code: 33, Verb: "reject", Call: true, Meaning: "The post verb returned an error after post said that it would be called.", Params: []Param{
		permitsParam,
		{Name: "errno", Type: Word, Words: Errnos, Meaning: "the errno, by name or as a number", Plain: true},
		useParam, slicesParam,
	}, Answers: settled}
	Settle = &Kind{Code: 34, Verb: "settle", Call: true, Meaning: "Anything else became of the work request.", Params: []Param{
		permitsParam,
		{Name: "source", Type: Word, Words: Sources, Meaning: "the kind of observation", Plain: true},
		{Name: "raw", Type: Number, Meaning: "its number in package classify", Plain: true},
		useParam, slicesParam,
	}, Answers: settled}
	Event = &Kind{Code: 35, Verb: "event", Call: true, Meaning: "An asynchronous event came, such as `event PORT_ERR D1 port=1` or `event QP_FATAL D1 qp=7`; see Events.", Params: []Param{
		{Name: "type", Type: Word, Words: Events, Meaning: "the type, by its name in libibverbs or as a number", Plain: true},
		{Name: "device", Type: String, Place: Optional, Meaning: "the device that reported it", Plain: true},
		{Name: "port", Type: Number, Place: Keyed, Meaning: "the port", Plain: true},
		{Name: "qp", Type: Number, Place: Keyed, Meaning: "the QP", Plain: true},
		{Name: "cq", Type: Number, Place: Keyed, Meaning: "the CQ", Plain: true},
		{Name: "srq", Type: Number, Place: Keyed, Meaning: "the SRQ", Plain: true},
		{Name: "wq", Type: Number, Place: Keyed, Meaning: "the WQ", Plain: true},
		everyWorker,
	}, Answers: []Param{
		{Name: "reached", Type: Number, Place: Keyed, Meaning: "how many QPs it reached"},
		{Name: "error", Type: Word, Words: Errors, Place: Keyed, Meaning: "why the call was wrong", Plain: true},
	}}
	Tick = &Kind{Code: 36, Verb: "tick", Call: true, Meaning: "The monitor looks: windows move and silent routes are found. None comes by itself but with `ticks` and `epoch`.", Params: []Param{everyWorker}}
	Beat = &Kind{Code: 37, Verb: "beat", Call: true, Meaning: "Pollers say that they run.", Params: []Param{
		{Name: "poller", Type: Label, List: true, Meaning: "the pollers", Plain: true},
	}}
	ClosePoller = &Kind{Code: 38, Verb: "close_poller", Call: true, Meaning: "Pollers are gone.", Params: []Param{
		{Name: "poller", Type: Label, List: true, Meaning: "the pollers", Plain: true},
	}}
	Due = &Kind{Code: 39, Verb: "due", Call: true, Meaning: "Asks which routes want a probe.", Params: []Param{workerParam},
		Answers: []Param{{Name: "route", Type: Label, List: true, Place: Optional, Meaning: "in any order; none says that there is none"}}}
	CloseRoute = &Kind{Code: 40, Verb: "close_route", Call: true, Meaning: "Closes routes.", Params: []Param{
		{Name: "route", Type: Label, List: true, Meaning: "the routes", Plain: true},
	}}
	Forget = &Kind{Code: 41, Verb: "forget", Call: true, Meaning: "A peer is gone: its routes are closed.", Params: []Param{
		{Name: "peer", Type: String, Meaning: "the peer machine", Plain: true},
		{Name: "incarnation", Type: String, Place: Keyed, Meaning: "its incarnation", Plain: true},
		everyWorker,
	}, Answers: []Param{{Name: "routes", Type: Number, Place: Keyed, Meaning: "how many there were", Plain: true}}}
	Close    = &Kind{Code: 42, Verb: "close", Call: true, Meaning: "Closes a worker's controller.", Params: []Param{workerParam}}
	Snapshot = &Kind{Code: 43, Verb: "snapshot", Call: true, Meaning: "Reads all that can be read; nothing must change by it.", Params: []Param{
		{Name: "times", Type: Number, Place: Keyed, Meaning: "how often; once if left out", Plain: true},
		everyWorker,
	}}
	NextAttempt = &Kind{Code: 44, Verb: "next_attempt", Call: true, Meaning: "Tasks begin once more: what came before is fenced off.", Params: []Param{
		{Name: "task", Type: Label, List: true, Meaning: "the tasks", Plain: true},
	}}
	NoPath = &Kind{Code: 45, Verb: "no_path", Call: true, Meaning: "The choice of a path found none for these tasks.", Params: []Param{
		{Name: "task", Type: Label, List: true, Meaning: "the tasks", Plain: true},
	}}
	Sweep = &Kind{Code: 46, Verb: "sweep", Call: true, Meaning: "The pause table drops what is too old to matter.", Params: []Param{everyWorker},
		Answers: []Param{{Name: "entries", Type: Number, Place: Keyed, Meaning: "how many are left"}}}
)
