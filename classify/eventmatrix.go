package classify

// eventMatrix is the matrix of asynchronous events.
// Specification: async event handling matrix. Its non-failure row is three rows
// here, since a port that is back, changed addresses and mere notices ask for
// different things.
var eventMatrix = []row{
	{
		facts: facts{
			class: ClassFatal, scope: ScopeQP, action: ActionRetireQP, reason: ReasonFatal,
			source: SourceAsyncEvent, flags: countable | rootCause,
		},
		events: []elementEvent{
			{EventQPFatal, ObjectQP}, {EventQPReqErr, ObjectQP}, {EventQPAccessErr, ObjectQP},
		},
		name:       "QP failed",
		handling:   "This QP is isolated and rebuilt.",
		controller: "One hard error of the route. Other QPs of the same GID go on.",
	},
	{
		facts: facts{
			class: ClassFatal, scope: ScopeQP, action: ActionStopDependents, reason: ReasonFatal,
			source: SourceAsyncEvent, flags: countable | rootCause,
		},
		events:     []elementEvent{{EventWQFatal, ObjectWQ}, {EventSRQErr, ObjectSRQ}},
		name:       "work queue or shared receive queue failed",
		handling:   "The queue and the QPs that depend on it are stopped.",
		controller: "One hard error at QP scope for the routes of those QPs.",
	},
	{
		facts: facts{
			class: ClassFatal, scope: ScopeCQ, action: ActionStopCQ, reason: ReasonFatal,
			source: SourceAsyncEvent, flags: immediate | rootCause,
		},
		events:     []elementEvent{{EventCQErr, ObjectCQ}},
		name:       "CQ failed",
		handling:   "The CQ is unusable; every QP on it is isolated.",
		controller: "Immediately fatal for the routes of those QPs, without counting. QPs on other CQs go on.",
	},
	{
		facts: facts{
			class: ClassFatal, scope: ScopeRoute, action: ActionLeavePath, reason: ReasonFatal,
			source: SourceAsyncEvent, flags: countable,
		},
		events:     []elementEvent{{EventPathMigErr, ObjectQP}},
		name:       "path migration failed",
		handling:   "The path to which migration failed is not used.",
		controller: "One hard error of the route, SUSPECT below the threshold. Another path is the choice of the existing failover.",
	},
	{
		facts: facts{
			class: ClassFatal, scope: ScopePort, action: ActionIsolatePort, reason: ReasonFatal,
			source: SourceAsyncEvent, flags: immediate,
		},
		events:     []elementEvent{{EventPortErr, ObjectPort}},
		name:       "port went down",
		handling:   "Every use of the port is isolated.",
		controller: "All routes of this port are quarantined at once; other ports go on. A data-plane probe ends it, which a recovery event or a state query may suggest.",
	},
	{
		facts: facts{
			class: ClassFatal, scope: ScopeDevice, action: ActionIsolateDevice, reason: ReasonFatal,
			source: SourceAsyncEvent, flags: immediate | rootCause,
		},
		events:     []elementEvent{{EventDeviceFatal, ObjectDevice}},
		name:       "device failed",
		handling:   "The whole local device is isolated at once.",
		controller: "All routes of this device are quarantined at once. It says nothing about the peers.",
	},
	{
		facts: facts{
			class: ClassRecovery, scope: ScopePort, action: ActionRefreshObjects, reason: ReasonNone,
			source: SourceAsyncEvent,
		},
		events:     []elementEvent{{EventPortActive, ObjectPort}},
		name:       "port is active",
		handling:   "The owners of topology and endpoints refresh what the port carries.",
		controller: "A hint that a probe may succeed. Nothing is recovered before a probe of a new generation did.",
	},
	{
		facts: facts{
			class: ClassNonFailure, scope: ScopeNone, action: ActionRefreshObjects, reason: ReasonNone,
			source: SourceAsyncEvent,
		},
		events: []elementEvent{
			{EventGIDChange, ObjectPort}, {EventLIDChange, ObjectPort}, {EventPKeyChange, ObjectPort},
			{EventPathMig, ObjectQP},
		},
		name:       "addresses or path changed",
		handling:   "The owners of topology and endpoints refresh what the change affects.",
		controller: "No failure. A refreshed endpoint is a new generation and proves itself by a probe where one is due.",
	},
	{
		facts: facts{
			class: ClassNonFailure, scope: ScopeNone, action: ActionKeep, reason: ReasonNone,
			source: SourceAsyncEvent,
		},
		events: []elementEvent{
			{EventCommEst, ObjectQP}, {EventSQDrained, ObjectQP}, {EventQPLastWQEReached, ObjectQP},
			{EventSRQLimitReached, ObjectSRQ}, {EventSMChange, ObjectPort}, {EventClientReregister, ObjectPort},
		},
		name:       "notice that is no failure",
		handling:   "All objects stay in use.",
		controller: "Nothing changes.",
	},
	{
		facts: facts{
			class: ClassNone, scope: ScopeNone, action: ActionNone, reason: ReasonNone,
			source: SourceAsyncEvent,
		},
		rest:       true,
		name:       "event that is not known",
		handling:   "Whoever owns the events goes on handling and logging it.",
		controller: "Nothing changes.",
	},
}
