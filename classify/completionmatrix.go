package classify

// completionMatrix is the matrix of work completions.
// Specification: completion handling matrix, row by row.
var completionMatrix = []row{
	{
		facts: facts{
			class: ClassSuccess, scope: ScopeOperation, action: ActionKeep, reason: ReasonNone,
			source: SourceCompletion, flags: settles,
		},
		statuses:   []Status{StatusSuccess},
		name:       "transfer succeeded",
		handling:   "Finish the operation; its permit comes back.",
		controller: "A success and its bytes. Epochs of low pressure may grow the window, and what blocked the task before is resolved.",
	},
	{
		facts: facts{
			class: ClassCongestion, scope: ScopeRoute, action: ActionKeep, reason: ReasonCongestionFeedback,
			source: SourceSignal,
		},
		signals:    []Signal{SignalCongestedRoute},
		name:       "transfers succeed while the route's drain time or backlog keeps rising",
		handling:   "The QP stays in use.",
		controller: "The route is CONGESTED and its window shrinks. No quarantine, no other rail.",
	},
	{
		facts: facts{
			class: ClassCongestion, scope: ScopeDevice, action: ActionKeep, reason: ReasonCongestionFeedback,
			source: SourceSignal,
		},
		signals:    []Signal{SignalCongestedDevice},
		name:       "transfers succeed while the device's drain time or backlog keeps rising",
		handling:   "All QPs stay in use.",
		controller: "The device's window shrinks. No quarantine, no other rail.",
	},
	{
		facts: facts{
			class: ClassReceiverPressure, scope: ScopeQP, action: ActionRetireQP, reason: ReasonReceiverPressure,
			source: SourceCompletion, flags: settles | rootCause,
		},
		statuses:   []Status{StatusRNRRetryExcErr},
		name:       "receiver not ready for longer than the retries last",
		handling:   "The QP is reconnected or rebuilt in the usual way.",
		controller: "Pressure on the route to this receiver alone, with back-off. Other receivers of the same NIC notice nothing, and the rail has not failed.",
	},
	{
		facts: facts{
			class: ClassRouteTimeout, scope: ScopeQP, action: ActionRetireQP, reason: ReasonRouteTimeout,
			source: SourceCompletion, flags: settles | countable | rootCause,
		},
		statuses:   []Status{StatusRetryExcErr, StatusRespTimeoutErr},
		name:       "no answer within the retries, or a response that timed out",
		handling:   "The QP is not safe to reuse; it is rebuilt in the usual way.",
		controller: "One hard error. The route is SUSPECT below the threshold; only the threshold, or a failed probe of a new generation, makes it QUARANTINED.",
	},
	{
		facts: facts{
			class: ClassLocalConfiguration, scope: ScopeOperation, action: ActionFailOperation, reason: ReasonLocalConfiguration,
			source: SourceCompletion, flags: settles | rootCause,
		},
		statuses:   []Status{StatusLocLenErr, StatusLocProtErr, StatusMWBindErr, StatusLocAccessErr},
		name:       "wrong local length, protection, access or window binding",
		handling:   "The operation fails. Length, memory region, protection domain, access or binding has to be put right.",
		controller: "Neither the window nor the counts change. Without other evidence the task is UNKNOWN.",
	},
	{
		facts: facts{
			class: ClassLocalConfiguration, scope: ScopeQP, action: ActionRetireQP, reason: ReasonLocalConfiguration,
			source: SourceCompletion, flags: settles | rootCause,
		},
		statuses: []Status{
			StatusLocQPOpErr, StatusLocEECOpErr, StatusLocRDDViolErr, StatusInvEECNErr, StatusInvEECStateErr,
		},
		name:       "wrongly set up local QP or EE context",
		handling:   "The object is not used again; a correct one is built.",
		controller: "A local mistake is neither congestion nor a failure of the peer: nothing counts.",
	},
	{
		facts: facts{
			class: ClassRemoteMetadata, scope: ScopeOperation, action: ActionRefreshMetadata, reason: ReasonRemoteMetadata,
			source: SourceCompletion, flags: settles | rootCause,
		},
		statuses: []Status{
			StatusBadRespErr, StatusRemInvReqErr, StatusRemAccessErr,
			StatusRemOpErr, StatusRemInvRDReqErr, StatusRemAbortErr,
		},
		name:       "request that the peer refused or could not serve",
		handling:   "Address, rkey, permissions, metadata and endpoint generation are refreshed before the usual retry.",
		controller: "A smaller window cures nothing, and one such error replaces no rail. Only a refreshed generation that times out or fails its probe says more.",
	},
	{
		facts: facts{
			class: ClassDerivedFlush, scope: ScopeQP, action: ActionCleanUp, reason: ReasonDerivedFlush,
			source: SourceCompletion, flags: settles,
		},
		statuses:   []Status{StatusWRFlushErr},
		name:       "work request flushed from a QP in error or torn down",
		handling:   "Teardown or cancellation is finished; the permit comes back once.",
		controller: "It inherits what put the QP into error, if that is known. A burst of flushes counts nothing.",
	},
	{
		facts: facts{
			class: ClassFatal, scope: ScopeQP, action: ActionRetireQP, reason: ReasonFatal,
			source: SourceCompletion, flags: settles | countable | rootCause,
		},
		statuses:   []Status{StatusFatalErr, StatusGeneralErr, StatusTMErr, StatusTMRndvIncomplete},
		name:       "fatal, general or tag-matching error",
		handling:   "The object is not used again from this moment; vendor_err is kept.",
		controller: "One hard error. Quarantine after the threshold or a failed probe, and never a verdict on the peer.",
	},
	{
		facts: facts{
			class: ClassFatal, scope: ScopeQP, action: ActionRetireQP, reason: ReasonFatal,
			source: SourceCompletion, flags: settles | countable | rootCause,
		},
		rest:       true,
		name:       "completion status that is not known",
		handling:   "Fail closed: the object is not used again; raw status and vendor_err are kept.",
		controller: "One hard error at the narrowest scope. Only an event or a probe may widen it.",
	},
}
