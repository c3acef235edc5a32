// Command congestion shows what admission does at a bottleneck, on real verbs: it
// boots a guest with Soft-RoCE devices, lets several senders write into one slow link
// there with the controller off, observing and enforcing, and writes a report.
//
//	go -C bench run ./congestion -out /tmp/report
//
// It needs what the guest needs (see internal/softroce), installs that when run by
// root, and takes about five minutes.
//
// # How to read the numbers
//
// Rates and times are those of a link that is slow on purpose, in a machine that is
// emulated: compare arms of one run, not runs. Arms take turns, in an order that the
// seed makes, and each figure is a median of the rounds. Every byte of goodput was
// found in the receiver's memory, byte for byte. Where the machine below stood still,
// nothing is counted.
//
// The incast lets senders time out: its queue is longer than the ACK timeout, or it
// drops. What is missing of the goodput are packets that were sent again; the counters
// of Soft-RoCE are shown beside it. The steady bottleneck loses nothing, so that only
// windows decide about the queue and the link.
package main
