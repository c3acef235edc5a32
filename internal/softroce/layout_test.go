package softroce

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLayoutNames(t *testing.T) {
	l, err := NewLayout(5)
	require.NoError(t, err)
	require.Len(t, l.A, 5)
	require.Len(t, l.B, 5)
	assert.Equal(t, "rxa0", l.A[0].Device)
	assert.Equal(t, "a0", l.A[0].NetDev)
	assert.Equal(t, netip.MustParseAddr("10.9.1.1"), l.A[0].Addr)
	assert.Equal(t, "rxb4", l.B[4].Device)
	assert.Equal(t, netip.MustParseAddr("10.9.2.5"), l.B[4].Addr)
	assert.Equal(t, -1, l.B[4].GIDIndex, "the GID index is not known outside the guest")
	assert.Len(t, l.All(), 10)

	n, err := l.ByDevice("rxb3")
	require.NoError(t, err)
	assert.Equal(t, l.B[3], n)
	_, err = l.ByDevice("mlx5_0")
	assert.ErrorContains(t, err, `"mlx5_0"`, "the error names the device asked for")
}

func TestLayoutRefusesCounts(t *testing.T) {
	for _, nics := range []int{-1, 0, MaxNICs + 1} {
		_, err := NewLayout(nics)
		assert.ErrorContains(t, err, "give 1 to 16", "%d NICs a side", nics)
	}
}

// TestLayoutIsUnambiguous checks that no two NICs of the largest layout share
// a name, an address, a routing table or a filter.
func TestLayoutIsUnambiguous(t *testing.T) {
	l, err := NewLayout(MaxNICs)
	require.NoError(t, err)
	seen := make(map[any]string)
	claim := func(what any, owner NIC) {
		assert.Empty(t, seen[what], "%v of %v is taken", what, owner)
		seen[what] = owner.Device
	}
	for _, n := range l.All() {
		claim(n.NetDev, n)
		claim(n.port, n)
		claim(n.mac, n)
		claim(n.table(), n)
		claim("pref "+filterPref(n), n)
		claim(n.Addr, n)
		for k := range maxSpares {
			claim(n.spareAddr(k), n)
		}
		assert.True(t, fabric.Contains(n.spareAddr(maxSpares-1)), "addresses of %v belong to the fabric", n)
	}
}
