// Package labcongestion puts the controller of package cc in front of real queues:
// several senders write over real QPs into one link that is slower than they are,
// in a guest with Soft-RoCE devices.
//
//	lab, err := softroce.Current()
//	comparison := labcongestion.Comparison{Lab: lab, Arms: labcongestion.IncastArms(seed), ...}
//	err = comparison.Round() // each arm once; more rounds for a busier machine
//	off, enforced := comparison.Result(...), comparison.Result(...)
//
// Every byte that is counted as goodput was found in the receiver's memory. Absolute
// figures are those of an emulated machine; what means something is the ratio of two
// arms of one comparison.
//
// The machine below may take its processors away for a while. Nobody polls then, and
// the link runs empty whatever the windows are. Times in which the loop of the
// senders stood still are left out of the figures, as a [cc.Poller] leaves them out of
// the controller's.
package labcongestion
