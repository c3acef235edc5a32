package verbsfabric

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
)

// On a machine without RDMA the error says that it is unsupported; on one with, it
// names the devices that there are.
func TestOpenOfAnUnknownDevice(t *testing.T) {
	_, err := Open("test", "no-such-device")
	require.Error(t, err)
	if !errors.Is(err, errors.ErrUnsupported) {
		assert.ErrorContains(t, err, `"no-such-device"`)
	}
}

func TestPathMTU(t *testing.T) {
	for _, bytes := range []int{256, 512, 1024, 2048, 4096} {
		m, err := pathMTU(bytes)
		require.NoError(t, err)
		assert.Equal(t, bytes, m.Bytes())
	}
	for _, bytes := range []int{-1, 0, 1500, 8192} {
		_, err := pathMTU(bytes)
		assert.ErrorContains(t, err, "must be 256, 512, 1024, 2048 or 4096", "%d bytes", bytes)
	}
}

func TestReadsStayWithinTheDevice(t *testing.T) {
	assert.EqualValues(t, 1, reads(0), "a QP needs one to read at all")
	assert.EqualValues(t, 4, reads(4))
	assert.EqualValues(t, maxReads, reads(1000))
}

func TestNUMANode(t *testing.T) {
	sysfs := t.TempDir()
	for device, text := range map[string]string{"one": "1\n", "none": "-1\n", "empty": ""} {
		dir := filepath.Join(sysfs, "class/infiniband", device, "device")
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "numa_node"), []byte(text), 0o644))
	}
	assert.Equal(t, rail.NodeOf(1), numaNode(sysfs, "one"))
	for _, device := range []string{"none", "empty", "missing"} {
		assert.False(t, numaNode(sysfs, device).Known, "device %q", device)
	}
}
