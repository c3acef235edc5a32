package discover

import (
	"encoding/json"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
)

const (
	root5  = "pci0000:00/0000:00:02.0/0000:05:00.0"
	root5b = "pci0000:00/0000:00:02.0/0000:05:00.1"
)

func ip(text string) netip.Addr { return netip.MustParseAddr(text) }

// Every kind of device that drivers make, alone in a tree.
func TestReadKinds(t *testing.T) {
	linkLocal := "fe80:0000:0000:0000:0e42:a1ff:fe00:0001"
	tests := []struct {
		name   string
		device device
		want   NIC
	}{
		{
			name: "mlx5 on Ethernet",
			device: device{
				name: "mlx5_0", parent: root5, numa: "1", uverbs: "uverbs0", netDevs: []string{"ens1f0np0"}, visible: []string{"ens1f0np0"},
				ports: map[string]port{"1": activePort(append(roce(linkLocal, "ens1f0np0"), roce(mapped(10, 0, 0, 1), "ens1f0np0")...)...)},
			},
			want: NIC{
				Name: "mlx5_0", NodeType: NodeCA, NetDevs: []string{"ens1f0np0"}, PCI: "0000:05:00.0", NUMA: rail.NodeOf(1), Uverbs: "uverbs0",
				Ports: []Port{{Number: 1, State: PortActive, PhysState: PhysLinkUp, Rate: 100, LinkLayer: LinkEthernet, GIDs: []GID{
					{0, ip("fe80::e42:a1ff:fe00:1"), GIDRoCEv1, "ens1f0np0"}, {1, ip("fe80::e42:a1ff:fe00:1"), GIDRoCEv2, "ens1f0np0"},
					{2, ip("10.0.0.1"), GIDRoCEv1, "ens1f0np0"}, {3, ip("10.0.0.1"), GIDRoCEv2, "ens1f0np0"},
				}}},
				Usable: true, Why: "it has uverbs0, port 1 is active",
			},
		},
		{
			name: "bonded mlx5: the bond and its VLAN, not the members",
			device: device{
				name: "mlx5_bond_0", parent: root5, numa: "0", uverbs: "uverbs3", netDevs: []string{"ens1f0np0"}, visible: []string{"bond0", "bond0.7"},
				ports: map[string]port{"1": activePort(gid{mapped(10, 0, 0, 1), "RoCE v2", "bond0"}, gid{mapped(10, 7, 0, 1), "RoCE v2", "bond0.7"})},
			},
			want: NIC{
				Name: "mlx5_bond_0", NodeType: NodeCA, NetDevs: []string{"bond0", "bond0.7"}, PCI: "0000:05:00.0", NUMA: rail.NodeOf(0), Uverbs: "uverbs3",
				Ports: []Port{{Number: 1, State: PortActive, PhysState: PhysLinkUp, Rate: 100, LinkLayer: LinkEthernet, GIDs: []GID{
					{0, ip("10.0.0.1"), GIDRoCEv2, "bond0"}, {1, ip("10.7.0.1"), GIDRoCEv2, "bond0.7"},
				}}},
				Usable: true, Why: "it has uverbs3, port 1 is active",
			},
		},
		{
			name: "bnxt, port down, node unknown",
			device: device{
				name: "bnxt_re0", parent: root5, numa: "-1", uverbs: "uverbs0", netDevs: []string{"enp5s0f0np0"},
				ports: map[string]port{"1": {state: "1: DOWN", phys: "3: Disabled", rate: "2.5 Gb/sec (1X SDR)", link: "Ethernet", size: 4}},
			},
			want: NIC{
				Name: "bnxt_re0", NodeType: NodeCA, NetDevs: []string{"enp5s0f0np0"}, PCI: "0000:05:00.0", Uverbs: "uverbs0",
				Ports: []Port{{Number: 1, State: PortDown, PhysState: PhysDisabled, Rate: 2.5, LinkLayer: LinkEthernet, GIDs: []GID{}}},
				Why:   "port 1 is down (physical state: disabled)",
			},
		},
		{
			name: "irdma as iWARP",
			device: device{
				name: "irdma0", parent: root5, nodeType: "4: RNIC", numa: "0", uverbs: "uverbs0", netDevs: []string{"ens2"},
				ports: map[string]port{"1": activePort(gid{"0242:ac11:0002:0000:0000:0000:0000:0000", "IB/RoCE v1", ""})},
			},
			want: NIC{
				Name: "irdma0", NodeType: NodeRNIC, NetDevs: []string{"ens2"}, PCI: "0000:05:00.0", NUMA: rail.NodeOf(0), Uverbs: "uverbs0",
				Ports: []Port{{Number: 1, State: PortActive, PhysState: PhysLinkUp, Rate: 100, LinkLayer: LinkEthernet, GIDs: []GID{
					{0, ip("242:ac11:2::"), GIDOther, ""},
				}}},
				Usable: true, Why: "it has uverbs0, port 1 is active",
			},
		},
		{
			name: "EFA",
			device: device{
				name: "rdmap0s31", parent: "pci0000:00/0000:00:1f.0", nodeType: "7: unspecified", numa: "0", uverbs: "uverbs0",
				ports: map[string]port{"1": {
					state: "4: ACTIVE", phys: "5: LinkUp", rate: "100 Gb/sec (4X EDR)", link: "Unspecified", size: 1,
					gids: map[int]gid{0: {"fe80:0000:0000:0000:04a5:ff0f:fe00:0001", "IB/RoCE v1", ""}},
				}},
			},
			want: NIC{
				Name: "rdmap0s31", NodeType: NodeUnspecified, NetDevs: []string{}, PCI: "0000:00:1f.0", NUMA: rail.NodeOf(0), Uverbs: "uverbs0",
				Ports: []Port{{Number: 1, State: PortActive, PhysState: PhysLinkUp, Rate: 100, LinkLayer: LinkUnspecified, GIDs: []GID{
					{0, ip("fe80::4a5:ff0f:fe00:1"), GIDOther, ""},
				}}},
				Usable: true, Why: "it has uverbs0, port 1 is active",
			},
		},
		{
			name: "InfiniBand, two ports",
			device: device{
				name: "ibp5s0", parent: root5, numa: "3", uverbs: "uverbs1", netDevs: []string{"ibp5s0", "ibp5s0d1"},
				ports: map[string]port{
					"2": {state: "2: INIT", phys: "2: Polling", rate: "10 Gb/sec (4X SDR)", link: "InfiniBand", size: 1},
					"1": {
						state: "4: ACTIVE", phys: "5: LinkUp", rate: "400 Gb/sec (4X NDR)", link: "InfiniBand", size: 2,
						gids: map[int]gid{0: {"fe80:0000:0000:0000:e41d:2d03:0012:3450", "IB/RoCE v1", ""}},
					},
				},
			},
			want: NIC{
				Name: "ibp5s0", NodeType: NodeCA, NetDevs: []string{"ibp5s0", "ibp5s0d1"}, PCI: "0000:05:00.0", NUMA: rail.NodeOf(3), Uverbs: "uverbs1",
				Ports: []Port{
					{Number: 1, State: PortActive, PhysState: PhysLinkUp, Rate: 400, LinkLayer: LinkInfiniBand, GIDs: []GID{
						{0, ip("fe80::e41d:2d03:12:3450"), GIDIB, ""},
					}},
					{Number: 2, State: PortInit, PhysState: PhysPolling, Rate: 10, LinkLayer: LinkInfiniBand, GIDs: []GID{}},
				},
				Usable: true, Why: "it has uverbs1, port 1 is active",
			},
		},
		{
			name:   "SR-IOV VF without port and without node",
			device: device{name: "mlx5_7", parent: "pci0000:00/0000:05:00.7", numa: "0"},
			want: NIC{
				Name: "mlx5_7", NodeType: NodeCA, NetDevs: []string{}, PCI: "0000:05:00.7", NUMA: rail.NodeOf(0), Ports: []Port{},
				Why: "it has no uverbs node; load the ib_uverbs module; it has no port",
			},
		},
		{
			name:   "sub-function on the auxiliary bus",
			device: device{name: "mlx5_2", parent: root5 + "/mlx5_core.sf.4", uverbs: "uverbs2"},
			want: NIC{
				Name: "mlx5_2", NodeType: NodeCA, NetDevs: []string{}, PCI: "0000:05:00.0", Uverbs: "uverbs2", Ports: []Port{},
				Why: "it has no port",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSysfs()
			s.add(tt.device)
			tt.want.Problems = []string{}
			assert.Equal(t, tt.want, readOne(t, s))
		})
	}
}

func TestReadSoftwareDevice(t *testing.T) {
	s := newSysfs()
	dir := s.add(device{name: "rxe0", parent: "virtual", uverbs: "uverbs0", visible: []string{"eth0"}, ports: map[string]port{"1": activePort(gid{mapped(10, 0, 0, 1), "RoCE v2", "eth0"})}})
	s.write(dir+"/parent", "eth0")
	n := readOne(t, s)
	assert.Empty(t, n.PCI, "software has no PCI function")
	assert.Equal(t, rail.Node{}, n.NUMA, "and no NUMA node: unknown, not 0")
	assert.Equal(t, []string{"eth0"}, n.NetDevs, "named by the GID and by the parent file, listed once")
	assert.True(t, n.Usable)
	assert.Empty(t, n.Problems)

	for name := range s.MapFS {
		if path := dir + "/ports/1/gid_attrs/"; len(name) > len(path) && name[:len(path)] == path {
			delete(s.MapFS, name)
		}
	}
	assert.Equal(t, []string{"eth0"}, readOne(t, s).NetDevs, "the parent file alone is enough")
}

// A sub-function without a node of its own is where its PCI function is.
func TestReadSubFunctionNode(t *testing.T) {
	s := newSysfs()
	s.add(device{name: "mlx5_0", parent: root5, numa: "1"})
	s.add(device{name: "mlx5_2", parent: root5 + "/mlx5_core.sf.4"})
	nics := readAll(t, s)
	require.Len(t, nics, 2)
	assert.Equal(t, rail.NodeOf(1), nics[1].NUMA)
}

// Two devices of one card stay apart, whatever they are called.
func TestReadTwoDevicesPerCard(t *testing.T) {
	s := newSysfs()
	s.add(device{name: "irdma1", parent: root5b, uverbs: "uverbs0", netDevs: []string{"ens1f1"}, ports: map[string]port{"1": activePort(roce(mapped(10, 0, 1, 1), "ens1f1")...)}})
	s.add(device{name: "irdma0", parent: root5, uverbs: "uverbs1", netDevs: []string{"ens1f0"}, ports: map[string]port{"1": activePort(roce(mapped(10, 0, 0, 1), "ens1f0")...)}})
	nics := readAll(t, s)
	require.Len(t, nics, 2)
	assert.Equal(t, []string{"irdma0", "irdma1"}, []string{nics[0].Name, nics[1].Name}, "sorted by name")
	assert.Equal(t, []string{"0000:05:00.0", "0000:05:00.1"}, []string{nics[0].PCI, nics[1].PCI})
	assert.Equal(t, []string{"uverbs1", "uverbs0"}, []string{nics[0].Uverbs, nics[1].Uverbs})
	assert.Equal(t, []string{"ens1f1"}, nics[1].NetDevs)
}

// Names are opaque: no prefix, separator or likeness means anything.
func TestReadNames(t *testing.T) {
	names := []string{"mlx5_1", "mlx5_10", "mlx5_bond_0", "rocep3s0f0", "ibp0s12f4", "siw0", "erdma_0", "hns_0", "rdma5", "a@b", "a:b", "a b", "..c", "name with\nline", "é", "uverbs0"}
	s := newSysfs()
	for _, name := range names {
		s.add(device{name: name, parent: root5, uverbs: "uverbs-" + name, ports: map[string]port{"1": activePort(roce(mapped(10, 0, 0, 1), "eth0")...)}, visible: []string{"eth0"}})
	}
	nics := readAll(t, s)
	require.Len(t, nics, len(names))
	for _, n := range nics {
		assert.Contains(t, names, n.Name)
		if n.Name == "name with\nline" {
			assert.Empty(t, n.Uverbs, "the file that names it is not one line of text")
			continue
		}
		assert.Equal(t, "uverbs-"+n.Name, n.Uverbs, "the node that names %q whole", n.Name)
		assert.True(t, n.Usable, "%q: %s", n.Name, n.Why)
	}
}

// Only ACTIVE carries traffic.
func TestUsableStates(t *testing.T) {
	for text, usable := range map[string]bool{"0: NOP": false, "1: DOWN": false, "2: INIT": false, "3: ARMED": false, "4: ACTIVE": true, "5: ACTIVE_DEFER": false} {
		s := newSysfs()
		p := activePort()
		p.state = text
		s.add(device{name: "mlx5_0", parent: root5, uverbs: "uverbs0", ports: map[string]port{"1": p}})
		n := readOne(t, s)
		assert.Equal(t, usable, n.Usable, "%s: %s", text, n.Why)
	}
}

func TestReadNoDevices(t *testing.T) {
	nics, err := Read(fstest.MapFS{"class/net/lo/type": {Data: []byte("772\n")}})
	require.NoError(t, err, "a machine without RDMA is no error")
	assert.NotNil(t, nics)
	assert.Empty(t, nics)

	nics, err = Read(fstest.MapFS{"class/infiniband": {Mode: fs.ModeDir | 0o555}})
	require.NoError(t, err, "nor is a driver without devices")
	assert.Empty(t, nics)
}

func TestReadNoSysfs(t *testing.T) {
	_, err := Read(fstest.MapFS{"etc/passwd": {}})
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "the root must hold class")
	_, err = Read(nil)
	assert.ErrorContains(t, err, "pass os.DirFS")
}

// NICs go over the wire to peers and come back equal.
func TestJSON(t *testing.T) {
	s := newSysfs()
	s.add(device{name: "mlx5_0", parent: root5, numa: "0", uverbs: "uverbs0", ports: map[string]port{"1": activePort(roce(mapped(10, 0, 0, 1), "eth0")...)}})
	s.add(device{name: "mlx5_1", parent: root5b, numa: "-1"})
	nics := readAll(t, s)
	data, err := json.Marshal(nics)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"numa":0`, "node 0 is known")
	assert.Contains(t, string(data), `"numa":null`, "-1 is unknown")
	assert.Contains(t, string(data), `"state":"active"`)
	assert.Contains(t, string(data), `{"index":1,"addr":"10.0.0.1","type":"RoCE v2","net_dev":"eth0"}`)
	assert.Equal(t, 1, strings.Count(string(data), "null"), "lists are lists, even when empty")
	var back []NIC
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, nics, back)
}
