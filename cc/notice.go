package cc

//go:generate go tool stringer -type=Notice -linecomment

// Notice is news of a route that is no change of its state. It comes to the same
// hook and log as transitions.
type Notice uint8

const (
	// NoNotice: a transition.
	NoNotice Notice = iota // none
	// PersistentFault: three failures for local configuration or remote metadata
	// within ten minutes, and no success. Rebuilding the connection does not help.
	PersistentFault // persistent fault
	// LastRouteKept: timeouts would have quarantined the route, but no other to the
	// peer is usable. It stays, limited to the probe window.
	LastRouteKept // last route to the peer is kept
	// PortExhausted: every route of the local port is barred, and they led to two
	// peers or more. New routes there are limited to the probe window.
	PortExhausted // no usable route on the port
	// DeviceExhausted: the same for the whole device.
	DeviceExhausted // no usable route on the device
)
