package verbs

import (
	"fmt"
	"net/netip"
	"syscall"
)

// GID is the address of a port in the network layer: an IPv6 address, or an IPv4
// address mapped into one on RoCE v2.
type GID [16]byte

// Addr returns the GID as an address, IPv4 ones unmapped.
func (g GID) Addr() netip.Addr { return netip.AddrFrom16(g).Unmap() }

// IsZero reports whether the GID is all zeros, as in an empty table entry.
func (g GID) IsZero() bool { return g == GID{} }

// String returns the GID as an IPv6 or IPv4 address.
func (g GID) String() string { return g.Addr().String() }

// GIDEntry is one entry of a port's GID table.
type GIDEntry struct {
	Index   uint32
	Port    uint8
	GID     GID
	Type    GIDType // GIDTypeUnknown with libibverbs before rdma-core 31
	IfIndex uint32  // network device of a RoCE GID, 0 if there is none
}

// GID returns one entry of a port's GID table. An empty entry is an error that
// wraps ENODATA, where the library can tell.
func (c *Context) GID(port uint8, index uint32) (GIDEntry, error) {
	const call = "ibv_query_gid"
	var entry GIDEntry
	err := c.while(call, func() error {
		var errno syscall.Errno
		if entry, errno = c.lib.sysQueryGID(c.ptr, port, index); errno != 0 {
			return &Error{
				Call:   call,
				Object: fmt.Sprintf("port %d of %s", port, c.device),
				Reason: fmt.Sprintf("GID index %d", index),
				Errno:  errno,
				Remedy: "take an index that GIDs lists",
			}
		}
		return nil
	})
	return entry, err
}

// GIDs returns the entries of a port's GID table that are in use, by index.
func (c *Context) GIDs(port uint8) ([]GIDEntry, error) {
	const call = "ibv_query_gid_table"
	attr, err := c.QueryPort(port)
	if err != nil {
		return nil, err
	}
	device, err := c.Query()
	if err != nil {
		return nil, err
	}
	var all []GIDEntry
	err = c.while(call, func() error {
		var errno syscall.Errno
		all, errno = c.lib.sysGIDTable(c.ptr, attr.GIDs*max(int(device.Ports), 1))
		if errno == syscall.ENOSYS {
			all, errno = c.scanGIDs(port, attr.GIDs), 0
		}
		if errno != 0 {
			return c.portError(call, port, errno)
		}
		return nil
	})
	used := all[:0]
	for _, e := range all {
		if e.Port == port {
			used = append(used, e)
		}
	}
	return used, err
}

// scanGIDs asks for one entry after the other, for old libraries.
func (c *Context) scanGIDs(port uint8, n int) []GIDEntry {
	var all []GIDEntry
	for i := range n {
		if e, errno := c.lib.sysQueryGID(c.ptr, port, uint32(i)); errno == 0 && !e.GID.IsZero() {
			all = append(all, e)
		}
	}
	return all
}
