package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/rail/discover"
)

// Each port has its own MTUs, and they go to peers.
func TestFacts(t *testing.T) {
	machine := loadTree(t, "mlx5")
	machine.set(netFile("mtu"), "1500")
	down("3: Disabled", "mlx5_0")(machine)
	h := machine.host()
	active(512)(h)
	h.look()
	facts := h.facts()
	require.Len(t, facts, 2)
	assert.Equal(t, "mlx5_0", facts[0].Name)
	assert.Equal(t, 4096, facts[0].MTU)
	assert.Equal(t, 9000, facts[0].NetMTU)
	assert.Equal(t, "port 1 is down (physical state: disabled)", facts[0].Unusable)
	assert.Equal(t, "mlx5_1", facts[1].Name)
	assert.Equal(t, 512, facts[1].MTU, "as libibverbs says")
	assert.Equal(t, 1500, facts[1].NetMTU)
	assert.Equal(t, rail.LinkEthernet, facts[1].Link)

	// A second port of one of them, on another network.
	for name, text := range machine {
		if rest, found := strings.CutPrefix(name, portFile("mlx5_1", "")); found {
			machine["sys/class/infiniband/mlx5_1/ports/2/"+rest] = strings.ReplaceAll(text, "ens1f1np1", "ens2")
		}
	}
	machine.set("sys/class/net/ens2/mtu", "4200")
	h = machine.host()
	h.look()
	facts = h.facts()
	require.Len(t, facts, 3)
	assert.Equal(t, 1500, facts[1].NetMTU)
	assert.Equal(t, uint8(2), facts[2].Port)
	assert.Equal(t, 4200, facts[2].NetMTU)

	h = loadTree(t, "bad").host()
	h.look()
	for _, f := range h.facts() {
		assert.Zero(t, f.MTU, "unknown is unknown")
	}
}

// The network devices of a port are those of its GIDs, in the table's order. One without
// GIDs has the device's, unless there are more ports.
func TestPortNetDevs(t *testing.T) {
	gids := func(netDevs ...string) (all []discover.GID) {
		for i, name := range netDevs {
			all = append(all, discover.GID{Index: i, NetDev: name})
		}
		return all
	}
	nic := func(ports int) *discover.NIC {
		return &discover.NIC{NetDevs: []string{"a", "b"}, Ports: make([]discover.Port, ports)}
	}
	for _, tt := range []struct {
		ports int
		gids  []discover.GID
		want  []string
	}{
		{1, gids("b", "", "b", "a"), []string{"b", "a"}},
		{2, gids("b", "", "b", "a"), []string{"b", "a"}},
		{1, gids(""), []string{"a", "b"}},
		{2, gids(""), nil},
		{1, nil, []string{"a", "b"}},
	} {
		assert.Equal(t, tt.want, port{nic(tt.ports), discover.Port{GIDs: tt.gids}}.netDevs())
	}
}
