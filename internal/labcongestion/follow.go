package labcongestion

import (
	"errors"
	"time"

	"github.com/rdmagate/rdmagate/internal/softroce"
)

// Phase is a stretch at a rate of the link.
type Phase struct {
	Mbit float64 `json:"mbit"`
	Stretch
}

// Follow changes the rate of the link under way: the traffic goes through one phase
// of length d for each of the rates. progress hears of them; nil is nobody.
func Follow(lab *softroce.Lab, s Setup, d time.Duration, progress func(format string, args ...any), rates ...float64) ([]Phase, error) {
	if progress == nil {
		progress = func(string, ...any) {}
	}
	phases, err := calmest(
		func() ([]Phase, error) { return follow(lab, s, d, rates) },
		func(phases []Phase) (share float64) {
			for _, p := range phases {
				share = max(share, p.StalledShare())
			}
			return share
		},
		func(share float64) {
			progress("law %s: once more, the machine stalled for %.0f%% of a phase", s.Control.Law, 100*share)
		})
	for _, p := range phases {
		progress("law %s at %4.1f Mbit/s: %s", s.Control.Law, p.Mbit, p.Stretch)
	}
	return phases, err
}

func follow(lab *softroce.Lab, s Setup, d time.Duration, rates []float64) (phases []Phase, err error) {
	s.Mbit = rates[0]
	b, err := Open(lab, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, mbit := range rates {
		s, err := b.Run(d, func() error { return b.SetRate(mbit) })
		if err != nil {
			return nil, err
		}
		phases = append(phases, Phase{mbit, s})
	}
	return phases, nil
}

// SettledAfter returns when the delay had come below most for good: the time of the
// last sample that was above.
func (p Phase) SettledAfter(most time.Duration) (settled time.Duration) {
	for _, at := range p.Samples {
		if at.MedianDelay > most {
			settled = at.At
		}
	}
	return settled
}
