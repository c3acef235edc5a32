package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// kernelHex writes an address as this machine's kernel does.
func kernelHex(addr string) string {
	b := netip.MustParseAddr(addr).As4()
	return fmt.Sprintf("%08X", binary.NativeEndian.Uint32(b[:]))
}

func TestSubnet(t *testing.T) {
	routes := "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT"
	for _, r := range []struct{ dev, to, gateway, mask string }{
		{"a", "0.0.0.0", "10.0.0.254", "0.0.0.0"},
		{"a", "10.0.0.0", "0.0.0.0", "255.255.0.0"},
		{"a", "10.0.5.0", "0.0.0.0", "255.255.255.0"},
		{"a", "10.0.6.0", "10.0.0.254", "255.255.255.0"},
		{"b", "10.0.7.0", "0.0.0.0", "255.255.255.128"},
		{"c", "0.0.0.0", "0.0.0.0", "0.0.0.0"},
	} {
		routes += fmt.Sprintf("\n%s\t%s\t%s\t0001\t0\t0\t0\t%s\t0\t0\t0", r.dev, kernelHex(r.to), kernelHex(r.gateway), kernelHex(r.mask))
	}
	any, mask := kernelHex("0.0.0.0"), kernelHex("255.255.255.0")
	for dev, line := range map[string]string{ // each has a subnet 10.0.8.0/24, but for one field
		"bad to":      "0000000x " + any + " 1 0 0 0 " + mask,
		"bad gateway": kernelHex("10.0.8.0") + " 0000000x 1 0 0 0 " + mask,
		"bad mask":    kernelHex("10.0.8.0") + " " + any + " 1 0 0 0 FFF",
		"short":       kernelHex("10.0.8.0") + " " + any + " 1 0 0 0",
		"least":       kernelHex("10.0.8.0") + " " + any + " 1 0 0 0 " + mask,
	} {
		routes += "\n" + strings.ReplaceAll(dev, " ", "-") + " " + line
	}
	machine := tree{}
	machine.set("proc/net/route", routes)
	machine.set("proc/net/if_inet6", "fd000000000000000000000000000001 02 38 00 80        a\nfd000000000000000000000000000002 03 zz 00 80        a\nshort")
	h := machine.host()
	for _, tt := range []struct {
		addr, dev string
		kind      discover.GIDType
		want      string
	}{
		{"10.0.1.1", "a", discover.GIDRoCEv2, "10.0.0.0/16"},
		{"10.0.5.1", "a", discover.GIDRoCEv2, "10.0.5.0/24"},
		{"10.0.6.1", "a", discover.GIDRoCEv2, "10.0.0.0/16"}, // not the way through the router
		{"10.0.7.1", "b", discover.GIDRoCEv2, "10.0.7.0/25"},
		{"10.0.7.129", "b", discover.GIDRoCEv2, ""},
		{"10.0.1.1", "b", discover.GIDRoCEv2, ""}, // of another device
		{"10.0.1.1", "c", discover.GIDRoCEv2, ""}, // the default route is no subnet
		{"10.0.1.1", "", discover.GIDRoCEv2, ""},
		{"10.0.8.1", "least", discover.GIDRoCEv2, "10.0.8.0/24"},
		{"10.0.8.1", "short", discover.GIDRoCEv2, ""},
		{"10.0.8.1", "bad-to", discover.GIDRoCEv2, ""},
		{"0.0.0.1", "bad-to", discover.GIDRoCEv2, ""},
		{"10.0.8.1", "bad-gateway", discover.GIDRoCEv2, ""},
		{"10.0.8.1", "bad-mask", discover.GIDRoCEv2, ""},
		{"169.254.0.1", "c", discover.GIDRoCEv2, ""},
		{"fd00::1", "a", discover.GIDRoCEv2, "fd00::/56"},
		{"fd00::1", "b", discover.GIDRoCEv2, ""},
		{"fd00::2", "a", discover.GIDRoCEv2, ""},
		{"fd00::3", "a", discover.GIDRoCEv2, ""},
		{"fe80::1", "a", discover.GIDRoCEv2, ""},
		{"fe80::1", "", discover.GIDIB, "fe80::/64"},
		{"fec0:0:0:7::1", "", discover.GIDIB, "fec0:0:0:7::/64"},
	} {
		got, known := h.subnet(discover.GID{Addr: netip.MustParseAddr(tt.addr), NetDev: tt.dev, Type: tt.kind})
		assert.Equal(t, tt.want != "", known, "%s on %q", tt.addr, tt.dev)
		if known {
			assert.Equal(t, tt.want, got.String())
		}
	}
	h.root = nil
	_, known := h.subnet(discover.GID{Addr: netip.MustParseAddr("10.0.1.1"), NetDev: "a"})
	assert.False(t, known, "a sysfs alone has no routes")
}
