// Chaos runs the example engine under faults, and checks that nothing is lost. See package
// internal/chaos for what is checked.
//
//	go -C bench run ./chaos -fabric sim -seeds 200 -out DIR   # simulated, in fake time
//	go -C bench run ./chaos -fabric guest -run 3m -out DIR    # real verbs, in the guest
//	go -C bench run ./chaos -schedule FILE                    # what FILE says, again
//
// A simulated seed is a fabric, an engine and a schedule of its own. One that fails is
// shrunk to the smallest schedule that still fails, and written to DIR/seed-N.json. In the
// guest one engine goes through round after round, each with a seed of its own; a round
// that fails is written to DIR/seed-N.json as it is.
//
// The exit status is 1 if an invariant was broken.
//
// A schedule says what goes wrong and when, and what the load is. What follows from that
// is up to the machine: goroutines run in the order in which they are scheduled, so
// replaying may take a few tries. Simulated rounds run on one processor each, which leaves
// little to chance.
package main
