// Command congestion shows how windows settle at a bottleneck, on real verbs: it boots
// a guest with Soft-RoCE devices, lets several senders write into one slow link there,
// with static windows and with each law, and writes a report.
//
//	go -C bench run ./congestion -out /tmp/report
//
// It needs what the guest needs (see internal/softroce), installs that when run by
// root, and takes about four minutes.
//
// # How to read the numbers
//
// Rates and times are those of a link that is slow on purpose, in a machine that is
// emulated: compare arms of one run, not runs. Arms take turns, in an order that the
// seed makes, and each figure is a median of the rounds. Every byte of goodput was
// found in the receiver's memory, byte for byte. Where the machine below stood still,
// nothing is counted.
//
// The bottleneck loses nothing, so that only windows decide about the queue and the
// link. For an incast with loss and time-outs see command arms.
package main
