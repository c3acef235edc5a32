// Command law asks whether admission by rdmagate makes transfers better: it runs the
// experiments of package internal/fabriclab, on a simulated fabric of many hosts, with each
// arm of control, and compares what they give with goals.
//
//	go -C bench run ./law                                    # all, with ten seeds
//	go -C bench run ./law -list
//	go -C bench run ./law -only 'victim/64|dcqcn' -seeds 3 -arms none,static,round
//	go -C bench run ./law -only incast400 -arms 'round;round,start=64KiB,target=100us'
//
//	go -C bench run ./law -out ../report
//
// With -out it writes report.html, which needs no other file, and report.md with its
// plots beside it. An interrupt ends it after the run that is under way; the tables and
// the report then have the seeds that are complete. A second one ends it at once.
//
// Arms are separated by semicolons, or by commas where none has settings; see
// fabriclab.ParseArm for their names.
//
// # How to read the numbers
//
// Each figure is the median of the seeds, with the least and the most of them. A seed
// decides who sends where, when, and which paths flows take, and is the same for all
// arms. The fabric is simulated packet by packet in virtual time: the same seed gives
// the same numbers on every machine. A goal is met or missed by the median.
//
// Plots over time and of states are of the first seed; distributions of slice times are of
// all of them.
package main
