// Package measure times short loops against each other on a machine that is busy
// with other things.
//
// All scenarios of a run take turns: in each round every one of them runs a few
// batches of about a tenth of a millisecond, so that what slows the machine down
// for a while slows down all of them. A batch that was disturbed is only ever
// longer, so the shortest batch of a scenario is what the code costs. Results are
// to be compared with each other and never with those of another run.
//
// Scenarios with two workers run on threads that are pinned to a core each and
// start together. A batch in which the two did not run at the same time most of
// the time is thrown away, and of the others the lower quartile counts: the
// shortest is one in which the two happened to keep out of each other's way.
package measure
