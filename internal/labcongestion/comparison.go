package labcongestion

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// Arm is one of the ways that are compared.
type Arm struct {
	Name  string `json:"name"`
	Setup Setup  `json:"setup"`
}

// Result is an arm with what it did in each round.
type Result struct {
	Arm
	Rounds []Stretch `json:"rounds"`
	// Ramps are the warm-up times before the rounds.
	Ramps []Stretch `json:"ramps"`
}

// Goodput returns the median of the rounds, in Mbit/s.
func (r Result) Goodput() float64 {
	return Median(each(r.Rounds, func(s Stretch) float64 { return s.GoodputMbit }))
}

// BestGoodput returns that of the best calm round, in Mbit/s: one that was disturbed
// otherwise only ever carries less.
func (r Result) BestGoodput() (best float64) {
	for _, s := range r.Rounds {
		if s.StalledShare() <= mostStalled {
			best = max(best, s.GoodputMbit)
		}
	}
	return best
}

// Delay returns the median of the rounds' median times from Posting to completion.
func (r Result) Delay() time.Duration {
	return Median(each(r.Rounds, func(s Stretch) time.Duration { return s.MedianDelay }))
}

// Drain returns the median of the drain times that the snapshots of all rounds
// showed.
func (r Result) Drain() time.Duration {
	return Median(each(r.Rounds, Stretch.MedianDrain))
}

// Calm reports whether the machine left most rounds alone. Where it did not, ACK timeouts
// fire because it stood still, and goodput says little of the arm.
func (r Result) Calm() bool {
	return Median(each(r.Rounds, Stretch.StalledShare)) <= mostStalled
}

func each[T, V any](list []T, value func(T) V) (values []V) {
	for _, x := range list {
		values = append(values, value(x))
	}
	return values
}

// Comparison runs arms in turns, so that a disturbance of the machine is not that of
// one arm only.
type Comparison struct {
	Lab  *softroce.Lab
	Arms []Arm
	// Warm is left out at the beginning of each run, Measure is what counts.
	Warm, Measure time.Duration
	// Progress hears of each run; nil is nobody.
	Progress func(format string, args ...any)

	rounds  int
	results map[string]*Result
}

// Round runs each arm once, in an order of its own.
func (c *Comparison) Round() error {
	if c.results == nil {
		c.results = map[string]*Result{}
	}
	c.rounds++
	random := rand.New(rand.NewPCG(c.Arms[0].Setup.Seed, uint64(c.rounds)))
	for turn, i := range random.Perm(len(c.Arms)) {
		arm := c.Arms[i]
		did, err := calmest(
			func() (Run, error) { return Measure(c.Lab, arm.Setup, c.Warm, c.Measure) },
			func(r Run) float64 { return r.Measured.StalledShare() },
			func(share float64) {
				c.progress("round %d, %s: once more, the machine stalled for %.0f%% of the run", c.rounds, arm.Name, 100*share)
			})
		if err != nil {
			return fmt.Errorf("%s: %w", arm.Name, err)
		}
		c.progress("round %d, %2d of %d: %-28s %s", c.rounds, turn+1, len(c.Arms), arm.Name, did.Measured)
		r := c.results[arm.Name]
		if r == nil {
			r = &Result{Arm: arm}
			c.results[arm.Name] = r
		}
		r.Rounds, r.Ramps = append(r.Rounds, did.Measured), append(r.Ramps, did.Ramp)
	}
	return nil
}

// Run is a warm-up with what followed it.
type Run struct {
	Ramp, Measured Stretch
	// End is what the controller held when everything was settled.
	End cc.Snapshot
}

// Measure does one run of a setup. It is an error if a permit's bytes did not come back.
func Measure(lab *softroce.Lab, s Setup, warm, measure time.Duration) (r Run, err error) {
	b, err := Open(lab, s)
	if err != nil {
		return r, err
	}
	if r.Ramp, err = b.Run(warm, nil); err == nil {
		r.Measured, err = b.Run(measure, nil)
	}
	err = errors.Join(err, b.Close())
	r.End = b.end
	return r, err
}

func (c *Comparison) progress(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(format, args...)
	}
}

// Result returns what the arm of that name did, all zero if there is none.
func (c *Comparison) Result(name string) Result {
	if r := c.results[name]; r != nil {
		return *r
	}
	return Result{}
}

// Results returns what all arms did, in their order.
func (c *Comparison) Results() []Result {
	return each(c.Arms, func(a Arm) Result { return c.Result(a.Name) })
}
