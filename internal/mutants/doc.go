// Command mutants changes packages cc, classify, rail and taskstate in small ways, one at
// a time, and sees whether their tests notice. What no test notices is either a gap in
// the tests or no change at all.
//
//	go -C internal/mutants run .                      # all four; about an hour on two cores
//	go -C internal/mutants run . -pkg rail -out DIR   # one, with a report in DIR/mutants.md
//	go -C internal/mutants run . -pkg cc -only '^claim.go'
//	go -C internal/mutants run . -pkg cc -list
//
// It fails when less than 95% of the mutants of a package that are no equivalents were
// killed, when a survivor has no reason, or when a list of reasons is out of date. An
// interrupt ends it with a report of what it has found so far.
//
// # Mutators
//
// The usual ones: conditional boundaries and negations; && and ||, and each of their
// operands; whole conditions; arithmetic and bit operators; integer constants, one more
// and one less; ++ and --; assignment operators; statements left out; results; min and
// max; break and continue. Constants made with iota, lengths of array types, indices of
// literals and capacities stay what they are. Generated files are left out.
//
// # How it works
//
// All mutants of a package are in one program (mutant schemata): each place that
// changes asks at run time which mutant is to be. So a package and its tests are compiled
// once, by way of go test's overlay; the tree is not touched. First each test runs
// without a mutant, which tells how long it takes and which places it reaches. Tests
// that fail then are left out and listed: they see that the package was changed. Then
// each mutant runs the tests that reach it, the fastest first and in short mode, until
// one fails: those of its own package, then those of packages that use it. A mutant that
// takes ten times as long as it should, and five seconds more, is killed too. A mutant with
// a reason runs the quick tests of its own package only, unless -all is given: that it is
// killed shows that the reason is wrong.
//
// # Reasons
//
// The files in equivalent say of mutants that no test could kill why they are the same
// program; those in accepted, why a survivor that is another program is left alone. An
// entry is one or more keys, as the report shows them, and an indented reason for all of
// them. A key is the file, the function, the mutator, the change and the text of the line, so
// that it stays the same when other lines change. Entries that name no mutant, and
// equivalents that were killed, are faults.
package main
