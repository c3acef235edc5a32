package scenario

// within is how long an expectation may take to come true.
var within = Param{Name: "within", Type: Duration, Place: Keyed, Meaning: "it has to come true within this time from now; at once if left out"}

var routesParam = Param{Name: "route", Type: Label, List: true, Meaning: "the routes", Plain: true}

// conditions are what expect and never may say.
var conditions = []struct {
	code    uint8
	subject string
	meaning string
	params  []Param
}{
	{0, "route", "Routes, as the controller shows them.", []Param{
		routesParam,
		{Name: "state", Type: Word, Words: States, List: true, Place: Optional, Meaning: "the state, or one of several", Plain: true},
		{Name: "failures", Type: Number, Place: Keyed, Compares: true, Meaning: "failures in a row", Plain: true},
		{Name: "window", Type: Bytes, Place: Keyed, Compares: true, Meaning: "the byte window that applies: a suspect route and one that is only tried have a smaller one"},
		{Name: "in_flight", Type: Bytes, Place: Keyed, Compares: true, Meaning: "bytes that permits have reserved"},
		{Name: "delivered", Type: Bytes, Place: Keyed, Compares: true, Meaning: "bytes that have arrived, ever"},
		{Name: "gen", Type: Number, Place: Keyed, Compares: true, Meaning: "the current generation", Plain: true},
		{Name: "needs_renew", Type: Bool, Place: Keyed, Meaning: "a deadline retired the generation"},
		{Name: "cooldown", Type: Duration, Place: Keyed, Compares: true, Meaning: "the remembered length, from which the next quarantine starts"},
		{Name: "cooldown_left", Type: Duration, Place: Keyed, Compares: true, Meaning: "how long the quarantine still runs"},
		{Name: "trial_out", Type: Bool, Place: Keyed, Meaning: "a trial is on the wire", Plain: true},
		{Name: "pressure", Type: Word, Words: Pressures, List: true, Place: Keyed, Meaning: "what the latest epoch showed, or one of several"},
		{Name: "drain", Type: Duration, Place: Keyed, Compares: true, Meaning: "the drain time that was measured", Plain: true},
		{Name: "drain_seen", Type: Bool, Place: Keyed, Meaning: "whether a drain time was measured", Plain: true},
		{Name: "persistent_fault", Type: Bool, Place: Keyed, Meaning: "rebuilding the connection does not help"},
		{Name: "kept", Type: Bool, Place: Keyed, Meaning: "it is kept as the last route to its peer"},
		{Name: "limited", Type: Bool, Place: Keyed, Meaning: "it is limited, since its port has no usable route"},
		{Name: "refusals", Type: Number, Place: Keyed, Compares: true, Meaning: "admissions that were refused, or would have been in mode observe"},
	}},
	{1, "device", "A local device.", []Param{
		{Name: "device", Type: String, List: true, Meaning: "the devices", Plain: true},
		{Name: "window", Type: Bytes, Place: Keyed, Compares: true, Meaning: "the byte window", Plain: true},
		{Name: "in_flight", Type: Bytes, Place: Keyed, Compares: true, Meaning: "bytes that permits have reserved"},
		{Name: "exhausted", Type: Bool, Place: Keyed, Meaning: "its routes, or those of one of its ports, lead to two peers or more, and none is usable; until a success there"},
		everyWorker,
	}},
	{2, "task", "What tasks say of themselves.", []Param{
		{Name: "task", Type: Label, List: true, Meaning: "the tasks", Plain: true},
		{Name: "state", Type: Word, Words: TaskStates, List: true, Place: Optional, Meaning: "the state, or one of several", Plain: true},
		{Name: "reason", Type: Word, Words: Reasons, List: true, Place: Optional, Meaning: "the most recent that matters, or one of several; NONE if there is none"},
		{Name: "resolved", Type: Bool, Place: Keyed, Meaning: "the task got past it"},
		{Name: "root", Type: Word, Words: Statuses, Place: Keyed, Meaning: "the status that put the QP of a flushed work request into its error state"},
		{Name: "root_seen", Type: Bool, Place: Keyed, Meaning: "whether that is known"},
		{Name: "vendor", Type: Hex, Place: Keyed, Meaning: "vendor_err of the completion", Plain: true},
		{Name: "attempt", Type: Number, Place: Keyed, Meaning: "the attempt of the task", Plain: true},
	}},
	{3, "pause", "What the pause table has of the routes' pairs.", []Param{
		routesParam,
		{Name: "standing", Type: Word, Words: Standings, Place: Optional, Meaning: "the verdict", Plain: true},
		{Name: "count", Type: Number, Place: Keyed, Compares: true, Meaning: "failures in a row", Plain: true},
		{Name: "left", Type: Duration, Place: Keyed, Compares: true, Meaning: "how long the pause still runs"},
		{Name: "cooldown", Type: Duration, Place: Keyed, Compares: true, Meaning: "the length that the next pause starts from"},
		{Name: "trial_out", Type: Bool, Place: Keyed, Meaning: "a trial is on the wire"},
	}},
	{4, "permit", "Permits and lists.", []Param{
		{Name: "permit", Type: Label, List: true, Meaning: "the permits", Plain: true},
		{Name: "held", Type: Bytes, Place: Keyed, Compares: true, Meaning: "bytes that it has reserved", Plain: true},
	}},
	{5, "path", "The states that routes went through.", []Param{
		routesParam,
		{Name: "state", Type: Word, Words: States, List: true, Place: Optional, Meaning: "all states that were entered, in order; none if left out"},
	}},
	{6, "notice", "What was said of a route beside its states.", []Param{
		routesParam,
		{Name: "notice", Type: Word, Words: Notices, Meaning: "the notice", Plain: true},
		{Name: "times", Type: Number, Place: Keyed, Compares: true, Meaning: "how often; at least once if left out"},
	}},
	{7, "refusals", "Refused admissions of one kind.", []Param{
		routesParam,
		{Name: "reason", Type: Word, Words: Reasons, Meaning: "the reason", Plain: true},
		{Name: "count", Type: Number, Place: Keyed, Compares: true, Meaning: "how many; at least one if left out", Plain: true},
	}},
}

// Codes of conditions.
const (
	expectCode = 80
	neverCode  = 100
)

// Expect and Never hold the conditions by their subject: Expect["route"].
var Expect, Never = conditionKinds()

func conditionKinds() (expect, never map[string]*Kind) {
	expect, never = map[string]*Kind{}, map[string]*Kind{}
	for _, c := range conditions {
		expect[c.subject] = &Kind{Code: expectCode + c.code, Verb: "expect", Subject: c.subject, Meaning: c.meaning, Params: append(c.params[:len(c.params):len(c.params)], within)}
		never[c.subject] = &Kind{Code: neverCode + c.code, Verb: "never", Subject: c.subject, Meaning: c.meaning, Params: c.params}
	}
	return expect, never
}
