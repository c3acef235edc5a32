// Package rail names the paths that transfers take, and keeps what a process knows
// of their failures.
//
// A [Pair] is the key of one path: a local NIC and port to a remote NIC of a peer
// machine. Everything that is learnt about a path - its window, its health, a
// process-wide pause - is kept under this key.
//
// A [Table] holds the verdicts. Each pair has a [Breaker]: failures in a row lead to
// a pause, one trial at a time ends it. What one worker reports, all the others
// take in when they see a new [Peer.Version]; while nothing is wrong, that costs
// them one load.
//
// A [Map] holds the paths between the NICs of two machines and lists them best first
// for a pair of buffers; a [File] pins them.
//
// The package is pure Go, imports no network code and builds on every platform.
package rail
