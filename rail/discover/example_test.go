package discover_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"net/netip"
	"testing/fstest"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/rail/discover"
)

// A tree of files stands for another machine's /sys, or for one that a test needs.
func ExampleRead() {
	line := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	link := func(target string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
	}
	const pci, port = "devices/pci0000:00/0000:05:00.0", "devices/pci0000:00/0000:05:00.0/infiniband/mlx5_0/ports/1"
	sysfs := fstest.MapFS{
		"class/infiniband/mlx5_0":               link("../../" + pci + "/infiniband/mlx5_0"),
		"class/infiniband_verbs/uverbs0/ibdev":  line("mlx5_0"),
		pci + "/numa_node":                      line("1"),
		pci + "/infiniband/mlx5_0/device":       link("../../../0000:05:00.0"),
		pci + "/infiniband/mlx5_0/node_type":    line("1: CA"),
		port + "/state":                         line("4: ACTIVE"),
		port + "/phys_state":                    line("5: LinkUp"),
		port + "/rate":                          line("200 Gb/sec (4X HDR)"),
		port + "/link_layer":                    line("Ethernet"),
		port + "/gids/3":                        line("0000:0000:0000:0000:0000:ffff:0a00:0001"),
		port + "/gid_attrs/types/3":             line("RoCE v2"),
		port + "/gid_attrs/ndevs/3":             line("ens1f0np0"),
		"class/infiniband/mlx5_1/node_type":     line("1: CA"),
		"class/infiniband/mlx5_1/ports/1/state": line("1: DOWN"),
	}
	nics, err := discover.Read(sysfs)
	if err != nil {
		log.Fatal(err)
	}
	for _, nic := range nics {
		fmt.Printf("%s: usable %v: %s\n", nic.Name, nic.Usable, nic.Why)
		if !nic.Usable {
			continue
		}
		fmt.Printf("  %s, NUMA node %v, %v\n", nic.PCI, nic.NUMA, nic.NetDevs)
		for _, p := range nic.Ports {
			fmt.Printf("  port %d: %v Gb/s, %v\n", p.Number, p.Rate, p.LinkLayer)
			for _, g := range p.GIDs {
				fmt.Printf("  GID %d: %v (%v)\n", g.Index, g.Addr, g.Type)
			}
		}
	}
	// Output:
	// mlx5_0: usable true: it has uverbs0, port 1 is active
	//   0000:05:00.0, NUMA node 1, [ens1f0np0]
	//   port 1: 200 Gb/s, Ethernet
	//   GID 3: 10.0.0.1 (RoCE v2)
	// mlx5_1: usable false: it has no uverbs node; load the ib_uverbs module; port 1 is down (physical state: unknown)
}

// What a peer needs to choose paths to this machine: it goes there as JSON.
func ExampleLocal() {
	found := []discover.NIC{{
		Name: "mlx5_0", NUMA: rail.NodeOf(1), Usable: true,
		Ports: []discover.Port{{
			Number: 1, State: discover.PortActive, Rate: 200, LinkLayer: discover.LinkEthernet,
			GIDs: []discover.GID{{Index: 3, Addr: netip.MustParseAddr("::ffff:10.0.0.1"), Type: discover.GIDRoCEv2}},
		}},
	}}
	text, err := json.Marshal(discover.Local(found))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output: [{"name":"mlx5_0","port":1,"numa":1,"link":"Ethernet","addrs":["::ffff:10.0.0.1"],"rate_gbps":200}]
}
