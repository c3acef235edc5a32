package fabriclab

import (
	"fmt"
	"slices"
	"time"
)

// Experiment is one question to the arms.
type Experiment struct {
	// Name is group/case, such as victim/64.
	Name string
	// Setup is topology, traffic and numbers, in one or two sentences.
	Setup   string
	Figures []Figure
	// Run makes one run. The same seed and arm give the same outcome.
	Run func(seed uint64, arm Arm) (Outcome, error)
	// Long says that it is left out unless named: it takes many times longer than others.
	Long bool
	// Gated says that only arms with a controller are asked.
	Gated bool
}

// Figure is one number that an experiment gives.
type Figure struct {
	Name string
	Unit string
	Goal Goal
}

// Goal is what is wanted of a figure.
type Goal struct {
	// Sense is AtMost or AtLeast, or NoGoal.
	Sense Sense
	Value float64
}

// Sense says on which side of a goal's value figures should be.
type Sense int

// The senses.
const (
	NoGoal Sense = iota
	AtMost
	AtLeast
)

func atMost(v float64) Goal  { return Goal{AtMost, v} }
func atLeast(v float64) Goal { return Goal{AtLeast, v} }

// Met reports whether a value meets the goal. What is not a number never does.
func (g Goal) Met(v float64) bool {
	switch g.Sense {
	case AtMost:
		return v <= g.Value
	case AtLeast:
		return v >= g.Value
	}
	return true
}

// String returns the goal as <= or >= and its value.
func (g Goal) String() string {
	switch g.Sense {
	case AtMost:
		return fmt.Sprintf("<= %g", g.Value)
	case AtLeast:
		return fmt.Sprintf(">= %g", g.Value)
	}
	return ""
}

// Outcome is what one run gave.
type Outcome struct {
	// Values are by the names of figures. What an arm does not have is left out.
	Values map[string]float64
	Series []*Series
	Moves  []Move
	Marks  []Mark
	// Times are slice times in order, at most a thousand quantiles of them. They begin
	// with the post, if the setup says nothing else.
	Times []time.Duration
}

// Mark is something that was done to the fabric.
type Mark struct {
	At   time.Duration
	Text string
}

func newOutcome() Outcome { return Outcome{Values: map[string]float64{}} }

// Experiments returns all experiments, in the order of the report.
func Experiments() []Experiment {
	return slices.Concat(victims(), longIncasts(), dcqcn(), fairness(), recoveries(), healthy(), slowReceivers(), fanIns(),
		mixes(), deaths(), diversions(), repairs(), herds())
}
