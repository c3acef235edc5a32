// Top shows what a running controller does: the routes that need attention, windows,
// pauses and what is left of them, the latest transitions, and what slices are answered.
//
//	go run ./examples/top -demo                        # the example engine, with faults
//	go run ./examples/top -addr 127.0.0.1:7474         # an engine that serves live.Handler there
//	go run ./examples/top -addr /run/engine/rdmagate.sock
//	go run ./examples/top -addr http://127.0.0.1:8080/debug/rdmagate
//	go run ./examples/top -once -addr ...              # one frame, for a pipe
//
// How an engine serves it, with three lines, is in the documentation of package live;
// how a frame is read is in that of package screen. The same is one web page at the
// address, without this program.
//
//   - -demo runs the example engine on a simulated fabric, in this process, and serves its
//     page too: at -addr if it is given, else where there is room.
//   - -every is the time between two looks (1 s). Rates are means over it.
//   - -once looks twice, -every apart, prints the second state and ends.
//
// On a terminal frames are drawn in place, and again when its size changes; Ctrl-C ends
// it. Elsewhere one frame follows the other, without colours, in the size that COLUMNS and
// LINES say, or 80 by 24. There are no colours either if NO_COLOR is set, and no signs
// beyond ASCII unless the locale is one with UTF-8.
//
// The exit status is 1 if nobody answers at the address, 2 if the call was wrong.
//
// # Where to find what
//
//	live/      the engine's side: handler, page, JSON
//	screen/    frames for a terminal
//	demo/      the example engine at work, and its faults
//	source.go  where states come from; show.go, terminal.go  how frames get onto the screen
package main
