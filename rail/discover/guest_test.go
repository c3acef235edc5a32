//go:build guest

package discover

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/rail"
)

func openLab(t *testing.T) *softroce.Lab {
	t.Helper()
	lab, err := softroce.Current()
	require.NoError(t, err, "guest tests must run in a guest: go test -tags guest -exec guestexec")
	require.NoError(t, lab.Heal())
	t.Cleanup(func() { assert.NoError(t, lab.Heal()) })
	return lab
}

func find(t *testing.T, nics []NIC, name string) NIC {
	t.Helper()
	i := slices.IndexFunc(nics, func(n NIC) bool { return n.Name == name })
	require.GreaterOrEqual(t, i, 0, "%s is found", name)
	return nics[i]
}

func TestGuestNICs(t *testing.T) {
	lab := openLab(t)
	begin := time.Now()
	nics, err := NICs()
	require.NoError(t, err)
	t.Logf("%d NICs in %v", len(nics), time.Since(begin))
	require.Len(t, nics, len(lab.All()))
	assert.True(t, slices.IsSortedFunc(nics, func(a, b NIC) int { return strings.Compare(a.Name, b.Name) }))
	for _, want := range lab.All() {
		n := find(t, nics, want.Device)
		assert.True(t, n.Usable, "%v: %s", want, n.Why)
		assert.Empty(t, n.Problems, "%v: sysfs and rdmamap agree", want)
		assert.Equal(t, []string{want.NetDev}, n.NetDevs)
		assert.Equal(t, NodeCA, n.NodeType)
		assert.Empty(t, n.PCI, "software has no PCI function")
		assert.Equal(t, rail.Node{}, n.NUMA)
		assert.FileExists(t, filepath.Join("/sys/class/infiniband_verbs", n.Uverbs, "ibdev"))

		require.Len(t, n.Ports, 1)
		p := n.Ports[0]
		assert.Equal(t, uint8(1), p.Number)
		assert.Equal(t, PortActive, p.State)
		assert.Equal(t, PhysLinkUp, p.PhysState)
		assert.Equal(t, LinkEthernet, p.LinkLayer)
		assert.Positive(t, p.Rate)
		assert.Contains(t, p.GIDs, GID{Index: want.GIDIndex, Addr: want.Addr, Type: GIDRoCEv2, NetDev: want.NetDev})
	}
}

func TestGuestPortDown(t *testing.T) {
	lab := openLab(t)
	undo, err := lab.LinkDown(lab.B[0])
	require.NoError(t, err)
	usable := func() map[string]bool {
		nics, err := NICs()
		require.NoError(t, err)
		all := map[string]bool{}
		for _, n := range nics {
			all[n.Name] = n.Usable
			if !n.Usable {
				assert.Contains(t, n.Why, "port 1 is down")
			}
		}
		return all
	}
	const patience, interval = 30 * time.Second, 50 * time.Millisecond
	require.Eventually(t, func() bool { return !usable()[lab.B[0].Device] }, patience, interval, "the port of %v goes down", lab.B[0])
	assert.True(t, usable()[lab.B[1].Device], "the neighbour's port stays up")
	require.NoError(t, undo())
	require.Eventually(t, func() bool { return usable()[lab.B[0].Device] }, patience, interval, "the port of %v comes back", lab.B[0])
}

// A node that was not passed into the container makes the NIC unusable.
func TestGuestNodeAbsent(t *testing.T) {
	lab := openLab(t)
	before, err := NICs()
	require.NoError(t, err)
	node := filepath.Join("/dev/infiniband", find(t, before, lab.A[0].Device).Uverbs)
	require.NoError(t, os.Rename(node, node+".away"))
	t.Cleanup(func() { assert.NoError(t, os.Rename(node+".away", node)) })

	after, err := NICs()
	require.NoError(t, err)
	for _, n := range after {
		away := n.Name == lab.A[0].Device
		assert.NotEqual(t, away, n.Usable, "%s: %s", n.Name, n.Why)
		if away {
			assert.Equal(t, node+" does not exist here; pass it into the container", n.Why)
		}
	}
}
