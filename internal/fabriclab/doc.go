// Package fabriclab has transfer engines on a simulated fabric, and asks whether admission
// by rdmagate makes their transfers better than no control or a simpler one.
//
//	arm, err := fabriclab.ParseArm("round,start=64KiB") // none, static, aimd, epoch, round
//	for _, e := range fabriclab.Experiments() {
//		out, err := e.Run(seed, arm)             // the same seed, the same outcome
//		fmt.Println(e.Name, out.Values)          // by the names of e.Figures
//	}
//
// An [Engine] is what examples/engine/transfer is on real NICs, in virtual time: transfers
// are cut into slices, slices wait in a queue for each peer, one thread posts what is
// admitted and one polls. Posting takes time, polls come at intervals and take a batch, and
// a poller may stand still. A slice that is refused waits until the engine's next
// completion or the controller's next tick.
//
// What decides is behind the interface control: ask, post, tell what became of it. The
// controller is package cc as it is, on the clock of the fabric, with everything that an
// engine owes it: Posting, Settle with the verdict of package classify, beats, ticks,
// Renew after a QP has failed, and a prober.
//
// A few experiments have no fabric but only controllers, each on a clock of its own: an
// hour of slices in a model of queues, and a thousand hosts that lose one peer together.
//
// Which slices a controller measures goes by numbers that all permits of a process share.
// Each run begins at the same place in them, so that it is the same whatever ran before.
// So runs of one process must not overlap, and no other traffic may pass a controller
// of the process while one is made.
//
// Command bench/law runs the experiments with many seeds and compares them with goals.
package fabriclab
