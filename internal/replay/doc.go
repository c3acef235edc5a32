// Package replay runs scenarios: it makes the controllers that a scenario needs, with a
// clock and a chance of its own, calls them as the scenario says, and compares what they
// answer with what it expects.
//
//	file, err := scenario.NewReader(in) // text, or what a recorder wrote
//	result, err := replay.Run(file, replay.Options{Tracer: t})
//	for _, m := range result.Mismatches {
//		fmt.Println(m)
//	}
//
// A file written by hand is kept as far as its first case, and each case is run with
// that before it. A recording is not kept: memory is bounded by the routes, pollers,
// permits and tasks that it names, however long it is. What is not bounded is how many it
// names: permits that are new all the time are all kept, about half a kilobyte each with
// its task; a task is dropped when no permit uses it any more.
//
// # Recordings
//
// Each call gets the readings of the clock and the random factors that it got when it was
// recorded, so that a complete recording of calls that did not run at the same time is
// answered as it was then. Where the replay goes another way all the same, it says so and
// goes on: a slice that was admitted then and is refused now is passed over until it is
// asked for again, and one that is admitted now is given back.
//
// With [Options.Set] the configuration is another one. Then what differs is what the
// controller would have done.
package replay
