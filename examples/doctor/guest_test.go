//go:build guest

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/softroce"
)

// The kernel follows changes of the network a little later.
const patience, interval = 30 * time.Second, 50 * time.Millisecond

func openLab(t *testing.T) *softroce.Lab {
	t.Helper()
	lab, err := softroce.Current()
	require.NoError(t, err, "guest tests must run in a guest: go test -tags guest -exec guestexec")
	require.NoError(t, lab.Heal())
	t.Cleanup(func() { assert.NoError(t, lab.Heal()) })
	return lab
}

// doctor runs the program on the guest.
func doctor(t *testing.T, args ...string) (status int, d document) {
	t.Helper()
	var out, diag bytes.Buffer
	status = run(append(args, "-json"), nil, thisMachine, &out, &diag)
	require.Empty(t, diag.String())
	require.NoError(t, json.Unmarshal(out.Bytes(), &d))
	return status, d
}

// find returns the findings of a check at a place with a level.
func find(d document, level Level, check, where string) (found []Finding) {
	for _, f := range d.Findings {
		if f.Level == level && f.Check == check && f.Where == where {
			found = append(found, f)
		}
	}
	return found
}

// ip runs the command, and its opposite at the end of the test.
func ip(t *testing.T, do, undo string) {
	t.Helper()
	out, err := exec.Command("ip", strings.Fields(do)...).CombinedOutput()
	require.NoError(t, err, "ip %s: %s", do, out)
	t.Cleanup(func() {
		out, err := exec.Command("ip", strings.Fields(undo)...).CombinedOutput()
		assert.NoError(t, err, "ip %s: %s", undo, out)
	})
}

// A guest in which all is well has no fault, and what is said of it is true.
func TestGuestWell(t *testing.T) {
	lab := openLab(t)
	status, d := doctor(t, strings.Fields("-retry 7 -timeout 14 -rnr 6 -fan-in 4 -buffer 1048576")...)
	assert.Equal(t, exitWell, status, "%+v", d.Findings)
	assert.Equal(t, []string{"the way to a peer (-peer)"}, d.Skipped)
	for check, want := range map[string]string{
		"devices":      "4 RDMA devices: rxa0, rxa1, rxb0, rxb1",
		"modules":      "ib_uverbs and rdma_ucm are there",
		"device-node":  "4 nodes under /dev/infiniband can be opened",
		"libibverbs":   "loaded, lists 4 devices",
		"net-device":   "4 network devices below the active ports, all up",
		"gid":          "4 RoCE ports with a RoCE v2 GID of an IPv4 address",
		"mtu":          "the RDMA MTU of Ethernet ports is 4096",
		"retry":        "a receiver that is not ready is reported, after 6 retries",
		"window-floor": "4 windows of 64 KiB fit into 1 MiB",
	} {
		found := find(d, OK, check, "")
		if assert.NotEmpty(t, found, "%s: %+v", check, d.Findings) {
			assert.Equal(t, want, found[0].Seen)
		}
	}
	assert.NotEmpty(t, find(d, OK, "memlock", ""))
	for _, nic := range lab.All() {
		assert.Len(t, find(d, OK, "port", nic.Device+" port 1"), 1)
	}
	hidden := find(d, Note, "flow-control", "")
	require.Len(t, hidden, 1, "veth shows nothing of flow control")
	assert.Contains(t, hidden[0].Seen, "a0, a1, b0, b1")

	require.Len(t, d.Ports, 4)
	for i, nic := range []softroce.NIC{lab.A[0], lab.A[1], lab.B[0], lab.B[1]} {
		p := d.Ports[i]
		assert.Equal(t, nic.Device, p.Name)
		assert.Equal(t, 4096, p.MTU)
		assert.Equal(t, 4200, p.NetMTU)
		assert.Contains(t, p.Addrs, nic.Addr)
	}
}

func TestGuestPortDown(t *testing.T) {
	lab := openLab(t)
	down := lab.B[0]
	undo, err := lab.LinkDown(down)
	require.NoError(t, err)
	var found []Finding
	require.Eventually(t, func() bool {
		status, d := doctor(t)
		found = find(d, Warning, "port", down.Device+" port 1")
		return status == exitWrong && len(found) == 1
	}, patience, interval)
	assert.Contains(t, found[0].Fix, "`ip link set "+down.NetDev+" up`")
	require.NoError(t, undo())
	require.Eventually(t, func() bool { status, _ := doctor(t); return status == exitWell }, patience, interval)
}

// A node that was not passed in: sysfs shows the device all the same.
func TestGuestNodeAbsent(t *testing.T) {
	openLab(t)
	const node = "/dev/infiniband/uverbs0"
	name, err := os.ReadFile("/sys/class/infiniband_verbs/uverbs0/ibdev")
	require.NoError(t, err)
	device := strings.TrimSpace(string(name))
	require.NoError(t, os.Rename(node, node+".away"))
	t.Cleanup(func() { assert.NoError(t, os.Rename(node+".away", node)) })

	status, d := doctor(t)
	assert.Equal(t, exitWrong, status)
	found := find(d, Fault, "device-node", device)
	require.Len(t, found, 1, "%+v", d.Findings)
	assert.Contains(t, found[0].Seen, node+" does not exist here")
	assert.Empty(t, find(d, Fault, "libibverbs", device), "one cause is told once")
}

// libibverbs follows the network device, and so does what a peer is told.
func TestGuestMTU(t *testing.T) {
	lab := openLab(t)
	_, before := doctor(t)
	file := filepath.Join(t.TempDir(), "peer.json")
	data, err := json.Marshal(before)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o644))
	status, d := doctor(t, "-peer", file)
	assert.Equal(t, exitWell, status)
	assert.Len(t, find(d, OK, "peer-mtu", ""), 1)
	small := lab.A[0]
	assert.Len(t, find(d, Note, "reach", small.Device+" port 1"), 1, "its subnet is in no table that can be read")

	ip(t, "link set "+small.NetDev+" mtu 1500", "link set "+small.NetDev+" mtu 4200")
	var verdict []Finding
	require.Eventually(t, func() bool {
		status, d = doctor(t, "-peer", file)
		verdict = find(d, Warning, "peer-mtu", small.Device+" port 1")
		return status == exitWrong && len(verdict) == 1
	}, patience, interval)
	assert.Contains(t, verdict[0].Seen, "The RDMA MTU here is 1024; at the peer ")
	assert.Len(t, find(d, Note, "mtu", small.Device+" port 1"), 1)
	differ := find(d, Warning, "mtu", "")
	require.Len(t, differ, 1)
	assert.Contains(t, differ[0].Seen, small.Device+" port 1 has 1024")
}

// Subnets are those of the kernel's own table.
func TestGuestSubnets(t *testing.T) {
	lab := openLab(t)
	a, b := lab.A[0].NetDev, lab.B[0].NetDev
	ip(t, "addr add 10.50.0.1/24 dev "+a, "addr del 10.50.0.1/24 dev "+a)
	ip(t, "addr add 10.50.0.2/24 dev "+b, "addr del 10.50.0.2/24 dev "+b)
	require.Eventually(t, func() bool {
		_, d := doctor(t)
		return len(find(d, OK, "shared-subnet", "")) == 1
	}, patience, interval, "the lab's interfaces answer ARP for themselves only")

	ip(t, "addr add 10.50.0.3/24 dev "+a, "addr del 10.50.0.3/24 dev "+a)
	var twins []Finding
	require.Eventually(t, func() bool {
		_, d := doctor(t)
		twins = find(d, Note, "gid", lab.A[0].Device+" port 1")
		return len(twins) == 1
	}, patience, interval)
	assert.Contains(t, twins[0].Seen, "are in one subnet, 10.50.0.0/24")

	setting := "/proc/sys/net/ipv4/conf/" + b + "/arp_ignore"
	require.NoError(t, os.WriteFile(setting, []byte("0"), 0o644))
	t.Cleanup(func() { assert.NoError(t, os.WriteFile(setting, []byte("1"), 0o644)) })
	_, d := doctor(t)
	flux := find(d, Warning, "shared-subnet", "")
	require.Len(t, flux, 1)
	assert.Contains(t, flux[0].Seen, b+" may answer ARP")
}
