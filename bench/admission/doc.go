// Command admission measures the fast path of package cc against floors and peers
// and writes a report.
//
//	go -C bench run ./admission -out /tmp/report
//
// # How to read the numbers
//
// Everything is measured in one run and in turns, so that the ratios mean
// something on a machine that does other things too. Times do not: they are those
// of one machine in one hour.
//
// The floor that ratios are made with is exact admission in two domains and nothing
// else: two compare-and-swap loops to take bytes from a device and a route, two to
// give them back. It knows no health, no generations, no permits, and no second
// settle of the same slice.
//
// Peers are libraries that do a part of the job, and a lock over both domains as
// one would write it by hand. The bare form of the latter only counts, and is
// cheaper than the floor itself: an uncontended lock and unlock are two exchanges
// without the loads of a loop. The form with permits has the duties that ours has.
//
// The time of an operation with two goroutines is the time of the run by the
// operations of both: half of one goroutine's is perfect scaling. In a hand-over one
// goroutine posts and the other polls, and an operation is one slice through both.
//
// The least of all batches is shown, since a disturbed batch is only ever longer;
// with two goroutines the lower quartile, since two that happen to keep out of each
// other's way are faster than they could go on.
package main
