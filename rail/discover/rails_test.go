package discover

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
)

// What a machine finds is what its peers know of it.
func TestLocal(t *testing.T) {
	eth := Port{Number: 1, State: PortActive, Rate: 400, LinkLayer: LinkEthernet, GIDs: []GID{
		{Addr: ip("fe80::1"), Type: GIDRoCEv1}, {Index: 1, Addr: ip("fe80::1"), Type: GIDRoCEv2}, {Index: 2, Addr: ip("10.0.0.1"), Type: GIDRoCEv2},
	}}
	ib := Port{Number: 2, State: PortInit, LinkLayer: LinkInfiniBand}
	nics := Local([]NIC{
		{Name: "two ports", NUMA: rail.NodeOf(1), Ports: []Port{eth, ib}, Usable: true},
		{Name: "closed", Ports: []Port{{Number: 1, State: PortActive}}, Why: "its node is closed to the process"},
		{Name: "unclear", Ports: []Port{{Number: 1, State: PortActive}}},
		{Name: "no port", Why: "it was gone before it could be read"},
		{Name: "no reason"},
		{Name: "a\xff", Ports: []Port{eth}, Usable: true}, // in JSON it would have the name of the next
		{Name: "a\xfe", Ports: []Port{eth}, Usable: true},
	})
	assert.Equal(t, []rail.NIC{
		{Name: "two ports", Port: 1, NUMA: rail.NodeOf(1), Link: rail.LinkEthernet, Rate: 400, Addrs: []netip.Addr{ip("fe80::1"), ip("10.0.0.1")}},
		{Name: "two ports", Port: 2, NUMA: rail.NodeOf(1), Link: rail.LinkInfiniBand, Unusable: "port 2 is not active but initializing"},
		{Name: "closed", Port: 1, Unusable: "its node is closed to the process"},
		{Name: "unclear", Port: 1, Unusable: "it is not usable, and nothing says why"},
		{Name: "no port", Unusable: "it was gone before it could be read"},
		{Name: "no reason", Unusable: "it has no port"},
	}, nics)

	data, err := json.Marshal(nics)
	require.NoError(t, err)
	var back []rail.NIC
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, nics, back)

	data, err = json.Marshal(Local(nil))
	require.NoError(t, err)
	assert.Equal(t, "[]", string(data), "a machine without NICs has an empty list")
}
