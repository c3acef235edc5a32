package cc

import "fmt"

//go:generate go tool stringer -type=Mode -linecomment

// Mode says how much the controller does. It is fixed when the controller is
// built.
//
// Specification: configuration, MC_ADAPTIVE_CC_MODE.
type Mode uint8

const (
	// Off admits everything, checks nothing and keeps nothing. It is the zero value.
	// Develop in Observe or Enforce: what Off lets pass may be an error there.
	Off Mode = iota // off
	// Observe computes what Enforce would, counts what it would have refused,
	// and admits everything.
	Observe // observe
	// Enforce defers and avoids.
	Enforce // enforce
)

// ParseMode returns the mode with that name: off, observe or enforce.
func ParseMode(name string) (Mode, error) {
	for m := Off; m <= Enforce; m++ {
		if m.String() == name {
			return m, nil
		}
	}
	return Off, fmt.Errorf("cc: mode %q is unknown; use off, observe or enforce", name)
}
