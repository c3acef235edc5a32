// Package fabric is a simulated RDMA fabric for experiments with many hosts: every
// packet, queue, pause frame and timer of up to a few hundred NICs, in virtual time
// and on one goroutine. The same seed gives the same run, to the picosecond.
//
// It moves no bytes: it knows how many there are and where they are. A [Cargo] is told
// when they would arrive: with it package livefabric moves real ones, in pace with the
// clock. Package simfabric is a simpler model, without packets.
//
//	sim, err := fabric.New(fabric.Config{
//		Seed:     1,
//		Topology: fabric.FatTree(8), // 128 hosts
//		DCQCN:    fabric.PaperDCQCN(),
//		Switch:   fabric.SwitchConfig{ECN: fabric.DeploymentECN(100e9)},
//	})
//	a, b := sim.NIC(0, 0), sim.NIC(127, 0)
//	cq := sim.NewCQ()
//	q, _, err := sim.Connect(fabric.Endpoint{NIC: a, Send: cq}, fabric.Endpoint{NIC: b}, fabric.DefaultQP())
//	err = q.Post(fabric.WR{ID: 1, Op: fabric.Write, Bytes: 1 << 20}) // full queue: ErrQueueFull
//	sim.At(time.Millisecond, func() { a.Link().Down(fabric.Notice{}) })
//	sim.Run(2 * time.Millisecond) // everything that happens until then
//	n := cq.Poll(buf)             // wr_id, status, qp_num, vendor_err
//
// # Time
//
// The clock counts picoseconds from 0, so that a byte at 10, 25, 40, 100, 200, 400 or
// 800 Gb/s takes a whole number of them. [Sim.Now] is the same clock in whole
// nanoseconds, rounded down, for software that lives on a [time.Duration]. Software
// above the fabric runs in functions given to [Sim.At], [CQ.Notify] and
// [NIC.Notify]; time stands still while it runs. Events of one instant happen in the
// order in which they were scheduled.
//
// # Wire
//
// A link is two directions, each with a rate and a propagation delay. A switch
// receives a packet as a whole before it forwards it (store and forward), and takes
// no time of its own. On the wire a packet is its payload (at most one MTU) and 82
// bytes: Ethernet 18, IPv4 20, UDP 8, BTH 12, ICRC 4, preamble and gap 20. The RETH of
// a first packet is left out.
//
// Two classes: data, and control (ACK, NAK, CNP). Control goes first, is neither
// paused nor marked, and takes no room in a switch. A pause frame goes before both.
// A packet on the wire is never interrupted.
//
// # Lossless and lossy switches
//
// A lossless switch charges a data packet to the port that it came in by. A port
// may hold Alpha x the free part of the shared buffer, or the fixed XOFF. What comes
// beyond that goes to the port's headroom, which has room for what a neighbour sends
// until it has heard of the pause, and pauses the neighbour. It resumes when the
// headroom is empty and the port is below its limit by the hysteresis. A pause ends
// by itself after 65535 quanta of 512 bit times and is refreshed at half of that.
//
// A lossy switch has no pauses: it drops a packet whose egress queue holds more than
// Alpha x the free part of the buffer.
//
// ECN marks when a packet leaves its egress queue: by the length then, never up to
// KMin, always above KMax, in between with a probability that grows to PMax.
//
// # Paths
//
// Of several equal next hops a switch takes the one that the flow's hash names. The
// hash is of the two NICs, the QP numbers and the seed, so a QP keeps its path, two may
// collide, and a QP built anew probably gets another one. There is no packet
// spraying, and nothing routes around a dead link.
//
// # Reliable connections
//
// Packets have sequence numbers, which do not wrap. The responder takes them in
// order: a gap is answered by one NAK, and then silence until the packet that is
// missing comes; a duplicate is answered by an ACK. ACKs are cumulative, one for each
// AckEvery packets and one for the last packet of a message. A requester goes back to
// the first packet that is missing. A READ takes the sequence numbers of its
// responses; these come as data in the other direction; a gap there makes the
// requester ask again for what is missing. At most MaxReads of them are outstanding;
// the next one and all behind it wait.
//
// The ACK timeout is 4.096 us x 2^Timeout, exactly; 0 is none. (Hardware may take up to
// four times as long.) It runs from the start of the first unacknowledged
// transmission, or from the last progress, or from the last retry, whichever is
// latest. After Retry retries without progress, by timeouts and NAKs together, the
// next one is the end: a path that goes dead kills its QP timeout x (Retry + 1) after
// the first packet sent in vain.
//
// A SEND without a receive to take it gets an RNR NAK, waits RNRDelay and is tried again
// RNRRetry times; 7 is for ever.
//
// A QP that fails completes its oldest work request with the status and all others
// with WR_FLUSH_ERR, in order, and no longer answers its peer. A failed completion
// carries the same four fields as a successful one. VendorErr is made up: 0x5300 +
// the status.
//
// # DCQCN
//
// With [Config.DCQCN] each QP has a rate of its own, cut by CNPs and recovered by timer
// and byte counter; see [DCQCN]. Without, a NIC's QPs take turns packet by packet at
// line rate.
//
// # Faults
//
// [Link.Down], [Link.Up], [Link.Shape], [Port.Blackhole], [Port.Lose] and [NIC.Block] act
// at once; give them to [Sim.At] to have them later. A port event may be told, told late, or
// lost, see [Notice]. [QP.Fail] and [NIC.Raise] stand for whatever else goes wrong.
//
// # What is not modelled
//
// PCIe, memory, the cost of a post or a poll (the software above adds what it wants),
// shared receive queues, atomics, immediate data, keys, UD and UC, more than one data
// class, rerouting, cut-through switching, link-level retransmission.
//
// Nothing here is safe for concurrent use.
package fabric
