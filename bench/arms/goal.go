package main

import "fmt"

// goal is what the ratio of two arms has to be.
type goal struct {
	Figure, Arm, Versus string
	// AtMost: the ratio is to be at most Value; Same: its interval is to hold Value. It is
	// to be at least Value otherwise.
	AtMost, Same bool
	Value        float64
}

func (g goal) String() string {
	sense := "at least"
	switch {
	case g.AtMost:
		sense = "at most"
	case g.Same:
		sense = "as much as"
	}
	return fmt.Sprintf("%s of %s %s %g times that of %s", g.Figure, g.Arm, sense, g.Value, g.Versus)
}

// verdict is what became of a goal.
type verdict string

const (
	met     verdict = "met"
	missed  verdict = "missed"
	open    verdict = "open"
	unknown verdict = "not measured"
)

// judge looks on which side of the goal an interval is.
func (g goal) judge(i interval) verdict {
	low, high := i.Low >= g.Value, i.High >= g.Value
	switch {
	case g.AtMost:
		low, high = i.High <= g.Value, i.Low <= g.Value
	case g.Same:
		low = i.Low <= g.Value && g.Value <= i.High
		high = false
	}
	switch {
	case low:
		return met
	case high:
		return open
	}
	return missed
}
