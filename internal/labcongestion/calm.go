package labcongestion

// A run is done again if the machine stalled for more than this share of it, at most so
// often.
const (
	mostStalled = 0.15
	mostRuns    = 3
)

// calmest returns the first run that was calm, or else the calmest. share says how much
// of a run the machine stalled; uneasy hears of each run that was not calm.
func calmest[T any](run func() (T, error), share func(T) float64, uneasy func(share float64)) (best T, err error) {
	for i := range mostRuns {
		r, err := run()
		if err != nil {
			return best, err
		}
		s := share(r)
		if i == 0 || s < share(best) {
			best = r
		}
		if s <= mostStalled {
			break
		}
		uneasy(s)
	}
	return best, nil
}
