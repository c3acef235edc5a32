package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
)

// pairOfNICs has a NIC to break and one that must not notice. It returns the tree
// and the real directory of the first.
func pairOfNICs() (fakeSysfs, string) {
	s := newSysfs()
	s.add(device{
		name: "good", parent: root5b, numa: "1", uverbs: "uverbs1", visible: []string{"eth1"},
		ports: map[string]port{"1": activePort(roce(mapped(10, 0, 1, 1), "eth1")...)},
	})
	dir := s.add(device{
		name: "bad", parent: root5, numa: "1", uverbs: "uverbs0", visible: []string{"eth0"},
		ports: map[string]port{"1": activePort(roce(mapped(10, 0, 0, 1), "eth0")...)},
	})
	return s, dir
}

// requireGood finds the NIC that was not touched, and returns the other.
func requireGood(t *testing.T, nics []NIC) NIC {
	t.Helper()
	require.Len(t, nics, 2)
	untouched, _ := pairOfNICs()
	assert.Equal(t, readAll(t, untouched)[1], nics[1], "the neighbour of a broken NIC is read as ever")
	return nics[0]
}

// Each broken file costs its own value, and a problem says which and why.
func TestBrokenFiles(t *testing.T) {
	huge := strings.Repeat("4", maxFile+1)
	tests := []struct {
		name    string
		file    string // below the device's directory
		content string
		problem string
		usable  bool
		check   func(*testing.T, NIC)
	}{
		{name: "empty state", file: "ports/1/state", problem: "port 1: state: read class/infiniband/bad/ports/1/state: the file is empty"},
		{name: "huge state", file: "ports/1/state", content: huge, problem: "more than 4096 bytes"},
		{name: "binary state", file: "ports/1/state", content: "4: AC\x00TIVE", problem: "something else than a line of text"},
		{name: "state without number", file: "ports/1/state", content: "ACTIVE\n", problem: `"ACTIVE" does not begin with a number`},
		{name: "state out of range", file: "ports/1/state", content: "9: NEW\n", problem: `"9: NEW" does not begin with a number from 0 to 5`},
		{name: "negative state", file: "ports/1/state", content: "-4: ACTIVE\n", problem: "does not begin with a number"},
		{name: "state of many digits", file: "ports/1/state", content: "18446744073709551620: ACTIVE\n", problem: "does not begin with a number"},
		{name: "unknown physical state", file: "ports/1/phys_state", content: "8: <unknown>\n", problem: "port 1: physical state", usable: true},
		{name: "rate of words", file: "ports/1/rate", content: "fast\n", problem: `"fast" is no rate`, usable: true,
			check: func(t *testing.T, n NIC) { assert.Zero(t, n.Ports[0].Rate, "unknown is 0") }},
		{name: "infinite rate", file: "ports/1/rate", content: "Inf Gb/sec\n", problem: "is no rate", usable: true},
		{name: "no number as rate", file: "ports/1/rate", content: "NaN Gb/sec\n", problem: "is no rate", usable: true},
		{name: "new link layer", file: "ports/1/link_layer", content: "Token Ring\n", problem: `"Token Ring" is unknown`, usable: true},
		{name: "GID of words", file: "ports/1/gids/0", content: "hello\n", problem: `port 1: GID 0: class/infiniband/bad/ports/1/gids/0: "hello" is no GID`, usable: true,
			check: func(t *testing.T, n NIC) { assert.Len(t, n.Ports[0].GIDs, 1, "the other GID stays") }},
		{name: "IPv4 address as GID", file: "ports/1/gids/0", content: "10.0.0.1\n", problem: "is no GID", usable: true},
		{name: "GID with zone", file: "ports/1/gids/0", content: "fe80::1%eth0\n", problem: "is no GID", usable: true},
		{name: "GID type of the future", file: "ports/1/gid_attrs/types/1", content: "RoCE v3\n", problem: `type of GID 1: class/infiniband/bad/ports/1/gid_attrs/types/1: "RoCE v3" is unknown`, usable: true},
		{name: "network device with separators", file: "ports/1/gid_attrs/ndevs/1", content: "../../etc\n", problem: `network device of GID 1: "../../etc" must be a single`, usable: true},
		{name: "network device too long", file: "ports/1/gid_attrs/ndevs/1", content: strings.Repeat("n", 300), problem: "has 300 bytes", usable: true},
		{name: "network device of another namespace", file: "ports/1/gid_attrs/ndevs/1", content: "eth9\n", problem: "network device eth9 is not in this network namespace", usable: true},
		{name: "parent with separators", file: "parent", content: "a/b\n", problem: `network device below: "a/b"`, usable: true},
		{name: "empty node type", file: "node_type", problem: "node type: read class/infiniband/bad/node_type: the file is empty", usable: true,
			check: func(t *testing.T, n NIC) {
				assert.Equal(t, GIDUnknown, n.Ports[0].GIDs[0].Type, "whether it is RoCE v1 depends on the node type")
			}},
		{name: "NUMA node of words", file: "device/numa_node", content: "two\n", problem: `"two" is neither -1 nor a number`, usable: true,
			check: func(t *testing.T, n NIC) { assert.Equal(t, rail.Node{}, n.NUMA) }},
		{name: "NUMA node below -1", file: "device/numa_node", content: "-2\n", problem: `"-2" is neither`, usable: true},
		{name: "NUMA node beyond all machines", file: "device/numa_node", content: "1024\n", problem: `"1024" is neither`, usable: true},
		{name: "PCI address of words", file: "device/uevent", content: "PCI_SLOT_NAME=slot 5\n", problem: `"slot 5" is none`, usable: true,
			check: func(t *testing.T, n NIC) { assert.Equal(t, "0000:05:00.0", n.PCI, "the class link tells it too") }},
		{name: "huge uevent", file: "device/uevent", content: huge, problem: "PCI address: read", usable: true},
		{name: "port 0", file: "ports/0/state", content: "4: ACTIVE\n", problem: `ports: "0" is left out`, usable: true},
		{name: "port 256", file: "ports/256/state", content: "4: ACTIVE\n", problem: `ports: "256" is left out, verbs know ports 1 to 255`, usable: true},
		{name: "port with leading zero", file: "ports/01/state", content: "4: ACTIVE\n", problem: `ports: "01" is left out`, usable: true},
		{name: "port of words", file: "ports/one/state", content: "4: ACTIVE\n", problem: `ports: "one" is left out`, usable: true},
		{name: "GID index with leading zero", file: "ports/1/gids/01", content: zeroGID, problem: `GIDs: "01" is no index`, usable: true},
		{name: "GID index of words", file: "ports/1/gids/x", content: zeroGID, problem: `GIDs: "x" is no index`, usable: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := pairOfNICs()
			file := path.Join(dir, tt.file)
			if below, found := strings.CutPrefix(tt.file, "device/"); found {
				file = path.Join("devices", root5, below)
			}
			s.MapFS[file] = &fstest.MapFile{Data: []byte(tt.content), Mode: 0o444}
			n := requireGood(t, readAll(t, s))
			require.Len(t, n.Problems, 1, "one fault, one problem")
			assert.Contains(t, n.Problems[0], tt.problem)
			assert.Equal(t, tt.usable, n.Usable, n.Why)
			if tt.check != nil {
				tt.check(t, n)
			}
		})
	}
}

func TestUnreadableFiles(t *testing.T) {
	for _, file := range []string{"node_type", "ports", "ports/1/state", "ports/1/phys_state", "ports/1/rate", "ports/1/link_layer", "ports/1/gids",
		"ports/1/gids/1", "ports/1/gid_attrs/types/1", "ports/1/gid_attrs/ndevs/1", "parent", "device/uevent", "device/numa_node"} {
		t.Run(file, func(t *testing.T) {
			s, _ := pairOfNICs()
			n := requireGood(t, readAll(t, faultyFS{FS: s, fail: map[string]error{path.Join(classRDMA, "bad", file): fs.ErrPermission}}))
			require.NotEmpty(t, n.Problems)
			assert.Contains(t, n.Problems[0], path.Join("class/infiniband/bad", file)+": permission denied")
		})
	}
}

// A device whose directory cannot be entered has no values and says why.
func TestUnreadableDevice(t *testing.T) {
	s, _ := pairOfNICs()
	fail := map[string]error{}
	for _, name := range []string{"", "node_type", "ports", "parent", "device/uevent", "device/numa_node"} {
		fail[path.Join(classRDMA, "bad", name)] = fs.ErrPermission
	}
	n := requireGood(t, readAll(t, faultyFS{FS: s, fail: fail}))
	assert.False(t, n.Usable)
	assert.Contains(t, n.Why, "permission denied")
}

// A device may go away at any moment between the listing and its last file.
func TestVanishingDevice(t *testing.T) {
	for _, at := range []string{"", "node_type", "ports", "ports/1/state", "ports/1/gids/1", "ports/1/gid_attrs/types/0"} {
		t.Run("at "+at, func(t *testing.T) {
			s, dir := pairOfNICs()
			n := requireGood(t, readAll(t, faultyFS{FS: s, before: func(name string) {
				if name != path.Join(classRDMA, "bad", at) {
					return
				}
				for file := range s.MapFS {
					if strings.HasPrefix(file, dir+"/") || file == classRDMA+"/bad" {
						delete(s.MapFS, file)
					}
				}
			}}))
			assert.Equal(t, "bad", n.Name)
			assert.False(t, n.Usable)
			assert.Contains(t, n.Why, "it was gone before it could be read")
			assert.Empty(t, n.Ports, "half of a device is of no use")
			assert.Empty(t, n.Problems)
		})
	}
}

func TestDanglingLink(t *testing.T) {
	s, _ := pairOfNICs()
	s.link(classRDMA+"/bad", "devices/nowhere")
	n := requireGood(t, readAll(t, s))
	assert.Contains(t, n.Why, "it was gone before it could be read")
}

func TestDeviceIsAFile(t *testing.T) {
	s, _ := pairOfNICs()
	s.write(classRDMA+"/bad", "no directory")
	n := requireGood(t, readAll(t, s))
	assert.False(t, n.Usable)
	assert.Equal(t, "its entry in sysfs is not a directory", n.Why)
}

func TestUnreadableNodes(t *testing.T) {
	s, _ := pairOfNICs()
	n := requireGood(t, readAll(t, faultyFS{FS: s, fail: map[string]error{classUverbs + "/uverbs0/ibdev": fs.ErrPermission}}))
	assert.False(t, n.Usable)
	assert.Contains(t, n.Why, "it has no uverbs node")
	require.Len(t, n.Problems, 1)
	assert.Contains(t, n.Problems[0], "perhaps of this one: open class/infiniband_verbs/uverbs0/ibdev: permission denied")

	nics := readAll(t, faultyFS{FS: s, fail: map[string]error{classUverbs: fs.ErrPermission}})
	require.Len(t, nics, 2)
	assert.Contains(t, nics[0].Problems[0], "uverbs nodes: open class/infiniband_verbs: permission denied")

	s.write(classUverbs+"/uverbs9/ibdev", "bad")
	n = requireGood(t, readAll(t, s))
	assert.Equal(t, "uverbs0", n.Uverbs)
	assert.Contains(t, n.Problems[0], "uverbs nodes uverbs0, uverbs9 all name this device")
}

func TestVanishingNode(t *testing.T) {
	s, _ := pairOfNICs()
	n := requireGood(t, readAll(t, faultyFS{FS: s, fail: map[string]error{classUverbs + "/uverbs0/ibdev": fs.ErrNotExist}}))
	assert.Contains(t, n.Why, "it has no uverbs node")
	assert.Empty(t, n.Problems, "a node that went away is no fault")
}

// A list of devices that ends in an error gives what it had.
func TestBrokenList(t *testing.T) {
	s, _ := pairOfNICs()
	broken := errors.New("input/output error")
	nics, err := Read(listFS{FS: s, after: 1, err: broken})
	require.ErrorIs(t, err, broken)
	require.Len(t, nics, 1)
	assert.Equal(t, "bad", nics[0].Name)
	assert.True(t, nics[0].Usable)

	_, err = Read(faultyFS{FS: s, fail: map[string]error{classRDMA: fs.ErrPermission}})
	require.ErrorIs(t, err, fs.ErrPermission)
	assert.ErrorContains(t, err, "list of RDMA devices")
}

// Names that are no file names come from trees that are no file systems.
func TestListedNames(t *testing.T) {
	s, _ := pairOfNICs()
	for _, name := range []string{"", ".", "..", "a/b", "../net", "\xff", strings.Repeat("n", 256)} {
		nics := readAll(t, listFS{FS: s, after: 2, more: []string{name}})
		require.Len(t, nics, 3, "%q", name)
		for _, n := range nics {
			if n.Name == name {
				assert.False(t, n.Usable)
				assert.Contains(t, n.Why, "its name is no file name")
			} else {
				assert.True(t, n.Usable, "%q loses only itself", name)
			}
		}
	}
}

func TestTooManyEntries(t *testing.T) {
	s, _ := pairOfNICs()
	var more []string
	for i := range maxEntries {
		more = append(more, fmt.Sprintf("x%d", i))
	}
	nics, err := Read(listFS{FS: s, after: 2, more: more})
	require.ErrorIs(t, err, errEntries)
	assert.Len(t, nics, maxEntries)
}

func TestManyFaultsAreSummed(t *testing.T) {
	s, dir := pairOfNICs()
	for i := range 100 {
		s.write(fmt.Sprintf("%s/ports/1/gids/%d", dir, i), "hello")
	}
	n := requireGood(t, readAll(t, s))
	require.Greater(t, len(n.Problems), maxFaults)
	assert.Len(t, n.Problems, maxFaults+1)
	assert.Contains(t, n.Problems[maxFaults], "and ")
}

func TestActivePortWithoutGID(t *testing.T) {
	s, dir := pairOfNICs()
	s.write(dir+"/ports/1/gids/0", zeroGID)
	s.write(dir+"/ports/1/gids/1", "fe80:0000:0000:0000:0000:0000:0000:0000")
	n := requireGood(t, readAll(t, s))
	assert.Empty(t, n.Ports[0].GIDs, "zero and a bare subnet are no addresses")
	assert.True(t, n.Usable)
	require.NotEmpty(t, n.Problems)
	assert.Contains(t, n.Problems[0], "port 1 is active and has no GID")
}

// listFS changes the listing of RDMA devices: after so many names come more, then
// an error.
type listFS struct {
	fs.FS
	after int
	more  []string
	err   error
}

func (f listFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if name != classRDMA || err != nil {
		return file, err
	}
	entries, err := file.(fs.ReadDirFile).ReadDir(-1)
	entries = entries[:f.after]
	for _, name := range f.more {
		entries = append(entries, entry{name: name})
	}
	return &listFile{File: file, entries: entries, err: f.err}, err
}

func (f listFS) ReadLink(name string) (string, error)   { return fs.ReadLink(f.FS, name) }
func (f listFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(f.FS, name) }

type entry struct {
	fs.DirEntry
	name string
}

func (e entry) Name() string { return e.name }

// listFile gives one entry at a time, as a directory may.
type listFile struct {
	fs.File
	entries []fs.DirEntry
	err     error
}

func (f *listFile) ReadDir(int) ([]fs.DirEntry, error) {
	if len(f.entries) == 0 {
		return nil, f.err
	}
	first := f.entries[:1]
	f.entries = f.entries[1:]
	return first, nil
}
