package cc

import "time"

// modelVerdict says not to use the route until a trial succeeds.
type modelVerdict struct {
	cfg      *Config
	paused   bool
	resume   time.Duration
	next     time.Duration // when a trial may start
	early    time.Duration // when it may start before that, if not 0
	probe    time.Duration // no probe comes ahead of its turn before that, whoever sends it
	cooldown time.Duration // that of the last pause
	lifted   time.Duration // when that ended, if not 0
	calm     time.Duration // without failures, since

	flapping bool            // paused again too soon, and not lived down
	proof    []time.Duration // its successes in a row
}

// decay halves the cooldown for each of its lengths without failures.
func (v *modelVerdict) decay() {
	for v.cooldown > v.cfg.Cooldown && v.calm >= v.cooldown {
		v.calm -= v.cooldown
		v.cooldown = max(v.cooldown/2, v.cfg.Cooldown)
	}
	if v.cooldown == v.cfg.Cooldown {
		v.flapping = false
	}
}

// pause begins a cooldown, longer than the last if that is not lived down.
func (v *modelVerdict) pause(now time.Duration) {
	if v.paused {
		return
	}
	v.decay()
	length := v.cooldown
	if v.lifted != 0 && now-v.lifted < length {
		v.flapping = true
	}
	if length > v.cfg.Cooldown || v.flapping {
		length *= 2
	}
	v.begin(now, length)
}

func (v *modelVerdict) begin(now, length time.Duration) {
	v.cooldown = min(length, v.cfg.CooldownCap)
	v.paused, v.resume, v.early, v.calm = true, now+v.cooldown, 0, 0
	v.next, v.probe, v.proof = v.resume, 0, nil
}

// proves reports whether a success is enough to end the pause. A prober tries what flaps
// for four intervals.
func (v *modelVerdict) proves(now time.Duration) bool {
	if !v.paused || !v.flapping || !v.cfg.Prober {
		return true
	}
	v.proof = append(v.proof, now)
	return len(v.proof) >= 4 && now-v.proof[0] >= 4*v.cfg.ProbeInterval
}

func (v *modelVerdict) lift(now time.Duration) {
	v.paused, v.early, v.lifted, v.calm, v.proof = false, 0, now, 0, nil
}

func (v *modelVerdict) due() time.Duration {
	switch {
	case !v.paused:
		return 0
	case v.early != 0:
		return min(v.early, v.next)
	}
	return v.next
}

// probed reports whether probes come before the pause is over.
func (v *modelVerdict) probed() bool { return !v.flapping || v.cooldown == v.cfg.Cooldown }

// interval is how long it is from one early trial that fails to the next.
func (v *modelVerdict) interval() time.Duration {
	return time.Duration(float64(v.cfg.ProbeInterval) * (float64(v.cooldown) / float64(v.cfg.Cooldown)))
}
