// Package recorder keeps what a controller of package cc was given and what it answered,
// so that an operator can read afterwards why each decision was made, and replay it at a
// desk.
//
// A [Recorder] is an option of the controller. It may stay on: it keeps the latest calls
// in a ring of fixed size, and never makes a poster or poller wait.
//
//	rec := recorder.New(
//		recorder.DumpOn(suspect, newFile, recorder.Binary, time.Minute), // if wanted
//		recorder.Stream(file, recorder.Binary),                               // if wanted
//	)
//	ctl, err := cc.New(cfg, cc.WithRecorder(rec))
//	...
//	err = rec.Dump(w, recorder.Text) // what the ring holds now
//	...
//	err = rec.Close() // after the controller
//
// What comes out is a scenario: a text, or the same in binary, that the command replay
// runs, explains and draws. Permits and tasks are p1, p2 and t1, t2 there, routes r1, r2.
//
// # What is recorded
//
// Every call that changes something or could have: of routes and endpoints, of permits
// and lists, of pollers, events, ticks and probes, each with its arguments and its whole
// answer; also those that did nothing, such as a second settle. A call is recorded when
// it returns, a wait also when it goes to sleep. Right before it is what it met and
// caused: readings of the clock, random factors, transitions that were told, and what a
// route took in of the pause table. The clock is never read for a record.
//
// Not recorded are calls that only read: Fit, and State and Snapshot unless they took in
// what another controller learnt; calls with a permit that the controller has never
// admitted; and what is done with tasks elsewhere, but for their attempts, which show when
// bytes are asked for.
//
// # Order
//
// Records lie in the order in which calls were recorded. Of calls that run at the same
// time the second may have taken effect first, and what one of them read may lie before
// the other. [Serial] makes the order exact, at the price of a lock around each call.
//
// # Memory and cost
//
// The ring takes 64 bytes a record: 4 MiB by default, for about 20000 slices that are
// asked for once. An engine that asks again and again while a slice has to wait fills it
// much sooner: it may make hundreds of records a slice. [Slots] with 1<<20 is 64 MiB.
//
// A dump on a transition ends there. What led to a quarantine may have left the ring by
// then: dump when a route becomes SUSPECT, and the cause is in it. The function that opens
// the file should give each dump a name of its own, or the next one overwrites it.
//
// Beside the ring a recorder knows the routes and pollers that there are, with their names
// and the QPs of their latest eight endpoints. A recording that begins before those has
// no QPs at its beginning, and a replay takes any there. A stream also remembers the
// names that it gave to permits and tasks, by their addresses: up to a million of each,
// about 100 bytes each; when there are more, it begins anew. A dump does so for those in
// the ring, while it is written.
//
// A call takes one atomic addition and one exchange for its record, and allocates nothing;
// how long that is next to the call itself, the benchmark in bench/admission says. A
// record whose slot is busy, with a reader or with a writer that was a whole round behind,
// is dropped and counted, see [Counters].
package recorder
