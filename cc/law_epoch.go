package cc

// epochLaw halves the window for each epoch of sustained pressure, and adds a step
// for each of sustained ease. Because low is below half the target, a window that
// was just halved is not low: it rests in between.
//
// Specification: path state machine, HEALTHY and CONGESTED.
type epochLaw struct {
	bounds
	step int64 // bytes
}

func (l epochLaw) afterEpoch(window int64, e epochSigns) int64 {
	switch {
	case e.high:
		window /= 2
	case e.ease && e.mayGrow:
		window += l.step
	}
	return l.clamp(window)
}

func (l epochLaw) afterRound(window int64, _ roundSigns) int64 { return window }
