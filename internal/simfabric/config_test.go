package simfabric

import (
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/rail"
)

func TestConfigIsChecked(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(c *Config)
		want  string
	}{
		{"no hosts", func(c *Config) { c.Hosts = nil }, "0 hosts: invalid argument; give 1 to 255"},
		{"no NICs", func(c *Config) { c.Hosts[1].NICs = nil }, `host "host-b" has 0 NICs`},
		{"two hosts of one name", func(c *Config) { c.Hosts[1].Name = "host-a" }, `two of the name "host-a"`},
		{"two NICs of one name", func(c *Config) { c.Hosts[1].NICs[1].Name = "nic0" }, `two of the name "nic0" (NIC of host-b)`},
		{"host without name", func(c *Config) { c.Hosts[0].Name = "" }, "the name of a host has 0 bytes"},
		{"name of 256 bytes", func(c *Config) { c.Hosts[0].NICs[0].Name = strings.Repeat("x", 256) }, "has 256 bytes"},
		{"rate 0", func(c *Config) { c.Rate = 0 }, `NIC "nic0" has a rate of 0 bytes/s: invalid argument; set Rate to 1 to 1000000000000`},
		{"rate of a NIC negative", func(c *Config) { c.Hosts[0].NICs[2].Rate = -1 }, `NIC "nic2" has a rate of -1 bytes/s`},
		{"latency negative", func(c *Config) { c.Latency = -1 }, "has a latency of -1ns"},
		{"latency of an hour", func(c *Config) { c.Hosts[0].NICs[2].Latency = time.Hour }, "has a latency of 1h0m0s"},
		{"odd MTU", func(c *Config) { c.MTU = 1500 }, "has an MTU of 1500 bytes: invalid argument; set MTU to 256"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := testConfig()
			cfg.Hosts[1].NICs = append([]NICConfig(nil), cfg.Hosts[1].NICs...)
			tc.spoil(&cfg)
			n, err := New(cfg)
			require.ErrorIs(t, err, syscall.EINVAL)
			assert.ErrorContains(t, err, tc.want)
			assert.Nil(t, n)
		})
	}
}

func TestConfigReportsEveryFault(t *testing.T) {
	cfg := testConfig()
	cfg.Hosts[0].Name = ""
	cfg.Hosts[1].NICs = []NICConfig{{Name: "x", MTU: 1}, {Name: "x", Rate: -5}}
	err := cfg.Validate()
	for _, want := range []string{"0 bytes", "MTU of 1 bytes", `"x"`, "rate of -5"} {
		assert.ErrorContains(t, err, want)
	}
}

func TestNames(t *testing.T) {
	cfg := testConfig()
	cfg.Reason = "asked for"
	n := newNet(t, cfg)
	h, err := n.Host("host-b")
	require.NoError(t, err)
	assert.Equal(t, "in-process simulated fabric, host host-b (asked for)", h.Name())
	require.Len(t, h.NICs(), 4)
	for i, want := range []string{"nic0", "nic1", "nic2", "nic3"} {
		assert.Equal(t, want, h.NICs()[i].Name(), "NICs keep the order of the configuration")
		assert.Equal(t, uint8(1), h.NICs()[i].Port())
	}
	nic, err := n.NIC("host-b", "nic2")
	require.NoError(t, err)
	assert.Same(t, h.NICs()[2], nic)
	_, err = n.Host("host-c")
	assert.ErrorContains(t, err, `no host "host-c": invalid argument; hosts here: host-a, host-b`)
	_, err = n.NIC("host-a", "mlx5_0")
	assert.ErrorContains(t, err, `no NIC "mlx5_0": invalid argument; NICs here: nic0, nic1, nic2, nic3`)
}

func TestNICsDescribeThemselves(t *testing.T) {
	cfg := testConfig()
	own := netip.MustParseAddr("192.168.7.1")
	cfg.Hosts[1].NICs = []NICConfig{{Name: "x", Rate: 50e9, NUMA: rail.NodeOf(1), Addr: own}}
	n := newNet(t, cfg)
	assert.Equal(t, rail.NIC{Name: "nic2", Port: 1, Link: rail.LinkEthernet, Rate: 0.8, Addrs: []netip.Addr{netip.MustParseAddr("10.0.1.3")}},
		nicOf(t, n, "host-a", 2).Info())
	assert.Equal(t, rail.NIC{Name: "x", Port: 1, NUMA: rail.NodeOf(1), Link: rail.LinkEthernet, Rate: 400, Addrs: []netip.Addr{own}},
		nicOf(t, n, "host-b", 0).Info())
}
