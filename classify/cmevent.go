package classify

//go:generate go tool stringer -type=CMEventType -linecomment

// CMEventType is the type of an RDMA connection manager event, with the numeric
// values of librdmacm's enum rdma_cm_event_type. Engines that use librdmacm pass
// the number; this package does not need that library. Values above
// [CMEventInternal] are not known here and mean nothing.
type CMEventType uint32

// The 20 events of enum rdma_cm_event_type.
const (
	CMEventAddrResolved     CMEventType = 0  // address resolved
	CMEventAddrError        CMEventType = 1  // address error
	CMEventRouteResolved    CMEventType = 2  // route resolved
	CMEventRouteError       CMEventType = 3  // route error
	CMEventConnectRequest   CMEventType = 4  // connect request
	CMEventConnectResponse  CMEventType = 5  // connect response
	CMEventConnectError     CMEventType = 6  // connect error
	CMEventUnreachable      CMEventType = 7  // unreachable
	CMEventRejected         CMEventType = 8  // rejected
	CMEventEstablished      CMEventType = 9  // established
	CMEventDisconnected     CMEventType = 10 // disconnected
	CMEventDeviceRemoval    CMEventType = 11 // device removal
	CMEventMulticastJoin    CMEventType = 12 // multicast join
	CMEventMulticastError   CMEventType = 13 // multicast error
	CMEventAddrChange       CMEventType = 14 // address change
	CMEventTimewaitExit     CMEventType = 15 // timewait exit
	CMEventAddrInfoResolved CMEventType = 16 // address information resolved
	CMEventAddrInfoError    CMEventType = 17 // address information error
	CMEventUser             CMEventType = 18 // user event
	CMEventInternal         CMEventType = 19 // internal event
)
