//go:build guest

package verbs_test

import (
	"net"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/labverbs"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/verbs"
)

// guestLab returns the fabric of the guest, healed before and after the test. It
// fails on any other machine: these tests are about real verbs.
func guestLab(t testing.TB) *softroce.Lab {
	t.Helper()
	lab, err := softroce.Current()
	require.NoError(t, err, "guest tests run in a Soft-RoCE guest only")
	require.NoError(t, lab.Heal())
	t.Cleanup(func() { assert.NoError(t, lab.Heal()) })
	return lab
}

func connect(t testing.TB, from, to softroce.NIC, config labverbs.Config) *labverbs.Pair {
	t.Helper()
	pair, err := labverbs.Connect(from, to, config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pair.Close()) })
	return pair
}

func TestGuestDevices(t *testing.T) {
	lab := guestLab(t)
	list, err := verbs.Devices()
	require.NoError(t, err)
	byName := make(map[string]verbs.Device)
	for _, d := range list {
		byName[d.Name] = d
	}
	for _, nic := range lab.All() {
		d, ok := byName[nic.Device]
		require.True(t, ok, "%s is listed; got %v", nic.Device, list)
		assert.Equal(t, verbs.NodeCA, d.NodeType)
		assert.Equal(t, verbs.TransportIB, d.Transport)
		assert.NotZero(t, d.GUID)
		assert.Regexp(t, `^uverbs\d+$`, d.Uverbs)
		checkDevice(t, nic)
	}
	_, err = verbs.Open("mlx5_99")
	assert.ErrorContains(t, err, lab.A[0].Device, "an unknown device is answered with those that exist")
}

func checkDevice(t *testing.T, nic softroce.NIC) {
	t.Helper()
	ctx, err := verbs.Open(nic.Device)
	require.NoError(t, err)
	defer ctx.Close()
	attr, err := ctx.Query()
	require.NoError(t, err)
	assert.EqualValues(t, 1, attr.Ports)
	assert.Positive(t, attr.MaxQPWR)
	assert.Positive(t, attr.MaxSGE)

	port, err := ctx.QueryPort(1)
	require.NoError(t, err)
	assert.Equal(t, verbs.PortActive, port.State)
	assert.Equal(t, verbs.LinkEthernet, port.LinkLayer)
	assert.Equal(t, verbs.MTU4096, port.ActiveMTU)
	assert.Positive(t, port.BitsPerSecond())
	_, err = ctx.QueryPort(7)
	assert.Error(t, err, "there is no port 7")

	netdev, err := net.InterfaceByName(nic.NetDev)
	require.NoError(t, err)
	gids, err := ctx.GIDs(1)
	require.NoError(t, err)
	found := false
	for _, e := range gids {
		if int(e.Index) != nic.GIDIndex {
			continue
		}
		found = true
		assert.Equal(t, nic.Addr, e.GID.Addr())
		assert.Equal(t, verbs.GIDTypeRoCEv2, e.Type)
		assert.EqualValues(t, netdev.Index, e.IfIndex)
		one, err := ctx.GID(1, e.Index)
		require.NoError(t, err)
		assert.Equal(t, e, one, "one entry reads as in the table")
	}
	assert.True(t, found, "GID index %d of %s is in %v", nic.GIDIndex, nic.Device, gids)
	_, err = ctx.GID(1, uint32(port.GIDs)-1)
	assert.Error(t, err, "the last entry is empty")
}

func TestGuestSuccess(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[0], lab.B[1], labverbs.Config{})
	cases := []struct {
		name   string
		op     verbs.Opcode
		opcode verbs.WCOpcode
		recv   verbs.WCOpcode // at the peer, where there is one
		reads  bool
	}{
		{name: "READ", op: verbs.OpRead, opcode: verbs.WCRead, reads: true},
		{name: "WRITE", op: verbs.OpWrite, opcode: verbs.WCWrite},
		{name: "WRITE_WITH_IMM", op: verbs.OpWriteWithImm, opcode: verbs.WCWrite, recv: verbs.WCRecvWithImm},
		{name: "SEND", op: verbs.OpSend, opcode: verbs.WCSend, recv: verbs.WCRecv},
		{name: "SEND_WITH_IMM", op: verbs.OpSendWithImm, opcode: verbs.WCSend, recv: verbs.WCRecv},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			const n = 3
			source, target := pair.From.Bytes(), pair.To.Bytes()
			if c.reads {
				source, target = target, source
			}
			fill(source, byte(c.op))
			clear(target)
			if c.recv != 0 {
				require.NoError(t, pair.PostReceives(n, labverbs.SliceBytes))
			}
			list := pair.Requests(c.op, n)
			list[0].Flags = 0 // makes no completion
			require.NoError(t, pair.Post(list))

			wcs, err := labverbs.Collect(pair.From.CQ, n-1)
			require.NoError(t, err)
			for i, wc := range wcs {
				assert.Equal(t, classify.StatusSuccess, wc.Status)
				assert.EqualValues(t, i+1, wc.WRID)
				assert.Equal(t, c.opcode, wc.Opcode)
				assert.Equal(t, pair.From.QP.Num(), wc.QPNum)
			}
			if c.recv != 0 {
				checkReceives(t, pair, n, c.recv, c.op != verbs.OpSend)
			}
			moved := n * labverbs.SliceBytes
			assert.Equal(t, source[:moved], target[:moved], "the bytes arrived")
			assert.Zero(t, target[moved], "and no more than those")
		})
	}
}

func checkReceives(t *testing.T, pair *labverbs.Pair, n int, opcode verbs.WCOpcode, withImm bool) {
	t.Helper()
	wcs, err := labverbs.Collect(pair.To.CQ, n)
	require.NoError(t, err)
	for i, wc := range wcs {
		assert.Equal(t, classify.StatusSuccess, wc.Status)
		assert.Equal(t, opcode, wc.Opcode)
		assert.EqualValues(t, 100+i, wc.WRID)
		assert.EqualValues(t, labverbs.SliceBytes, wc.ByteLen)
		assert.Equal(t, withImm, wc.Flags&verbs.WCWithImm != 0)
		if withImm {
			assert.EqualValues(t, 0x1000+i, wc.Imm(), "immediate data in host byte order")
		}
	}
}

func fill(b []byte, seed byte) {
	for i := range b {
		b[i] = byte(i*7) + seed + byte(i>>8) | 1
	}
}

func TestGuestGather(t *testing.T) {
	lab := guestLab(t)
	pair := connect(t, lab.A[1], lab.B[0], labverbs.Config{})
	copy(pair.From.Bytes(), "one..two..")
	list := pair.Requests(verbs.OpWrite, 1)
	first, err := pair.From.MR.SGE(5, 3)
	require.NoError(t, err)
	second, err := pair.From.MR.SGE(0, 3)
	require.NoError(t, err)
	list[0].SGE, list[0].More = first, []verbs.SGE{second}
	require.NoError(t, pair.Post(list))
	wcs, err := labverbs.Collect(pair.From.CQ, 1)
	require.NoError(t, err)
	require.Equal(t, classify.StatusSuccess, wcs[0].Status)
	assert.Equal(t, "twoone\x00", string(pair.To.Bytes()[:7]))
}

// TestGuestNoPermission opens a device from a thread of a user who may not.
func TestGuestNoPermission(t *testing.T) {
	lab := guestLab(t)
	list, err := verbs.Devices()
	require.NoError(t, err)
	i := slices.IndexFunc(list, func(d verbs.Device) bool { return d.Name == lab.A[0].Device })
	require.GreaterOrEqual(t, i, 0)
	node := "/dev/infiniband/" + list[i].Uverbs
	info, err := os.Stat(node)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(node, 0o600))
	t.Cleanup(func() { require.NoError(t, os.Chmod(node, info.Mode().Perm())) })

	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		const nobody = 65534
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			result <- errno
			return
		}
		_, err := list[i].Open()
		result <- err
	}()
	err = <-result
	require.ErrorIs(t, err, syscall.EACCES)
	assert.ErrorContains(t, err, node, "the error names the file")
}
