package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/rail/discover"
)

// machine has a NIC of each fate.
func machine() ([]discover.NIC, error) {
	active := discover.Port{
		Number: 1, State: discover.PortActive, PhysState: discover.PhysLinkUp, Rate: 200, LinkLayer: discover.LinkEthernet,
		GIDs: []discover.GID{{Index: 3, Addr: netip.MustParseAddr("10.0.0.1"), Type: discover.GIDRoCEv2, NetDev: "ens1f0np0"}},
	}
	down := discover.Port{Number: 2, State: discover.PortDown, PhysState: discover.PhysDisabled, LinkLayer: discover.LinkInfiniBand}
	return []discover.NIC{
		{
			Name: "mlx5_0", NetDevs: []string{"ens1f0np0"}, PCI: "0000:05:00.0", NUMA: rail.NodeOf(1), Uverbs: "uverbs0",
			Ports: []discover.Port{active, down}, Usable: true, Why: "it has uverbs0, port 1 is active",
		},
		{Name: "mlx5_1", PCI: "0000:05:00.1", Why: "it has no port", Problems: []string{"NUMA node: read class/infiniband/mlx5_1/device/numa_node: the file is empty"}},
	}, nil
}

func noNICs() ([]discover.NIC, error) { return nil, nil }

func runFor(t *testing.T, find func() ([]discover.NIC, error), args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, diag bytes.Buffer
	status = run(args, find, &out, &diag)
	return status, out.String(), diag.String()
}

func TestTable(t *testing.T) {
	status, out, diag := runFor(t, machine)
	assert.Zero(t, status)
	assert.Empty(t, diag)
	assert.Equal(t, `
NIC    PORT STATE  Gb/s LINK       NUMA    PCI          NET DEVICES USABLE
mlx5_0 1    active 200  Ethernet   1       0000:05:00.0 ens1f0np0   yes
       2    down   -    InfiniBand
mlx5_1 -    -      -    -          unknown 0000:05:00.1 -           no

1 of 2 NICs usable

mlx5_1
  - not usable: it has no port
  - NUMA node: read class/infiniband/mlx5_1/device/numa_node: the file is empty
`, "\n"+out)
}

func TestGIDs(t *testing.T) {
	_, out, _ := runFor(t, machine, "-gids")
	assert.Contains(t, out, `
NIC    PORT GID TYPE    ADDRESS  NET DEVICE
mlx5_0 1    3   RoCE v2 10.0.0.1 ens1f0np0
`)
}

func TestJSON(t *testing.T) {
	status, out, _ := runFor(t, machine, "-json")
	assert.Zero(t, status)
	assert.Equal(t, `[
  {
    "name": "mlx5_0",
    "port": 1,
    "numa": 1,
    "link": "Ethernet",
    "addrs": [
      "10.0.0.1"
    ],
    "rate_gbps": 200
  },
  {
    "name": "mlx5_0",
    "port": 2,
    "numa": 1,
    "link": "InfiniBand",
    "unusable": "port 2 is not active but down"
  },
  {
    "name": "mlx5_1",
    "port": 0,
    "numa": null,
    "link": "unknown",
    "unusable": "it has no port"
  }
]
`, out)
	var back []rail.NIC
	require.NoError(t, json.Unmarshal([]byte(out), &back))
	nics, _ := machine()
	assert.Equal(t, discover.Local(nics), back, "an engine reads it too")
}

func TestNone(t *testing.T) {
	status, out, diag := runFor(t, noNICs)
	assert.Zero(t, status, "a machine without NICs is no error")
	assert.Contains(t, out, "shows no RDMA NIC")
	assert.Empty(t, diag)

	status, out, _ = runFor(t, noNICs, "-json")
	assert.Zero(t, status)
	assert.Equal(t, "[]\n", out)
}

func TestErrors(t *testing.T) {
	broken := errors.New("discover: list of RDMA devices: permission denied")
	for _, args := range [][]string{nil, {"-json"}} {
		status, out, diag := runFor(t, func() ([]discover.NIC, error) { return nil, broken }, args...)
		assert.Equal(t, exitFailed, status)
		assert.Empty(t, out, "not the text for machines without NICs")
		assert.Equal(t, "rails: "+broken.Error()+"\n", diag)
	}
	status, out, diag := runFor(t, func() ([]discover.NIC, error) { nics, _ := machine(); return nics, broken })
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, out, "mlx5_0", "what was found is shown")
	assert.Contains(t, diag, "permission denied")

	status, _, diag = runFor(t, machine, "mlx5_0")
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, diag, `unexpected argument "mlx5_0"`)
	status, _, _ = runFor(t, machine, "-peer")
	assert.Equal(t, exitUsage, status)
	status, _, diag = runFor(t, machine, "-h")
	assert.Zero(t, status)
	assert.Contains(t, diag, "-json")
}

// Whatever the machine holds, the report keeps to its columns and lines.
func TestWidth(t *testing.T) {
	long := strings.Repeat("name", 60)
	nics, _ := machine()
	nics = append(nics, discover.NIC{
		Name: long, NetDevs: []string{"bond0", "bond0.100", "bond0.200"}, PCI: "10000:e1:00.0", NUMA: rail.NodeOf(1023),
		Ports: []discover.Port{{
			Number: 255, State: discover.PortActiveDefer, Rate: 1e6, LinkLayer: discover.LinkUnspecified,
			GIDs: []discover.GID{{Index: 1023, Addr: netip.MustParseAddr("fe80:1111:2222:3333:4444:5555:6666:7777"), Type: discover.GIDUnknown, NetDev: long}},
		}},
		Why: "port 255 is " + strings.Repeat("very ", 60) + "tired", Problems: []string{long},
	}, discover.NIC{Name: "two\nlines", Why: "line\x1b[2Jtwo"}, discover.NIC{Name: "a b"})
	out := report(nics, true)
	for line := range strings.Lines(out) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, "%q", line)
	}
	assert.NotContains(t, out, "\x1b", "nothing that a terminal obeys")
	assert.Contains(t, out, `"two\nlines"`)
	assert.Contains(t, out, `"a b"`)
	assert.Contains(t, out, "namenamenamenamenam…")
	assert.Contains(t, out, "bond0,bond0.10…")
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three"}, wrap("one two three", 8))
	assert.Equal(t, []string{"abcd", "efgh", "i j"}, wrap("abcdefghi j", 4))
	assert.Equal(t, []string{""}, wrap("", 4))
}
