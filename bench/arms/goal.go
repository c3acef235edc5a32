package main

import "fmt"

// goal is what the ratio of two arms has to be.
type goal struct {
	Figure, Arm, Versus string
	// AtMost: the ratio is to be at most Value, and at least otherwise.
	AtMost bool
	Value  float64
}

func (g goal) String() string {
	sense := "at least"
	if g.AtMost {
		sense = "at most"
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
	if g.AtMost {
		low, high = i.High <= g.Value, i.Low <= g.Value
	}
	switch {
	case low:
		return met
	case high:
		return open
	}
	return missed
}
