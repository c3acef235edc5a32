package softroce

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddressScript(t *testing.T) {
	l, err := NewLayout(1)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"addr add 10.9.1.1/32 dev a0",
		"rule add pref 10 iif a0 lookup local",
		"rule add pref 20 from 10.9.1.1 to 10.9.0.0/16 lookup 100",
		"route add 10.9.0.0/16 dev void metric 1000 table 100",
		"link set a0 up",
		"route replace 10.9.0.0/16 dev a0 src 10.9.1.1 table 100",
		"neigh replace 10.9.2.1 lladdr 02:00:00:00:02:01 dev a0 nud permanent",
		"addr add 10.9.2.1/32 dev b0",
		"rule add pref 10 iif b0 lookup local",
		"rule add pref 20 from 10.9.2.1 to 10.9.0.0/16 lookup 116",
		"route add 10.9.0.0/16 dev void metric 1000 table 116",
		"link set b0 up",
		"route replace 10.9.0.0/16 dev b0 src 10.9.2.1 table 116",
		"neigh replace 10.9.1.1 lladdr 02:00:00:00:01:01 dev b0 nud permanent",
		"rule add pref 100 lookup local",
		"rule del pref 0",
	}, l.addressScript(), "local delivery gives way to the links only after every NIC has its routes")
}

// fakeDevice writes the files of a device as the kernel shows them.
func fakeDevice(t *testing.T, device, state string, gids ...string) (sysfs string) {
	t.Helper()
	sysfs = t.TempDir()
	dir := filepath.Join(sysfs, device, "ports/1/gids")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "../state"), []byte(state+"\n"), 0o644))
	for i, gid := range gids {
		require.NoError(t, os.WriteFile(filepath.Join(dir, string(rune('0'+i))), []byte(gid+"\n"), 0o644))
	}
	return sysfs
}

func TestDeviceReady(t *testing.T) {
	const (
		linkLocal = "fe80:0000:0000:0000:0000:00ff:fe00:0101"
		mapped    = "0000:0000:0000:0000:0000:ffff:0a09:0101"
	)
	n := newNIC(0, 0)
	tests := []struct {
		name  string
		state string
		gids  []string
		index int
		want  string // part of the error; empty means ready
	}{
		{"ready", "4: ACTIVE", []string{linkLocal, mapped}, 1, ""},
		{"other place", "4: ACTIVE", []string{mapped}, 0, ""},
		{"no GID of the address", "4: ACTIVE", []string{linkLocal}, 0, "10.9.1.1"},
		{"port down", "1: DOWN", []string{linkLocal, mapped}, 1, `"1: DOWN"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sysfs := fakeDevice(t, n.Device, tt.state, tt.gids...)
			err := n.ready(sysfs)
			if tt.want != "" {
				assert.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			index, err := n.findGID(sysfs)
			require.NoError(t, err)
			assert.Equal(t, tt.index, index)
		})
	}
	assert.ErrorContains(t, n.ready(t.TempDir()), "rxa0", "the error names the device that is not there")
}
