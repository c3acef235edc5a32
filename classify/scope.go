package classify

//go:generate go tool stringer -type=Scope -linecomment

// Scope is how far the handling of a verdict may reach, from narrow to wide.
// Nothing outside of it may be isolated on this verdict's account: a QP error
// says nothing about other QPs of the port, a device error nothing about the
// peer. Specification: failure scope table.
type Scope uint8

const (
	// ScopeNone touches nothing.
	ScopeNone Scope = iota // none
	// ScopeOperation is one work request.
	ScopeOperation // operation
	// ScopeQP is one QP in its current generation. Errors of a WQ or an SRQ reach
	// the QPs that depend on it, and no others.
	ScopeQP // QP
	// ScopeCQ is one CQ with all QPs that complete on it.
	ScopeCQ // CQ
	// ScopeRoute is one path from a local NIC to a remote NIC.
	ScopeRoute // route
	// ScopePort is one port of a local device, with its QPs, GIDs and routes.
	ScopePort // port
	// ScopeDevice is one local device.
	ScopeDevice // device
)
