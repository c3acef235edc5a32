package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPeerFile(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", " \n", "it is empty"},
		{"text", "FAULT    devices", "invalid character"},
		{"cut off", `{"ports": [{"name": "a"`, "unexpected EOF"},
		{"more", `[] []`, "there is more after its end"},
		{"other JSON", `{"all": []}`, `unknown field "all"`},
		{"no ports", `{"findings": []}`, "it holds no list of ports"},
		{"null", "null", "it holds no list of ports"},
		{"a bad port", `[{"name": "a", "numa": "first"}]`, "NUMA node"},
		{"a bad level", `{"findings": [{"level": "BAD"}], "ports": []}`, `"BAD" is no Level`},
		{"too large", strings.Repeat(" ", maxPeerFile) + "[1", "larger than"},
	} {
		file := filepath.Join(t.TempDir(), "peer.json")
		require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o644))
		_, err := readPeer(file)
		require.Error(t, err, tt.name)
		assert.ErrorContains(t, err, tt.want, tt.name)
		assert.ErrorContains(t, err, "doctor -json", tt.name)
	}
	for _, text := range []string{"[]", `{"ports": []}`, `{"ports": [], "skipped": null}`} {
		ports, err := parsePeer(strings.NewReader(text))
		require.NoError(t, err, "a host without ports is one too: %s", text)
		assert.NotNil(t, ports)
		assert.Empty(t, ports)
	}
	ports, err := readPeer("../rails/testdata/host-b.json")
	require.NoError(t, err, "what examples/rails writes")
	assert.NotEmpty(t, ports)
}

// Whatever a peer's file holds, the report ends.
func FuzzPeerFile(f *testing.F) {
	for _, name := range []string{"mlx5-peer.json", "rails-peer.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(string(data))
	}
	f.Add(`[{"name": "\u001b[2J", "port": 1, "link": "Ethernet", "addrs": ["", "fe80::1%x", "10.0.0.2"], "mtu": -1}]`)
	f.Fuzz(func(t *testing.T, text string) {
		ports, err := parsePeer(strings.NewReader(text))
		if err != nil {
			return
		}
		h := loadTree(t, "mlx5").host()
		h.peer = ports
		h.look()
		var out strings.Builder
		require.NoError(t, writeText(&out, document{examine(h), h.facts(), h.skipped()}))
		assert.NotContains(t, out.String(), "\x1b")
	})
}
