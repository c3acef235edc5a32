// Command arms asks what the library costs and what it is worth, on real verbs: it boots
// a guest with Soft-RoCE devices and runs the same engine there in four arms, which are
// compiled out (build tag rdmagate_off), off, observe and enforce.
//
//	go -C bench run ./arms -out DIR             # all, in about 18 minutes
//	go -C bench run ./arms -out DIR -short      # to try it, in about three
//	go -C bench run ./arms -only 'incast|bulk/write/64KiB' -time 4m
//	go -C bench run ./arms -list
//
// With -out it writes report.html, which needs no other file, and report.md with its
// plots beside it. It needs what the guest needs (see internal/softroce), and installs
// that when run by root.
//
// # The arms
//
// It builds itself twice, with and without the tag; the two programs are the same
// otherwise, and each is asked whether its controller can be turned on. Every arm is a
// process in the same guest. In bulk and small a fifth one, "again", is compiled out a
// second time: what its ratio is beside 1, and how wide its interval, is what the method
// cannot tell.
//
// # How to read the numbers
//
// The arms take turns round by round, in an order that the seed makes, each other
// round in reverse. A ratio is that of two arms in the same round; what is shown is the
// mean over the rounds without the highest and lowest fifth of them (of the logarithms),
// with its interval of 95%. In bulk the processes are started anew a few times, since
// two of the same program differ: the interval is then that of the sittings' means. A
// goal is met if the whole interval is on its side, missed if none of it is, and open if
// the rounds cannot tell. "bulk/all" has the sittings of all sizes of slices.
//
// Rates and times are those of emulated NICs in an emulated machine: compare arms, not
// runs. Every transfer is compared with its source, byte for byte, outside of the times
// that are measured.
package main
