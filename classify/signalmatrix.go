package classify

// signalMatrix is the matrix of everything that is neither a work completion nor
// an asynchronous event. Specification: non-completion and control-plane matrix.
// The rows of connection manager events that it does not mention are decided
// here: an attempt to connect that came to nothing posted nothing, so it is an
// error of the control plane and no evidence about the path.
var signalMatrix = []row{
	{
		facts: facts{
			class: ClassNotPosted, scope: ScopeOperation, action: ActionKeepQueued, reason: ReasonByteWindow,
			source: SourceSignal,
		},
		signals:    []Signal{SignalDeferred},
		name:       "admission asked the slice to wait",
		handling:   "Nothing is posted; the slice stays in its queue. A reservation that the first domain made is rolled back.",
		controller: "BYTE_WINDOW, task CONGESTED.",
	},
	{
		facts: facts{
			class: ClassNotPosted, scope: ScopeRoute, action: ActionAlternateRail, reason: ReasonPathQuarantined,
			source: SourceSignal,
		},
		signals:    []Signal{SignalAvoided},
		name:       "admission refused a quarantined path",
		handling:   "Nothing is posted; another rail or transport takes the slice.",
		controller: "PATH_QUARANTINED, task LONG_UNAVAILABLE. Avoiding is not another failure.",
	},
	{
		facts: facts{
			class: ClassNotPosted, scope: ScopeOperation, action: ActionResolveAgain, reason: ReasonStaleGeneration,
			source: SourceSignal, flags: releases,
		},
		signals:    []Signal{SignalGenerationChanged},
		name:       "generation changed between admission and post",
		handling:   "Both reservations are rolled back; endpoint and path are resolved again.",
		controller: "The old attempt cannot touch the new generation. Without a quarantine the task stays as it was.",
	},
	{
		facts: facts{
			class: ClassNotPosted, scope: ScopeOperation, action: ActionReturnError, reason: ReasonNone,
			source: SourceSignal, flags: releases,
		},
		signals:    []Signal{SignalRejectedPost},
		name:       "post verb refused the work request",
		handling:   "The permit comes back at once; the errno goes to the owner of the QP.",
		controller: "No completion is made up. Only route or fatal evidence that the engine itself has may count.",
	},
	{
		facts: facts{
			class: ClassRouteTimeout, scope: ScopeQP, action: ActionRetireQP, reason: ReasonRouteTimeout,
			source: SourceSignal, flags: countable | endsAttempt | rootCause,
		},
		signals:    []Signal{SignalDeadlineProgressing},
		name:       "software deadline passed while the poller made progress",
		handling:   "QP and endpoint are rebuilt in the usual way. The bytes stay in flight until completion or teardown.",
		controller: "One hard error. SUSPECT and task CONGESTED below the threshold; unavailable only at the threshold or after a failed probe.",
	},
	{
		facts: facts{
			class: ClassNonFailure, scope: ScopeOperation, action: ActionKeep, reason: ReasonNone,
			source: SourceSignal,
		},
		signals:    []Signal{SignalDeadlineStalled},
		name:       "software deadline passed while the poller stood still",
		handling:   "Kept for diagnosis only; the attempt goes on.",
		controller: "Not counted in this epoch: a slow CPU is no fault of the network. Task UNKNOWN.",
	},
	{
		facts: facts{
			class: ClassControlPlane, scope: ScopeOperation, action: ActionRetryOnce, reason: ReasonNone,
			source: SourceSignal,
		},
		signals:    []Signal{SignalMetadataReadFailure},
		name:       "read-only metadata call failed",
		handling:   "The connection is dropped and the call repeated once at most; the second error is returned.",
		controller: "The window stays. A later probe of a new generation decides about the route.",
	},
	{
		facts: facts{
			class: ClassControlPlane, scope: ScopeOperation, action: ActionReturnError, reason: ReasonNone,
			source: SourceSignal,
		},
		signals:    []Signal{SignalControlCallFailure},
		name:       "notification or control call failed",
		handling:   "One attempt and no replay, since it may have had its effect; its error is returned.",
		controller: "Nothing changes.",
	},
	{
		facts: facts{
			class: ClassRemoteMetadata, scope: ScopeOperation, action: ActionRefreshMetadata, reason: ReasonRemoteMetadata,
			source: SourceSignal,
		},
		signals:    []Signal{SignalStaleMetadata},
		name:       "address, rkey, permission or other metadata out of date",
		handling:   "Metadata and endpoint generation are refreshed, then the usual retry runs.",
		controller: "REMOTE_METADATA, task UNKNOWN. It says more only if the refreshed generation times out too.",
	},
	{
		facts: facts{
			class: ClassCancelled, scope: ScopeOperation, action: ActionCleanUp, reason: ReasonNone,
			source: SourceSignal, flags: endsAttempt,
		},
		signals:    []Signal{SignalCancel},
		name:       "application cancelled the request",
		handling:   "The attempt is over; its bytes come back once, with the completion, flush or teardown.",
		controller: "No root failure. Later flushes are derived. Without other evidence the task is UNKNOWN.",
	},
	{
		facts: facts{
			class: ClassCancelled, scope: ScopeQP, action: ActionCleanUp, reason: ReasonNone,
			source: SourceSignal, flags: releases,
		},
		signals:    []Signal{SignalTeardown},
		name:       "QP torn down or old endpoint reclaimed",
		handling:   "Every permit still open on the QP comes back once.",
		controller: "No root failure. Later flushes are derived. Without other evidence the task is UNKNOWN.",
	},
	{
		facts: facts{
			class: ClassNotPosted, scope: ScopeRoute, action: ActionFailover, reason: ReasonNoUsablePath,
			source: SourceSignal,
		},
		signals:    []Signal{SignalNoRailQuarantined},
		name:       "no RDMA rail left, with quarantine or no-path evidence",
		handling:   "The engine's failover between transports takes over.",
		controller: "NO_USABLE_PATH, task LONG_UNAVAILABLE. The final status is not the controller's.",
	},
	{
		facts: facts{
			class: ClassNotPosted, scope: ScopeOperation, action: ActionFailover, reason: ReasonNone,
			source: SourceSignal,
		},
		signals:    []Signal{SignalNoRail},
		name:       "no RDMA rail left, without evidence about the paths",
		handling:   "The engine's failover between transports takes over.",
		controller: "Task UNKNOWN. The final status is not the controller's.",
	},
	{
		facts: facts{
			class: ClassConnection, scope: ScopeRoute, action: ActionReconnect, reason: ReasonNone,
			source: SourceCMEvent, flags: rootCause,
		},
		cmEvents:   []CMEventType{CMEventDisconnected, CMEventUnreachable},
		name:       "connection lost or peer unreachable",
		handling:   "The owner of the connection isolates it and reconnects.",
		controller: "Evidence about the connection of this route, not counted as a hard error.",
	},
	{
		facts: facts{
			class: ClassFatal, scope: ScopeDevice, action: ActionIsolateDevice, reason: ReasonFatal,
			source: SourceCMEvent, flags: immediate | rootCause,
		},
		cmEvents:   []CMEventType{CMEventDeviceRemoval},
		name:       "device removed",
		handling:   "The owner destroys its connection identifiers; the local device is isolated.",
		controller: "The device stays unavailable. The peer has not failed.",
	},
	{
		facts: facts{
			class: ClassControlPlane, scope: ScopeOperation, action: ActionReturnError, reason: ReasonNone,
			source: SourceCMEvent,
		},
		cmEvents: []CMEventType{
			CMEventAddrError, CMEventRouteError, CMEventConnectError, CMEventRejected,
			CMEventMulticastError, CMEventAddrInfoError,
		},
		name:       "attempt to resolve, connect or join failed",
		handling:   "The error goes to whoever made the attempt.",
		controller: "Nothing was posted, so nothing changes. A probe of a new generation decides about the route.",
	},
	{
		facts: facts{
			class: ClassNonFailure, scope: ScopeNone, action: ActionRefreshObjects, reason: ReasonNone,
			source: SourceCMEvent,
		},
		cmEvents:   []CMEventType{CMEventAddrChange},
		name:       "address of the connection changed",
		handling:   "The owner of the connection refreshes what the change affects.",
		controller: "Nothing changes.",
	},
	{
		facts: facts{
			class: ClassNonFailure, scope: ScopeNone, action: ActionKeep, reason: ReasonNone,
			source: SourceCMEvent,
		},
		cmEvents: []CMEventType{
			CMEventAddrResolved, CMEventRouteResolved, CMEventConnectRequest, CMEventConnectResponse,
			CMEventEstablished, CMEventMulticastJoin, CMEventTimewaitExit, CMEventAddrInfoResolved,
			CMEventUser, CMEventInternal,
		},
		name:       "connection manager notice that is no failure",
		handling:   "All objects stay in use.",
		controller: "Nothing changes.",
	},
	{
		facts: facts{
			class: ClassNone, scope: ScopeNone, action: ActionNone, reason: ReasonNone,
			source: SourceCMEvent,
		},
		rest:       true,
		name:       "connection manager event that is not known",
		handling:   "Its owner goes on handling and logging it.",
		controller: "Nothing changes.",
	},
}
