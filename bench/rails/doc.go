// Rails measures what sharing the pause table is worth, on real verbs: two hosts of
// the Soft-RoCE guest with five NICs each, where one NIC of each side cannot reach
// four of the other. It boots the guest, runs every arm in it, READ and WRITE, and
// writes a report.
//
//	go -C bench run ./rails -out DIR             # everything, about ten minutes
//	go -C bench run ./rails -only 'ours|file' -run 8s   # two arms, shorter
//	go -C bench run ./rails -only 'repair|flap'         # what happens when pairs come back
//
// The steps are ARM/OP for each arm, compare/OP, control/OP, repair/OP and
// flap/LINK/OP; -only takes a regular expression. The exit status is 1 if what the shared table promises
// does not hold.
//
// Emulated NICs say nothing about hardware: compare the arms of one run.
package main
