package discover

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// fakeSysfs is a sysfs tree with the links that the kernel makes.
type fakeSysfs struct{ fstest.MapFS }

func newSysfs() fakeSysfs {
	s := fakeSysfs{fstest.MapFS{}}
	s.write(classUverbs+"/abi_version", "6")
	s.write(classNet+"/lo/type", "772")
	return s
}

// device is what a fake device has. Ports maps numbers to the files of a port.
type device struct {
	name     string
	parent   string // below /sys/devices, a PCI function for most
	nodeType string // "1: CA" if empty
	numa     string // no file if empty
	uverbs   string
	ports    map[string]port
	netDevs  []string // of the PCI function
	visible  []string // network devices in the namespace
}

// port is what a fake port has. GIDs has "value type netdev" by index.
type port struct {
	state, phys, rate, link string
	gids                    map[int]gid
	size                    int // of the GID table
}

type gid struct{ value, kind, netDev string }

// activePort is an active port of 100 Gb/s on Ethernet.
func activePort(gids ...gid) port {
	p := port{state: "4: ACTIVE", phys: "5: LinkUp", rate: "100 Gb/sec (4X EDR)", link: "Ethernet", gids: map[int]gid{}, size: 8}
	for i, g := range gids {
		p.gids[i] = g
	}
	return p
}

// roce returns both GIDs of one address, as the kernel lists them.
func roce(value, netDev string) []gid {
	return []gid{{value, "IB/RoCE v1", netDev}, {value, "RoCE v2", netDev}}
}

func mapped(a, b, c, d byte) string {
	return fmt.Sprintf("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", a, b, c, d)
}

const zeroGID = "0000:0000:0000:0000:0000:0000:0000:0000"

// write makes a file with a line in it.
func (s fakeSysfs) write(name, line string) {
	s.MapFS[name] = &fstest.MapFile{Data: []byte(line + "\n"), Mode: 0o444}
}

// link makes a relative link, as all links in sysfs are.
func (s fakeSysfs) link(name, target string) {
	up := strings.Repeat("../", strings.Count(name, "/"))
	s.MapFS[name] = &fstest.MapFile{Data: []byte(up + target), Mode: fs.ModeSymlink | 0o777}
}

// add makes the files of a device and returns the real path of its directory.
func (s fakeSysfs) add(d device) string {
	parent := path.Join("devices", d.parent)
	dir := path.Join(parent, "infiniband", d.name)
	s.link(path.Join(classRDMA, d.name), dir)
	if d.nodeType == "" {
		d.nodeType = "1: CA"
	}
	s.write(dir+"/node_type", d.nodeType)
	if address := path.Base(parent); pciAddress.MatchString(address) {
		s.link(dir+"/device", parent)
		s.link(path.Join(busPCI, address), parent)
		s.write(parent+"/uevent", "DRIVER=x\nPCI_SLOT_NAME="+address+"\nMODALIAS=y")
	} else if d.parent != "virtual" {
		s.link(dir+"/device", parent)
		s.write(parent+"/uevent", "MODALIAS=auxiliary:x")
	}
	if d.numa != "" {
		s.write(parent+"/numa_node", d.numa)
	}
	if d.uverbs != "" {
		s.write(path.Join(classUverbs, d.uverbs, "ibdev"), d.name)
	}
	s.MapFS[dir+"/ports"] = &fstest.MapFile{Mode: fs.ModeDir | 0o555}
	for number, p := range d.ports {
		s.addPort(path.Join(dir, "ports", number), p)
	}
	for _, n := range d.netDevs {
		s.write(path.Join(parent, "net", n, "mtu"), "1500")
	}
	for _, n := range d.visible {
		s.write(path.Join(classNet, n, "type"), "1")
	}
	return dir
}

func (s fakeSysfs) addPort(dir string, p port) {
	for file, line := range map[string]string{"state": p.state, "phys_state": p.phys, "rate": p.rate, "link_layer": p.link} {
		s.write(path.Join(dir, file), line)
	}
	for i := range p.size {
		index := fmt.Sprint(i)
		g, used := p.gids[i]
		if !used {
			g.value = zeroGID
		}
		s.write(path.Join(dir, "gids", index), g.value)
		if g.kind != "" {
			s.write(path.Join(dir, gidTypesDir, index), g.kind)
		}
		if g.netDev != "" {
			s.write(path.Join(dir, gidNetDevsDir, index), g.netDev)
		}
	}
}

// readAll reads a tree that must be readable.
func readAll(t *testing.T, sysfs fs.FS) []NIC {
	t.Helper()
	nics, err := Read(sysfs)
	require.NoError(t, err)
	return nics
}

// readOne reads a tree with one device.
func readOne(t *testing.T, sysfs fs.FS) NIC {
	t.Helper()
	nics := readAll(t, sysfs)
	require.Len(t, nics, 1)
	return nics[0]
}

// faultyFS fails or changes on the way.
type faultyFS struct {
	fs.FS
	fail   map[string]error // by path as it is opened
	before func(name string)
}

func (f faultyFS) Open(name string) (fs.File, error) {
	if f.before != nil {
		f.before(name)
	}
	if err := f.fail[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.FS.Open(name)
}

func (f faultyFS) ReadLink(name string) (string, error)   { return fs.ReadLink(f.FS, name) }
func (f faultyFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(f.FS, name) }
