package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// pcieFile sets a file of both functions of the card.
func pcieFile(name, text string) func(tree) {
	return func(t tree) {
		t.set("sys/class/infiniband/mlx5_0/device/"+name, text)
		t.set("sys/class/infiniband/mlx5_1/device/"+name, text)
	}
}

func TestPCIe(t *testing.T) {
	const well = "the slots carry what the ports do"
	runExamples(t, checkPCIe, []example{
		{name: "wide enough", ok: well},
		{
			name: "half of the lanes", edit: pcieFile("current_link_width", "8"),
			want: []string{"WARNING PCI 0000:05:00: The card's PCIe link is 32 GT/s x8, about 252 Gb/s, and could be 32 GT/s x16. Its ports run at 400 Gb/s together: mlx5_0 port 1, mlx5_1 port 1."},
		},
		{name: "half of the speed", edit: pcieFile("current_link_speed", "16.0 GT/s PCIe"), want: []string{"WARNING PCI 0000:05:00: 16 GT/s x16, about 252 Gb/s"}},
		{
			name: "half of the lanes, which are enough for the one port that is up",
			edit: func(t tree) { pcieFile("current_link_width", "8")(t); down("3: Disabled", "mlx5_1")(t) }, ok: well,
		},
		{
			name: "half of the lanes, and two cards",
			edit: func(t tree) {
				pcieFile("current_link_width", "8")(t)
				t.set("sys/class/infiniband/mlx5_1/device/uevent", "PCI_SLOT_NAME=0000:85:00.0")
			},
			ok: well,
		},
		{
			name: "all that the card can do",
			edit: func(t tree) { pcieFile("current_link_width", "8")(t); pcieFile("max_link_width", "8")(t) }, ok: well,
		},
		{name: "unknown speed", edit: pcieFile("current_link_speed", "Unknown")},
		{name: "unknown width", edit: pcieFile("current_link_width", "0")},
		{name: "unknown maximum", edit: pcieFile("max_link_speed", "")},
		{name: "virtual functions", edit: func(t tree) { pcieFile("current_link_width", "1")(t); pcieFile("physfn/vendor", "0x15b3")(t) }},
		{name: "no PCI", edit: pcieFile("uevent", "DRIVER=x")},
	})
}

// The bytes that a link carries, by its coding.
func TestPCIeCoding(t *testing.T) {
	for speed, want := range map[string]float64{
		"2.5 GT/s": 32, "5.0 GT/s PCIe": 64, "8.0 GT/s PCIe": 126.03, "16.0 GT/s PCIe": 252.06, "32.0 GT/s PCIe": 504.12, "64.0 GT/s PCIe": 968,
	} {
		machine := loadTree(t, "mlx5")
		pcieFile("current_link_speed", speed)(machine)
		link := pcieLink(machine.host(), "class/infiniband/mlx5_0/device", "current")
		assert.InDelta(t, want, link.gbps(), 0.01, speed)
		assert.True(t, strings.HasSuffix(link.String(), " GT/s x16"))
	}
}
