package discover

import (
	"encoding/json"
	"math"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
)

// Whatever a file holds, the reader neither panics nor invents: the neighbour is
// untouched, values stay in their ranges, and the result survives JSON.
func FuzzFileContent(f *testing.F) {
	files := []string{"node_type", "parent", "ports/1/state", "ports/1/phys_state", "ports/1/rate", "ports/1/link_layer", "ports/1/gids/0",
		"ports/1/gid_attrs/types/0", "ports/1/gid_attrs/ndevs/0", "device/numa_node", "device/uevent", "uverbs"}
	for i := range files {
		for _, content := range []string{"", "\n", "4: ACTIVE\n", "-1\n", "1e309 Gb/sec\n", "..\n", "a/b\n", "\x00\xff", "PCI_SLOT_NAME=0000:00:00.0\n", strings.Repeat("9", maxFile+1), mapped(10, 0, 0, 1)} {
			f.Add(uint8(i), []byte(content))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		s, dir := pairOfNICs()
		name := files[int(which)%len(files)]
		file := path.Join(dir, name)
		if below, found := strings.CutPrefix(name, "device/"); found {
			file = path.Join("devices", root5, below)
		} else if name == "uverbs" {
			file = classUverbs + "/uverbs0/ibdev"
		}
		s.MapFS[file] = &fstest.MapFile{Data: content, Mode: 0o444}

		nics := readAll(t, s)
		require.Len(t, nics, 2)
		if name == "uverbs" {
			nics[1].Uverbs, nics[1].Problems = "uverbs1", []string{} // the content may be the neighbour's name
		}
		n := requireGood(t, nics)
		assert.Equal(t, "bad", n.Name)
		assert.True(t, n.NUMA == rail.Node{} || n.NUMA.Known && n.NUMA.ID >= 0 && n.NUMA.ID <= maxNode, "NUMA node %+v", n.NUMA)
		assert.True(t, n.PCI == "" || pciAddress.MatchString(n.PCI), "PCI address %q", n.PCI)
		assert.NotEmpty(t, n.Why)
		assert.LessOrEqual(t, len(n.Problems), maxFaults+1)
		for _, problem := range n.Problems {
			assert.Less(t, len(problem), 1024, "a problem is for reading")
		}
		for _, p := range n.Ports {
			assert.LessOrEqual(t, p.State, PortActiveDefer)
			assert.LessOrEqual(t, p.PhysState, PhysTest)
			assert.False(t, math.IsNaN(p.Rate) || p.Rate < 0 || p.Rate > rail.MaxRate, "rate %v", p.Rate)
			for _, g := range p.GIDs {
				assert.True(t, g.Addr.IsValid() && g.Addr.Zone() == "", "GID %v", g)
			}
		}
		for _, d := range n.NetDevs {
			assert.NoError(t, checkFileName(d))
		}
		data, err := json.Marshal(n)
		require.NoError(t, err)
		var back NIC
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, n, back)
	})
}
