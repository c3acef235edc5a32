// Package screen draws the state of a controller for a terminal.
//
//	lines := screen.Frame(&then, now, "127.0.0.1:7474", screen.Size{Columns: 80, Rows: 24}, screen.Style{})
//
// A frame has no more lines than the terminal has rows, and no line takes more cells than
// it has columns. It is a function of what it is given, and of nothing else.
//
// # How to read it
//
//	ROUTE                      STATE       WINDOW                        RATE PRESSURE
//	sima0>host-b/simb0         QUARANTINED ####......   1.2 s left ROUTE_TIMEOUT
//	sima1>host-b/simb1         HEALTHY     ######....  192/320 KiB  31.4 MB/s low
//
// A bar is as long as the window is, next to the largest window of the list; its full
// part is in flight. For a route that is paused it is what is left of the pause, and the
// reason stands in the place of the rate. Rates are means since the state before.
package screen
