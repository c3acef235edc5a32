package discover

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/Mellanox/rdmamap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// quietHost agrees with everything.
func quietHost() host {
	return host{
		sysfs:       fstest.MapFS{"class/net/lo/type": {Data: []byte("772\n")}},
		charDevices: func(string) []string { return nil },
		deviceOf:    func(string) (string, error) { return "", nil },
		access:      func(string, uint32) error { return nil },
	}
}

func usableNIC(name, uverbs string, netDevs ...string) NIC {
	return NIC{Name: name, Uverbs: uverbs, NetDevs: netDevs, Usable: true, Why: "it has " + uverbs}
}

func TestHostAgrees(t *testing.T) {
	nics := []NIC{usableNIC("mlx5_0", "uverbs0", "eth0")}
	want := []NIC{usableNIC("mlx5_0", "uverbs0", "eth0")}
	quietHost().complete(nics)
	assert.Equal(t, want, nics, "no answer is no contradiction")

	h := quietHost()
	h.charDevices = func(string) []string { return []string{"/dev/infiniband/umad0", "/dev/infiniband/uverbs0"} }
	h.deviceOf = func(string) (string, error) { return "mlx5_0", nil }
	h.complete(nics)
	assert.Equal(t, want, nics)
}

// Sysfs shows a NIC in a container; its node decides.
func TestHostNode(t *testing.T) {
	tests := []struct {
		name string
		err  error
		why  string
	}{
		{"absent", syscall.ENOENT, "/dev/infiniband/uverbs0 does not exist here; pass it into the container"},
		{"closed", syscall.EACCES, "/dev/infiniband/uverbs0 may not be opened by this process; grant it read and write access"},
		{"forbidden by the device group", syscall.EPERM, "/dev/infiniband/uverbs0 may not be opened by this process; grant it read and write access"},
		{"other", syscall.EIO, "/dev/infiniband/uverbs0: input/output error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := quietHost()
			h.access = func(path string, mode uint32) error {
				assert.Equal(t, uint32(6), mode, "verbs read and write")
				if path == "/dev/infiniband/uverbs0" {
					return tt.err
				}
				return nil
			}
			down := NIC{Name: "mlx5_2", Uverbs: "uverbs0", Why: "port 1 is down"}
			nics := []NIC{usableNIC("mlx5_0", "uverbs0"), usableNIC("mlx5_1", "uverbs1"), down, {Name: "mlx5_3", Why: "it has no port"}}
			h.complete(nics)
			assert.False(t, nics[0].Usable)
			assert.Equal(t, tt.why, nics[0].Why)
			assert.True(t, nics[1].Usable, "the other NIC has its node")
			assert.Equal(t, "port 1 is down; "+tt.why, nics[2].Why, "each reason is told")
			assert.Equal(t, "it has no port", nics[3].Why)
		})
	}
}

func TestHostContradictsNode(t *testing.T) {
	h := quietHost()
	h.charDevices = func(name string) []string {
		return map[string][]string{"mlx5_0": {"/dev/infiniband/uverbs7"}, "mlx5_1": {"/dev/infiniband/umad1"}}[name]
	}
	nics := []NIC{usableNIC("mlx5_0", "uverbs0"), usableNIC("mlx5_1", "uverbs1")}
	h.complete(nics)
	assert.Equal(t, []string{"uverbs node: uverbs0 by sysfs, uverbs7 by rdmamap"}, nics[0].Problems)
	assert.True(t, nics[0].Usable, "a contradiction is told and excludes nothing")
	assert.Empty(t, nics[1].Problems, "other kinds of nodes say nothing")
}

func TestHostIPoIB(t *testing.T) {
	const infiniband, ethernet = "32\n", "1\n"
	tests := []struct {
		name     string
		netDev   string
		kind     string
		answer   func() (string, error)
		added    []string // to mlx5_1, which has none
		problems []string // of mlx5_0, which has ib0
	}{
		{name: "same", netDev: "ib0", kind: infiniband, answer: func() (string, error) { return "mlx5_0", nil }},
		{name: "child", netDev: "ib1.8001", kind: infiniband, answer: func() (string, error) { return "mlx5_1", nil }, added: []string{"ib1.8001"}},
		{name: "other", netDev: "ib0", kind: infiniband, answer: func() (string, error) { return "mlx5_1", nil },
			problems: []string{"network device ib0: of mlx5_0 by sysfs, of mlx5_1 by rdmamap"}},
		{name: "not listed", netDev: "ib1", kind: infiniband, answer: func() (string, error) { return "mlx5_9", nil }},
		{name: "empty answer without error", netDev: "ib1", kind: infiniband, answer: func() (string, error) { return "", nil }},
		{name: "error", netDev: "ib1", kind: infiniband, answer: func() (string, error) { return "mlx5_1", errors.New("rdma device not found") }},
		{name: "panic", netDev: "ib1", kind: infiniband, answer: func() (string, error) { panic("slice bounds out of range") }},
		{name: "Ethernet", netDev: "eth0", kind: ethernet, answer: func() (string, error) { panic("it must not be asked") }},
		{name: "type unknown", netDev: "eth0", answer: func() (string, error) { return "mlx5_1", nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := quietHost()
			h.sysfs = fstest.MapFS{"class/net/" + tt.netDev + "/type": {Data: []byte(tt.kind)}}
			h.deviceOf = func(netDev string) (string, error) {
				assert.Equal(t, tt.netDev, netDev)
				return tt.answer()
			}
			nics := []NIC{usableNIC("mlx5_0", "uverbs0", "ib0"), usableNIC("mlx5_1", "uverbs1")}
			h.complete(nics)
			assert.Equal(t, []string{"ib0"}, nics[0].NetDevs)
			assert.Equal(t, tt.problems, nics[0].Problems)
			assert.Equal(t, tt.added, nics[1].NetDevs)
			assert.Empty(t, nics[1].Problems)
		})
	}
}

// The real rdmamap over a tree of files: what it finds is what checkNode expects.
func TestHostReadsRdmamap(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "uverbs4"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "uverbs4", "ibdev"), []byte("mlx5_0\n"), 0o644))
	old := rdmamap.RdmaUverbsDir
	rdmamap.RdmaUverbsDir = dir
	t.Cleanup(func() { rdmamap.RdmaUverbsDir = old })

	h := quietHost()
	h.charDevices = thisHost.charDevices
	nics := []NIC{usableNIC("mlx5_0", "uverbs4"), usableNIC("mlx5_00", "uverbs5")}
	h.complete(nics)
	assert.Empty(t, nics[0].Problems)
	assert.Empty(t, nics[1].Problems, "another name is another device")

	nics = []NIC{usableNIC("mlx5_0", "uverbs0")}
	h.complete(nics)
	assert.Equal(t, []string{"uverbs node: uverbs0 by sysfs, uverbs4 by rdmamap"}, nics[0].Problems)
}

// The kernel answers reads of empty entries with errors; they are no faults.
func TestEmptyGIDEntries(t *testing.T) {
	for _, errno := range []error{syscall.EINVAL, syscall.EAGAIN, syscall.ENODEV, fs.ErrNotExist} {
		s, _ := pairOfNICs()
		port := classRDMA + "/bad/ports/1/"
		n := requireGood(t, readAll(t, faultyFS{FS: s, fail: map[string]error{port + "gids/0": errno, port + "gid_attrs/types/1": errno, port + "gid_attrs/ndevs/1": errno}}))
		assert.Empty(t, n.Problems, "%v", errno)
		assert.Equal(t, []GID{{1, ip("10.0.0.1"), GIDUnknown, ""}}, n.Ports[0].GIDs)
	}
	s, _ := pairOfNICs()
	n := requireGood(t, readAll(t, faultyFS{FS: s, fail: map[string]error{classRDMA + "/bad/ports/1/gids/0": syscall.EIO}}))
	assert.Len(t, n.Problems, 1, "other errors are faults")
}

// This machine may have any number of NICs, and none is no error.
func TestNICsOfThisMachine(t *testing.T) {
	nics, err := NICs()
	require.NoError(t, err)
	entries, _ := os.ReadDir("/sys/class/infiniband")
	assert.Len(t, nics, len(entries))
}
