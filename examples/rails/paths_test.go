package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/rail/discover"
)

// host is a machine with two NICs on two NUMA nodes and one for management. Its
// number is in the addresses.
func host(number int) []discover.NIC {
	nic := func(name, addr string, node int) discover.NIC {
		port := discover.Port{
			Number: 1, State: discover.PortActive, Rate: 400, LinkLayer: discover.LinkEthernet,
			GIDs: []discover.GID{{Addr: netip.MustParseAddr("fe80::1")}, {Index: 3, Addr: netip.MustParseAddr(fmt.Sprintf(addr, number)), Type: discover.GIDRoCEv2}},
		}
		return discover.NIC{Name: name, NUMA: rail.NodeOf(node), Ports: []discover.Port{port}, Usable: true}
	}
	return []discover.NIC{nic("mlx5_0", "10.0.0.%d", 0), nic("mlx5_1", "10.0.1.%d", 1), nic("mlx5_mgmt", "192.168.7.%d", 0)}
}

func found(nics []discover.NIC) func() ([]discover.NIC, error) {
	return func() ([]discover.NIC, error) { return nics, nil }
}

func write(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "file.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// peerFile is what -json prints on the peer.
func peerFile(t *testing.T, nics []discover.NIC) (name string) {
	t.Helper()
	status, out, _ := runFor(t, found(nics), "-json")
	require.Zero(t, status)
	return write(t, out)
}

func TestPaths(t *testing.T) {
	peer := peerFile(t, host(2))
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"nothing known", nil, `
RANK LOCAL     PORT REMOTE    PORT WHY
1    mlx5_0    1    mlx5_0    1    same name
2    mlx5_1    1    mlx5_1    1    same name
3    mlx5_mgmt 1    mlx5_mgmt 1    same name
4    mlx5_0    1    mlx5_1    1    cross-rail
5    mlx5_1    1    mlx5_mgmt 1    cross-rail
6    mlx5_mgmt 1    mlx5_0    1    cross-rail
7    mlx5_0    1    mlx5_mgmt 1    cross-rail
8    mlx5_1    1    mlx5_0    1    cross-rail
9    mlx5_mgmt 1    mlx5_1    1    cross-rail

9 of 9 pairs may be used
`},
		{"prefix and node", []string{"-prefix", "16", "-local-node", "1"}, `
RANK LOCAL     PORT REMOTE    PORT WHY
1    mlx5_1    1    mlx5_1    1    same name; local NUMA node 1, buffer on 1
2    mlx5_0    1    mlx5_0    1    same name; local NUMA node 0, buffer on 1
3    mlx5_mgmt 1    mlx5_mgmt 1    same name; local NUMA node 0, buffer on 1
4    mlx5_1    1    mlx5_0    1    cross-rail; local NUMA node 1, buffer on 1
5    mlx5_0    1    mlx5_1    1    cross-rail; local NUMA node 0, buffer on 1
-    mlx5_1    1    mlx5_mgmt 1    other subnet: local in 10.0.0.0/16, remote in 192.168.0.0/16
-    mlx5_mgmt 1    mlx5_0    1    other subnet: local in 192.168.0.0/16, remote in 10.0.0.0/16
-    mlx5_0    1    mlx5_mgmt 1    other subnet: local in 10.0.0.0/16, remote in 192.168.0.0/16
-    mlx5_mgmt 1    mlx5_1    1    other subnet: local in 192.168.0.0/16, remote in 10.0.0.0/16

5 of 9 pairs may be used; other subnet: 4
`},
		{"rail file", []string{"-remote-node", "0", "-rails", write(t, `{"all": [{"local": "mlx5_0", "remote": "mlx5_1"}, {"local": "mlx5_1", "remote": "mlx5_0"}], "direct": [{"local": "mlx5_0", "remote": "mlx5_1"}]}`)}, `
RANK LOCAL     PORT REMOTE    PORT WHY
1    mlx5_0    1    mlx5_1    1    direct in the rail file; remote NUMA node 1, buffer on 0
2    mlx5_1    1    mlx5_0    1    cross-rail; remote NUMA node 0, buffer on 0
-    mlx5_0    1    mlx5_0    1    not in the rail file
-    mlx5_1    1    mlx5_1    1    not in the rail file
-    mlx5_mgmt 1    mlx5_mgmt 1    not in the rail file
-    mlx5_1    1    mlx5_mgmt 1    not in the rail file
-    mlx5_mgmt 1    mlx5_0    1    not in the rail file
-    mlx5_0    1    mlx5_mgmt 1    not in the rail file
-    mlx5_mgmt 1    mlx5_1    1    not in the rail file

2 of 9 pairs may be used; not in the rail file: 7
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, out, diag := runFor(t, found(host(1)), append([]string{"-peer", peer}, tt.args...)...)
			assert.Zero(t, status)
			assert.Empty(t, diag)
			assert.Equal(t, tt.want, "\n"+out)
		})
	}
}

// From files, the paths between any two hosts can be seen anywhere.
func TestPathsFromFiles(t *testing.T) {
	const a, b = "testdata/host-a.json", "testdata/host-b.json"
	nowhere := func() ([]discover.NIC, error) {
		t.Error("this machine's NICs are of no interest")
		return nil, errors.ErrUnsupported
	}
	status, out, diag := runFor(t, nowhere, "-local", a, "-peer", b, "-prefix", "16", "-local-node", "1")
	assert.Zero(t, status)
	assert.Empty(t, diag)
	assert.Equal(t, `
RANK LOCAL       PORT REMOTE PORT WHY
1    mlx5_1      1    mlx5_1 1    same name; local NUMA node 1, buffer on 1
2    mlx5_0      1    mlx5_0 2    same name; local NUMA node 0, buffer on 1
3    mlx5_1      1    mlx5_0 2    cross-rail; local NUMA node 1, buffer on 1
4    mlx5_0      1    mlx5_1 1    cross-rail; local NUMA node 0, buffer on 1
-    mlx5_bond_0 1    mlx5_2 -    remote NIC: it has no uverbs node; load the ib_uverbs module; it
                                  has no port
-    mlx5_1      1    mlx5_2 -    remote NIC: it has no uverbs node; load the ib_uverbs module; it
                                  has no port
-    mlx5_bond_0 1    mlx5_0 2    other subnet: local in 192.168.0.0/16, remote in 10.0.0.0/16
-    mlx5_0      1    mlx5_2 -    remote NIC: it has no uverbs node; load the ib_uverbs module; it
                                  has no port
-    mlx5_bond_0 1    mlx5_1 1    other subnet: local in 192.168.0.0/16, remote in 10.0.0.0/16

4 of 9 pairs may be used; unusable NIC: 3; other subnet: 2
  - port 2 of remote "mlx5_1" is left out: a path names the remote device alone, and is taken for
    port 1
`, "\n"+out)

	_, out, _ = runFor(t, nowhere, "-local", b, "-peer", a, "-prefix", "24")
	assert.Contains(t, out, "\n1    mlx5_0 2    mlx5_0      1    same name\n", "each local port has its paths")
	assert.Contains(t, out, "2 of 15 pairs may be used")
	_, out, _ = runFor(t, nowhere, "-local", a, "-peer", b, "-rails", "testdata/rails.json")
	assert.Contains(t, out, "\n1    mlx5_0      1    mlx5_1 1    direct in the rail file\n")
	assert.Contains(t, out, "3 of 9 pairs may be used")
}

// The example files are what -json prints.
func TestExampleFiles(t *testing.T) {
	for _, name := range []string{"testdata/host-a.json", "testdata/host-b.json"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		nics, err := readNICs("peer", name)
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, writeNICs(&out, nics))
		assert.Equal(t, string(text), out.String(), name)
	}
}

func TestPathsIPv6(t *testing.T) {
	here, there := host(1)[:1], host(2)[:2]
	for i, nics := range [][]discover.NIC{here, there} {
		for j := range nics {
			nics[j].Ports[0].GIDs[1].Addr = netip.MustParseAddr(fmt.Sprintf("fd00:0:0:%d::%d", j, i+1))
		}
	}
	_, out, _ := runFor(t, found(here), "-prefix6", "64", "-peer", peerFile(t, there))
	assert.Contains(t, out, "other subnet: local in fd00::/64, remote in fd00:0:0:1::/64")
}

func TestPathsOfUnusableNICs(t *testing.T) {
	here, there := host(1), host(2)
	here[0] = discover.NIC{Name: "mlx5_0", Why: "it was gone before it could be read: no such file"}
	here[1].Ports[0].State = discover.PortDown
	there[2].Usable, there[2].Why = false, "its node \x1b[2J is closed\nto the process"
	second := there[0].Ports[0]
	second.Number, second.LinkLayer = 2, discover.LinkInfiniBand
	there[0].Ports = append(there[0].Ports, second)
	down := second
	down.Number, down.State = 1, discover.PortInit
	there[1].Ports = []discover.Port{down, second}

	status, out, diag := runFor(t, found(here), "-peer", peerFile(t, there))
	assert.Zero(t, status)
	assert.Empty(t, diag)
	assert.Equal(t, `
RANK LOCAL     PORT REMOTE    PORT WHY
1    mlx5_mgmt 1    mlx5_0    1    cross-rail
-    mlx5_0    -    mlx5_0    1    local NIC: it was gone before it could be read: no such file
-    mlx5_1    1    mlx5_1    2    local NIC: port 1 is not active but down; other link layer: local
                                   Ethernet, remote InfiniBand
-    mlx5_mgmt 1    mlx5_mgmt 1    remote NIC: its node ?[2J is closed?to the process
-    mlx5_0    -    mlx5_1    2    local NIC: it was gone before it could be read: no such file
-    mlx5_1    1    mlx5_mgmt 1    local NIC: port 1 is not active but down; remote NIC: its node
                                   ?[2J is closed?to the process
-    mlx5_0    -    mlx5_mgmt 1    local NIC: it was gone before it could be read: no such file;
                                   remote NIC: its node ?[2J is closed?to the process
-    mlx5_1    1    mlx5_0    1    local NIC: port 1 is not active but down
-    mlx5_mgmt 1    mlx5_1    2    other link layer: local Ethernet, remote InfiniBand

1 of 9 pairs may be used; unusable NIC: 7; other link layer: 1
  - port 2 of remote "mlx5_0" is left out: a path names the remote device alone, and is taken for
    port 1
`, "\n"+out)
}

func TestNoPath(t *testing.T) {
	there := host(2)
	for i := range there {
		there[i].Usable, there[i].Why = false, ""
	}
	status, out, diag := runFor(t, found(host(1)), "-peer", peerFile(t, there))
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, out, "remote NIC: it is not usable, and nothing says why")
	assert.Contains(t, out, "0 of 9 pairs may be used; unusable NIC: 9")
	assert.Equal(t, "rails: NO_USABLE_PATH: no pair of NICs can be used\n", diag)

	status, out, diag = runFor(t, noNICs, "-peer", peerFile(t, host(2)))
	assert.Equal(t, exitFailed, status)
	assert.Equal(t, none, out)
	assert.Contains(t, diag, "NO_USABLE_PATH")
}

func TestPathFaults(t *testing.T) {
	good := peerFile(t, host(2))
	data, err := os.ReadFile(good)
	require.NoError(t, err)
	text := string(data)
	twice := append(host(2), host(2)[0])
	nameless := host(2)
	nameless[1].Name = ""
	missing := filepath.Join(t.TempDir(), "no such file")
	tests := []struct {
		name string
		args []string
		want []string // in the diagnosis
	}{
		{"no peer file", []string{"-peer", missing}, []string{missing}},
		{"no local file", []string{"-peer", good, "-local", missing}, []string{missing}},
		{"no NIC here", []string{"-peer", good, "-local", write(t, "[]\n")}, []string{"local file ", `it lists no NIC`}},
		{"listed twice here", []string{"-peer", good, "-local", peerFile(t, twice)}, []string{`local NIC "mlx5_0", port 1, is listed after another`}},
		{"a directory", []string{"-peer", t.TempDir()}, []string{"is a directory"}},
		{"empty", []string{"-peer", write(t, "\n")}, []string{"it is empty; write it with"}},
		{"not JSON", []string{"-peer", write(t, "NIC PORT STATE\n")}, []string{"it is no list of NICs"}},
		{"a rail file", []string{"-peer", write(t, `{"all": []}`)}, []string{"it is no list of NICs"}},
		{"no NIC", []string{"-peer", write(t, "[]\n")}, []string{`it lists no NIC; run "rails" on that host`}},
		{"cut off in a NIC", []string{"-peer", write(t, text[:len(text)/2])}, []string{"NIC 2, from line ", "unexpected EOF"}},
		{"cut off after a NIC", []string{"-peer", write(t, strings.TrimRight(text, "]\n"))}, []string{"the list does not end"}},
		{"more after it", []string{"-peer", write(t, text+"\n[]")}, []string{fmt.Sprintf("line %d: there is more after the list", strings.Count(text, "\n")+2)}},
		{"unknown field", []string{"-peer", write(t, strings.Replace(text, `"numa"`, `"node"`, 1))}, []string{`NIC 1, from line 2: json: unknown field "node"`}},
		{"wrong type", []string{"-peer", write(t, strings.Replace(text, `"name": "mlx5_1"`, `"name": 1`, 1))}, []string{"NIC 2, from line ", "cannot unmarshal number"}},
		{"wrong value", []string{"-peer", write(t, strings.Replace(text, `"Ethernet"`, `"Token Ring"`, 1))}, []string{`rail: "Token Ring" is no Link`}},
		{"listed twice", []string{"-peer", peerFile(t, twice)}, []string{`remote NIC "mlx5_0", port 1, is listed after another`}},
		{"no name", []string{"-peer", peerFile(t, nameless)}, []string{"remote device name is empty"}},
		{"too large", []string{"-peer", write(t, strings.Repeat(" ", maxNICFile+1))}, []string{"it is larger than 16777216 bytes"}},
		{"no rail file", []string{"-peer", good, "-rails", missing}, []string{missing}},
		{"bad rail file", []string{"-peer", good, "-rails", write(t, "{\"all\":\n[1, 2]}")}, []string{"rails: rail file: line 2: all[0]: it is a number", "rails: rail file: line 2: all[1]: it is a number"}},
		{"names that nobody has", []string{"-peer", good, "-rails", write(t, `{"all": [{"local": "mlx5_9", "remote": "rocep1"}]}`)},
			[]string{`all[0]: no local NIC is named "mlx5_9"; did you mean "mlx5_0"?`, `no remote NIC is named "rocep1"; there is "mlx5_0", "mlx5_1", "mlx5_mgmt"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, out, diag := runFor(t, found(host(1)), tt.args...)
			assert.Equal(t, exitFailed, status)
			assert.Empty(t, out, "no table beside a fault")
			for _, want := range tt.want {
				assert.Contains(t, diag, want)
			}
			for line := range strings.Lines(diag) {
				assert.True(t, strings.HasPrefix(line, "rails: "), "%q", line)
			}
		})
	}
}

func TestPathUsage(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string
	}{
		{"-peer f -json", "use one or the other"},
		{"-peer f -gids", "use one or the other"},
		{"-prefix 24", "-prefix is about paths"},
		{"-prefix6 0", "-prefix6 is about paths"},
		{"-rails f", "-rails is about paths"},
		{"-local f", "-local is about paths"},
		{"-local f -json", "-local is about paths"},
		{"-local-node 0", "-local-node is about paths"},
		{"-remote-node 0 -json", "-remote-node is about paths"},
		{"-peer f -prefix 33", "-prefix is 33, must be 1 to 32"},
		{"-peer f -prefix -1", "-prefix is -1"},
		{"-peer f -prefix6 129", "-prefix6 is 129, must be 1 to 128"},
		{"-peer f -prefix /24", "invalid value"},
		{"-peer f g", `unexpected argument "g"`},
		{"-peer", "needs an argument"},
	} {
		status, out, diag := runFor(t, found(host(1)), strings.Fields(tt.args)...)
		assert.Equal(t, exitUsage, status, tt.args)
		assert.Empty(t, out, tt.args)
		assert.Contains(t, diag, tt.want, tt.args)
	}
	for _, args := range [][]string{{"-peer", ""}, {"-peer", "f", "-local", ""}} {
		status, _, diag := runFor(t, found(host(1)), args...)
		assert.Equal(t, exitUsage, status, args)
		assert.Contains(t, diag, "-peer and -local name files", args)
	}
}

// Names that hold what separates names elsewhere keep to their columns, and no two
// pairs look alike.
func TestPathNames(t *testing.T) {
	long := strings.Repeat("n", 250)
	names := []string{"a", "a b", "a  b", `"a b"`, "a->b", "a:1", "a/b", "a,b", "a\nb", `a\nb`, "a\x1b[2J", long + "1", long + "2", "1    a"}
	var nics []discover.NIC
	for _, name := range names {
		n := host(1)[0]
		n.Name = name
		nics = append(nics, n)
	}
	status, out, diag := runFor(t, found(nics), "-peer", peerFile(t, nics))
	require.Zero(t, status)
	assert.Empty(t, diag)
	assert.NotContains(t, out, "\x1b")
	for line := range strings.Lines(out) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, "%q", line)
	}
	table, _, _ := strings.Cut(out, "\n\n")
	pairs, pair := map[string]bool{}, ""
	const from, to = 6, 6 + 21 + 5 + 21 // columns of both names, with the port between
	for line := range strings.SplitSeq(table+"\nend", "\n") {
		if line[0] != ' ' {
			assert.False(t, pairs[pair], "%q is there once", pair)
			pairs[pair], pair = true, ""
		}
		if cells := []rune(line); len(cells) > from {
			pair += strings.TrimRight(string(cells[from:min(to, len(cells))]), " ") + "\n"
		}
	}
	assert.Len(t, pairs, len(names)*len(names)+2, "each pair, the header and what was before it")
}

// Whatever a peer's file holds, the command ends with a table or a message.
func FuzzPeerFile(f *testing.F) {
	good, err := json.Marshal(discover.Local(host(2)))
	require.NoError(f, err)
	for _, text := range []string{string(good), "", "[]", "[null]", "{}", `[{"name": "a"}]`, `[{"name": "a", "port": 1}]`, `[{"name": "a", "port": 1, "addrs": null}, {"name": "a", "port": 2}, {"name": "a", "port": 1}]`,
		`[{"name": "a", "port": 1, "rate_gbps": 1e300, "addrs": ["", "fe80::1%x"]}]`, `[{"numa": -1}]`, "[[[[", `[{}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		status, out, diag := runFor(t, found(host(1)), "-peer", write(t, string(data)))
		assert.Equal(t, status != 0, diag != "", "a message goes with a failure")
		if status == 0 {
			assert.Contains(t, out, "may be used")
		}
	})
}
