package rail

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDevices(t *testing.T) {
	up := func(name string, port uint8) NIC { return NIC{Name: name, Port: port} }
	down := func(name string, port uint8) NIC { return NIC{Name: name, Port: port, Unusable: "down"} }
	tests := []struct {
		name           string
		ports, devices []NIC
		notes          []string
	}{
		{"none", nil, nil, nil},
		{"one port each", []NIC{up("b", 1), down("a", 1)}, []NIC{up("b", 1), down("a", 1)}, nil},
		{"the first that can be used", []NIC{down("a", 1), up("b", 1), up("a", 2)}, []NIC{up("a", 2), up("b", 1)}, nil},
		{"or the first", []NIC{down("a", 1), down("a", 2)}, []NIC{down("a", 1)}, nil},
		{"another that could be used", []NIC{up("a", 2), down("a", 3), up("a", 1)}, []NIC{up("a", 2)},
			[]string{`port 1 of remote "a" is left out: a path names the remote device alone, and is taken for port 2`}},
		{"a device without ports", []NIC{down("a", 0)}, []NIC{down("a", 0)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			devices, notes := Devices(tt.ports)
			assert.Equal(t, tt.devices, devices)
			assert.Equal(t, tt.notes, notes)
			_, err := NewMap(MapConfig{Peer: "P", Remote: devices})
			assert.NoError(t, err)
		})
	}
	for _, ports := range [][]NIC{{up("a", 1), up("a", 1)}, {up("a", 1), up("a", 2), down("a", 2)}} {
		devices, _ := Devices(ports)
		_, err := NewMap(MapConfig{Peer: "P", Remote: devices})
		require.ErrorContains(t, err, `remote NIC "a", port `, "a port that is listed twice is a fault")
	}
}
