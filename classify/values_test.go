package classify

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNumbersOfTheEnums holds the constants to the order of the C enumerations,
// whose members count up from 0.
func TestNumbersOfTheEnums(t *testing.T) {
	for _, enum := range []struct {
		name string
		got  []fmt.Stringer
		text []string
	}{
		{"ibv_wc_status", []fmt.Stringer{
			StatusSuccess, StatusLocLenErr, StatusLocQPOpErr, StatusLocEECOpErr, StatusLocProtErr, StatusWRFlushErr,
			StatusMWBindErr, StatusBadRespErr, StatusLocAccessErr, StatusRemInvReqErr, StatusRemAccessErr, StatusRemOpErr,
			StatusRetryExcErr, StatusRNRRetryExcErr, StatusLocRDDViolErr, StatusRemInvRDReqErr, StatusRemAbortErr,
			StatusInvEECNErr, StatusInvEECStateErr, StatusFatalErr, StatusRespTimeoutErr, StatusGeneralErr,
			StatusTMErr, StatusTMRndvIncomplete,
		}, []string{
			"success", "local length error", "local QP operation error", "local EE context operation error",
			"local protection error", "work request flushed", "memory window bind error", "bad response",
			"local access error", "remote invalid request", "remote access error", "remote operation error",
			"transport retries exceeded", "receiver-not-ready retries exceeded", "local RDD violation",
			"remote invalid RD request", "remote aborted", "invalid EE context number", "invalid EE context state",
			"fatal error", "response timeout", "general error", "tag matching error", "tag matching rendezvous incomplete",
		}},
		{"ibv_event_type", []fmt.Stringer{
			EventCQErr, EventQPFatal, EventQPReqErr, EventQPAccessErr, EventCommEst, EventSQDrained, EventPathMig,
			EventPathMigErr, EventDeviceFatal, EventPortActive, EventPortErr, EventLIDChange, EventPKeyChange,
			EventSMChange, EventSRQErr, EventSRQLimitReached, EventQPLastWQEReached, EventClientReregister,
			EventGIDChange, EventWQFatal,
		}, []string{
			"CQ error", "QP fatal", "QP request error", "QP access error", "communication established",
			"send queue drained", "path migrated", "path migration error", "device fatal", "port active", "port error",
			"LID change", "P_Key change", "subnet manager change", "SRQ error", "SRQ limit reached", "last WQE reached",
			"client reregister", "GID change", "WQ fatal",
		}},
		{"rdma_cm_event_type", []fmt.Stringer{
			CMEventAddrResolved, CMEventAddrError, CMEventRouteResolved, CMEventRouteError, CMEventConnectRequest,
			CMEventConnectResponse, CMEventConnectError, CMEventUnreachable, CMEventRejected, CMEventEstablished,
			CMEventDisconnected, CMEventDeviceRemoval, CMEventMulticastJoin, CMEventMulticastError, CMEventAddrChange,
			CMEventTimewaitExit, CMEventAddrInfoResolved, CMEventAddrInfoError, CMEventUser, CMEventInternal,
		}, []string{
			"address resolved", "address error", "route resolved", "route error", "connect request", "connect response",
			"connect error", "unreachable", "rejected", "established", "disconnected", "device removal", "multicast join",
			"multicast error", "address change", "timewait exit", "address information resolved",
			"address information error", "user event", "internal event",
		}},
	} {
		t.Run(enum.name, func(t *testing.T) {
			require.Len(t, enum.text, len(enum.got))
			for i, constant := range enum.got {
				assert.Equal(t, fmt.Sprint(i), fmt.Sprintf("%d", constant), "number of %q", enum.text[i])
				assert.Equal(t, enum.text[i], constant.String(), "text of number %d", i)
			}
		})
	}
}

func TestUnknownNumbersPrintAsNumbers(t *testing.T) {
	assert.Equal(t, "Status(4294967295)", Status(1<<32-1).String(), "-1 of a C int")
	assert.Equal(t, "EventType(20)", EventType(20).String())
	assert.Equal(t, "CMEventType(20)", CMEventType(20).String())
	assert.Equal(t, "Signal(0)", Signal(0).String())
}

func TestScopesRunFromNarrowToWide(t *testing.T) {
	assert.IsIncreasing(t, []Scope{
		ScopeNone, ScopeOperation, ScopeQP, ScopeCQ, ScopeRoute, ScopePort, ScopeDevice,
	})
}

func TestReasonsBearTheNamesOfTheSpecification(t *testing.T) {
	for reason, name := range map[Reason]string{
		ReasonNone: "NONE", ReasonByteWindow: "BYTE_WINDOW", ReasonCongestionFeedback: "CONGESTION_FEEDBACK",
		ReasonReceiverPressure: "RECEIVER_PRESSURE", ReasonRouteTimeout: "ROUTE_TIMEOUT",
		ReasonRouteSuspect: "ROUTE_SUSPECT", ReasonProbing: "PROBING", ReasonPathQuarantined: "PATH_QUARANTINED",
		ReasonProbeFailed: "PROBE_FAILED", ReasonNoUsablePath: "NO_USABLE_PATH",
		ReasonStaleGeneration: "STALE_GENERATION", ReasonNeedsRenew: "NEEDS_RENEW",
		ReasonLocalConfiguration: "LOCAL_CONFIGURATION", ReasonRemoteMetadata: "REMOTE_METADATA",
		ReasonDerivedFlush: "DERIVED_FLUSH", ReasonFatal: "FATAL",
	} {
		assert.Equal(t, name, reason.String())
	}
}
