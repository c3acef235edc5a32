// Command overload treats the library as no sane engine does, and checks that whatever
// it keeps is bounded and that it comes back.
//
//	go -C bench run ./overload                     # about two minutes
//	go -C bench run ./overload -only 'clocks' -scale 0.1 -out /tmp/report
//
// Each case drives controllers in mode enforce, on a clock of its own, and has rules.
// The first rule that does not hold ends the case, and the program ends with status 1
// and says case, rule and value. What is measured is shown with the rule's limit; of
// times only ratios of the same run have one.
//
//   - peers: a million peers come and go in all ways.
//   - routes: a hundred thousand routes at once, idle, active, failing, closed.
//   - task: a task fails for a day, a million times, in every way.
//   - events: storms of asynchronous events beside posters.
//   - clocks: clocks that jump.
//   - sizes: numbers, names and endpoints that nobody expects.
//   - pauses: a pause table that is full of pauses which run.
//   - waiters: a hundred thousand goroutines wait for one route.
//
// -scale makes all counts larger or smaller. Rules hold at every scale, but what grows
// faster than it should is seen best at 1.
//
// A heap is what is live after a collection. Times of fake clocks, such as times to
// recover, are exact; the factor for cooldowns and probe intervals is the longest that
// the default draws, so they are the longest too.
package main
