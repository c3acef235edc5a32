// Package twohost is the experiment of the shared pause table: two hosts with five
// NICs each, of which one NIC a side, the management NIC, cannot reach the other
// side's four rail NICs. It runs in the Soft-RoCE guest, with real verbs.
//
//	bed, err := twohost.Open(lab)             // both hosts, the dead pairs blocked
//	s, err := bed.Start(ctx, twohost.Ours, n) // controllers, engines, endpoints
//	run, err := s.Run(ctx, twohost.Load{...}) // transfers, all of them timed
//	run.Result(bed)                           // what each dead pair cost
//
// An [Arm] says how the workers share what they learn. A [Recorder] stands between
// the engine and the verbs and notes each work request, so that the numbers are
// those of the wire and not the engine's own.
package twohost
