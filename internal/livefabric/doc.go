// Package livefabric lets software that moves real bytes run on the packet-level
// simulator of package internal/fabric, in pace with the clock: it is what the example
// engine's demonstration uses where there are no RDMA devices. It is pure Go and needs
// neither hardware, privileges nor a particular operating system.
//
//	net, err := livefabric.New(livefabric.Config{
//		Hosts: []livefabric.HostConfig{
//			{Name: "host-a", NICs: []string{"sima0", "sima1"}},
//			{Name: "host-b", NICs: []string{"simb0", "simb1"}},
//		},
//		Rate: 500e6, // bit/s of each link
//	})
//	if err != nil {
//		return err
//	}
//	defer net.Close()
//	a, err := net.Host("host-a") // a fabric.Host
//	...
//	undo, err := net.Block(a.NICs()[0], b.NICs()[1])
//	...
//	err = undo()
//
// All NICs reach each other through one switch. How packets, queues, pauses, losses,
// retries and timeouts go is told by package internal/fabric; this package adds memory,
// keys, addresses, connections made one side at a time, and time.
//
// For fault injection under thousands of seeds there is package simfabric, which knows no
// packets and costs less.
//
// # Bytes
//
// A WRITE or SEND moves its bytes in the instant in which its last packet is there, a READ
// when its last data is. Keys and bounds are checked then: a wrong lkey is LOC_PROT_ERR, a
// wrong rkey or range REM_ACCESS_ERR, and everything behind is flushed; a responder that
// refuses fails too, with QP_ACCESS_ERR. A READ of memory that was deregistered between
// request and data fails at the requester alone. What a QP has on the wire when it fails or
// is closed is lost, so memory is free as soon as its completions or the Close have come.
//
// Not modelled besides what the simulator leaves out: inline data, fences, immediate data.
// All this is refused by PostSend. Opcode and ByteLen of a failed completion hold garbage on
// purpose, as they may on hardware.
//
// # Pace
//
// Virtual time follows the clock, also that of a bubble of testing/synctest. One lock guards
// the simulation, and no goroutine belongs to it: whoever posts, polls an empty CQ or changes
// something first carries out what is due, in order and as of its time, and a timer sees to
// it when nobody comes. So a timer that fires late costs delay but no bandwidth. Between
// calls, completions come at most 50 us late.
//
// When there is more to simulate than this machine can, each caller does a millisecond's
// work, and what has piled up beyond 20 ms is time that the fabric stands still:
// [Net.Behind] says how much. One core of a small virtual machine simulated 850,000 packets
// of 4 KiB a second and moved their bytes (BenchmarkPackets), some 28 Gb/s; choose rates
// whose sum leaves most of the machine to the software above.
//
// In a bubble, where nothing is ever late, the same calls at the same times make the same
// run, packet by packet.
//
// All methods are safe for concurrent use.
package livefabric
