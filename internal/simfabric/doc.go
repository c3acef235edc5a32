// Package simfabric is an RDMA fabric simulated inside the process: real bytes
// move between registered memory in real time, over reliable-connected QPs with
// the semantics of verbs. It is pure Go and needs neither hardware, privileges
// nor a particular operating system.
//
// It is the fabric of engine tests and of fault injection under thousands of seeds: links
// have rates and delays, but no packets. Those are in package livefabric.
//
//	net, err := simfabric.New(simfabric.Config{
//		Hosts: []simfabric.HostConfig{
//			{Name: "host-a", NICs: []simfabric.NICConfig{{Name: "sima0"}, {Name: "sima1"}}},
//			{Name: "host-b", NICs: []simfabric.NICConfig{{Name: "simb0"}, {Name: "simb1"}}},
//		},
//		Rate:    100e6, // bytes/s each way
//		Latency: 50 * time.Microsecond,
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
// # What is modelled
//
//   - Every NIC sends at its rate, one chunk of at most 16 packets after the
//     other, and its QPs take turns. Every NIC receives at its rate; what arrives
//     faster waits in a queue in front of it, first come first served. So an
//     incast shares the receiver, and its delays grow with the bytes in flight. A
//     sender is not held up by a receiver that is busy with others.
//   - A message takes its bytes through both NICs and half of each NIC's latency;
//     its acknowledgement takes the other halves. A READ's bytes leave by the
//     responder's NIC.
//   - Completions of a QP come in the order of posting. Memory is read and
//     written when a chunk arrives, chunk by chunk.
//   - Keys and bounds are checked on both sides. A wrong lkey is LOC_PROT_ERR, a
//     wrong rkey or range REM_ACCESS_ERR, and then everything behind is flushed; a
//     responder that refuses fails too, with QP_ACCESS_ERR.
//   - A peer that does not answer costs a timeout of 4.096 us x 2^Timeout a try;
//     after 1 + Retry tries the oldest work request is RETRY_EXC_ERR and those
//     behind it are flushed. A path that comes back in between is noticed at the
//     next try, which sends again from the oldest work request.
//   - SEND and WRITE_WITH_IMM take a posted receive ([QP.PostRecv]), or are
//     retried after 1 ms and end in RNR_RETRY_EXC_ERR.
//   - A queue that is full refuses with ENOMEM and says how many requests it took.
//     A send queue entry is free again when its work request has completed. A CQ
//     that overflows loses completions, reports CQ_ERR and fails its QPs.
//   - A failed completion carries WRID, Status, QPNum and VendorErr. Opcode and
//     ByteLen hold garbage on purpose, as they may on hardware. VendorErr is made
//     up by this package: 0x5300 + the status.
//
// # What is not
//
//   - Loss of single packets, retransmission caused by long queues, ECN, pause
//     frames: queues in the network have room for all that send queues can hold,
//     and an acknowledgement never waits in one.
//   - Congestion between switches: there is one switch, and it never blocks.
//   - Traffic to a path that is already down takes no bandwidth.
//   - Inline data, atomics, shared receive queues, a limit of outstanding READs.
//   - The cost of a post or a poll, PCIe, memory bandwidth. A machine that cannot
//     copy at the sum of the rates moves less than they promise.
//
// # Time
//
// Simulated time follows the clock. Whatever is due is carried out by a timer, or
// by a call that comes first, in order of time and as of the time it was due, so a
// timer that fires late costs delay but no bandwidth. Everything works in a bubble
// of testing/synctest, where it is exact.
//
// All methods are safe for concurrent use.
package simfabric
