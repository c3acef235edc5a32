//go:build linux && cgo && !race

package verbs

const raceEnabled = false
