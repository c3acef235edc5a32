package fabriclab

import (
	"math"
	"math/rand/v2"
	"time"
)

// weather is what makes a healthy path slow: others that send to the same receiver,
// and receivers that take little, now and then or always.
type weather struct {
	receivers int
	others    int           // senders to each receiver, beside the one that is looked at
	busy      time.Duration // mean time that one of them sends, and that it does not
	storms    time.Duration // mean time from one storm of a receiver to the next; 0 is none
	longest   time.Duration // storm
	slow      int           // so many receivers take half of the line
}

const (
	stormLeast = time.Millisecond
	stormShare = 0.01 // of the line is what a receiver takes in a storm
)

// with returns w with storms of up to that length, and a slow receiver.
func (w weather) with(longest time.Duration) weather {
	w.storms, w.longest, w.slow = time.Second, longest, 1
	return w
}

var congested = weather{receivers: 4, others: 3, busy: 20 * time.Millisecond}

// spell draws how long another sender goes on sending or resting.
func (w weather) spell(random *rand.Rand) time.Duration {
	return time.Duration(random.ExpFloat64()*float64(w.busy)) + 1
}

// storm draws how long a storm lasts, or how long there is none. Lengths are even on a
// logarithmic scale.
func (w weather) storm(random *rand.Rand, on bool) time.Duration {
	if !on {
		return time.Duration(random.ExpFloat64()*float64(w.storms)) + 1
	}
	return time.Duration(float64(stormLeast) * math.Pow(float64(w.longest)/float64(stormLeast), random.Float64()))
}

// share is what a receiver takes, of the line's rate.
func (w weather) share(receiver int, storm bool) float64 {
	switch {
	case storm:
		return stormShare
	case receiver < w.slow:
		return 0.5
	}
	return 1
}
