// Command replay asks a scenario or a recording what the controller did, why, and what it
// would have done. Build it with "go -C examples/replay build -o ../../bin/replay .".
//
//	replay FILE...                           run; compare with what is expected or was recorded
//	replay -v FILE...                        with a trace: each call, its answer, what changed by it
//	replay -set cooldown=10s -law round FILE what if: as it was and as it would be, side by side
//	replay -explain ROUTE FILE               the life of a route, with reasons; a label or mlx5_0:1->host-b/mlx5_3
//	replay -plot FILE.png FILE               windows, bytes in flight, states and decisions over time; or .svg
//	replay -print text FILE                  write it as text, or as binary
//	replay -anonymise FILE                   write it with other names, to be shown to others
//
// FILE is a text in the language of internal/scenario or a binary recording, such as
// "engine demo -record FILE" writes; - is the standard input. Flags stand before files.
//
//   - -set takes fields of the configuration, as the statement set of the language does,
//     and may be given several times; -mode and -law are short for -set mode= and -set law=.
//     With -explain or -plot they change the run that is told or drawn.
//   - -case NAME chooses one case of a scenario that has several, for what if, -explain
//     and -plot; a plot takes the first one otherwise.
//   - -n is how many mismatches, or places where the two part, are listed (20), and -routes
//     how many routes a plot has room for (6): the most eventful ones.
//   - -anonymise rewrites peers, incarnations, NICs, tasks, programs, cases and remarks:
//     what had the same name has the same new name. Comments and the date are dropped;
//     -comments keeps comments as they are. Times, sizes, QP numbers and vendor_err stay.
//     The new names are those of one run: -key TEXT makes them the same in all files.
//     It is written in the form that FILE has, which is binary from an engine: -print text
//     makes a text of it.
//
// Times are those of the file, in all that is told: in a recording what the clock showed.
//
// A recording of calls that ran one at a time (engine: -record-serial), from the beginning
// on, is answered as it was, and a difference is a mismatch. One that begins in the middle,
// lacks records or has calls that ran at the same time may differ; that is listed too, with
// the excuse. An expect or never that somebody wrote into it is never excused. What if can
// change decisions, but not the world: slices take the times that they took.
//
// The exit status is 1 if something is not as expected or a recording is damaged (it is
// read up to there), and 2 if the call was wrong or a file cannot be read at all.
package main
