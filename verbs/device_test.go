//go:build linux && cgo

package verbs

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/verbs/internal/stub"
)

// TestDevicesOfThisMachine holds with and without RDMA hardware, RDMA in the
// kernel, and libibverbs.
func TestDevicesOfThisMachine(t *testing.T) {
	list, err := Devices()
	if err != nil {
		require.ErrorIs(t, err, errors.ErrUnsupported, "a machine without RDMA is not a fault: %v", err)
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.NotEmpty(t, e.Call)
		assert.NotEmpty(t, e.Remedy, "the error tells what to do")
		_, err = Open("nosuch0")
		assert.ErrorIs(t, err, errors.ErrUnsupported, "Open reports the same")
		return
	}
	for _, d := range list {
		assert.NotEmpty(t, d.Name)
	}
}

func TestMissingLibrary(t *testing.T) {
	_, err := loadSO("libibverbs-absent.so.9")
	require.ErrorIs(t, err, ErrNoLibrary)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	assert.ErrorContains(t, err, "libibverbs-absent.so.9", "the library is named")
	assert.ErrorContains(t, err, "libibverbs1", "the package is named")
}

func TestLibraryWithoutAFunction(t *testing.T) {
	stub.Hide("ibv_create_qp")
	defer stub.Hide("")
	_, err := fillTable("stub", stub.Resolver(), nil)
	require.ErrorIs(t, err, ErrNoLibrary)
	assert.ErrorContains(t, err, "ibv_create_qp")
}

func TestDeviceList(t *testing.T) {
	list, err := stubLibrary(t).devices()
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, Device{
		Name: "stub0", GUID: 0x021122fffe334400, NodeType: NodeCA, Transport: TransportIB,
		Uverbs: "uverbs0", SysfsPath: "/sys/class/infiniband/stub0",
	}, list[0])
	assert.Equal(t, "0211:22ff:fe33:4401", list[1].GUID.String())
	assert.Equal(t, NodeRNIC, list[1].NodeType)
	assert.Equal(t, TransportIWARP, list[1].Transport)
}

func TestOpenErrors(t *testing.T) {
	cases := []struct {
		name     string
		device   string
		function string
		errno    syscall.Errno
		want     []string
	}{
		{"unknown device", "mlx5_7", "", syscall.ENODEV, []string{`"mlx5_7"`, "stub0, stub1"}},
		{"kernel without RDMA", "stub0", "ibv_get_device_list", syscall.ENOSYS, []string{"modprobe ib_uverbs"}},
		{"no permission", "stub0", "ibv_open_device", syscall.EACCES, []string{"ibv_open_device", "/dev/infiniband/uverbs0", "read and write"}},
		{"no device node", "stub1", "ibv_open_device", syscall.ENOENT, []string{"/dev/infiniband/uverbs1 is missing"}},
		{"device on its way out", "stub0", "ibv_open_device", syscall.EIO, []string{"try again"}},
	}
	lib := stubLibrary(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.function != "" {
				stub.Fail(c.function, int(c.errno))
			}
			ctx, err := lib.open(c.device)
			require.Error(t, err)
			assert.Nil(t, ctx)
			assert.ErrorIs(t, err, c.errno)
			for _, part := range c.want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
}

func TestContextQueries(t *testing.T) {
	ctx := openStub(t)
	assert.Equal(t, "stub0", ctx.Device())
	assert.False(t, ctx.Foreign())

	attr, err := ctx.Query()
	require.NoError(t, err)
	assert.Equal(t, "1.2.3", attr.Firmware)
	assert.Equal(t, GUID(0x021122fffe334400), attr.NodeGUID)
	assert.EqualValues(t, 1, attr.Ports)
	assert.Equal(t, 16, attr.MaxReadsIn)

	port, err := ctx.QueryPort(1)
	require.NoError(t, err)
	assert.Equal(t, PortActive, port.State)
	assert.Equal(t, LinkEthernet, port.LinkLayer)
	assert.Equal(t, 1024, port.ActiveMTU.Bytes())
	assert.EqualValues(t, 100e9, port.BitsPerSecond(), "4 lanes of 25 Gbit/s")

	for _, p := range []uint8{0, 2} {
		_, err = ctx.QueryPort(p)
		assert.ErrorIs(t, err, syscall.EINVAL, "port %d does not exist", p)
	}
}

func TestPortDown(t *testing.T) {
	ctx := openStub(t)
	require.NoError(t, ctx.CheckPort(1))
	stub.SetPortState(int(PortDown))
	defer stub.SetPortState(int(PortActive))
	err := ctx.CheckPort(1)
	require.ErrorIs(t, err, syscall.ENETDOWN)
	assert.ErrorContains(t, err, "port 1 of stub0")
	assert.ErrorContains(t, err, `"down"`)
}

func TestGIDs(t *testing.T) {
	ctx := openStub(t)
	want := []GIDEntry{
		{Index: 0, Port: 1, GID: mapped(10, 9, 0, 1), Type: GIDTypeRoCEv1, IfIndex: 7},
		{Index: 1, Port: 1, GID: mapped(10, 9, 0, 1), Type: GIDTypeRoCEv2, IfIndex: 7},
	}
	got, err := ctx.GIDs(1)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, "10.9.0.1", got[0].GID.String())

	one, err := ctx.GID(1, 1)
	require.NoError(t, err)
	assert.Equal(t, want[1], one)
	_, err = ctx.GID(1, 5)
	assert.ErrorIs(t, err, syscall.ENODATA)
	assert.ErrorContains(t, err, "GID index 5")
}

func TestGIDsOfAnOldLibrary(t *testing.T) {
	stub.Hide("_ibv_query_gid_ex _ibv_query_gid_table")
	lib := stubLibrary(t)
	stub.Hide("")
	ctx, err := lib.open("stub0")
	require.NoError(t, err)
	defer ctx.Close()

	got, err := ctx.GIDs(1)
	require.NoError(t, err)
	require.Len(t, got, 2, "empty entries are left out")
	assert.Equal(t, GIDEntry{Index: 1, Port: 1, GID: mapped(10, 9, 0, 1), Type: GIDTypeUnknown}, got[1])
}

func mapped(a, b, c, d byte) GID {
	return GID{10: 0xff, 11: 0xff, 12: a, 13: b, 14: c, 15: d}
}
