//go:build !rdmagate_off

package cc

// enabled is false in builds with the tag rdmagate_off: the same API, everything is
// admitted, nothing is kept. The compiler then removes what it guards.
const enabled = true
