// Package rail names the paths that transfers take.
//
// A [Pair] is the key of one path: a local NIC and port to a remote NIC of a
// peer machine. Everything that is learnt about a path - its window, its health,
// a process-wide pause - is kept under this key.
//
// The package is pure Go, imports no network code and builds on every platform.
package rail
