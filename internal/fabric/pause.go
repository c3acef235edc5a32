package fabric

// pauseQuanta is the time of the pause frames: the longest that there is.
const pauseQuanta = 65535

// quanta returns how long a pause lasts at a rate: each quantum is 512 bit times.
func quanta(rate int64) Time { return Time(pauseQuanta * 512 * float64(Second) / float64(rate)) }

// want asks the other end to pause or to go on. The frame goes out before anything
// else.
func (p *Port) want(pause bool) {
	if p.wanted != pause {
		p.wanted = pause
		p.kick()
	}
}

// pauseFrame makes the frame that tells the other end what is wanted.
func (p *Port) pauseFrame() *packet {
	s := p.sim
	p.told = p.wanted
	k := s.take()
	k.wire = pauseWire
	k.kind = packetResume
	if p.told {
		k.kind = packetPause
		p.toldAt = s.now
		if !p.refreshing {
			p.refreshing = true
			s.agenda.push(s.now+quanta(p.rate)/2, eventRefresh, p.id)
		}
	}
	return k
}

// refresh repeats a pause that is still wanted when half its time has passed.
func (p *Port) refresh() {
	p.refreshing = false
	if !p.told {
		return
	}
	if due := p.toldAt + quanta(p.rate)/2; due > p.sim.now {
		p.refreshing = true
		p.sim.agenda.push(due, eventRefresh, p.id)
		return
	}
	p.told = false
	p.kick()
}

// setPaused is what a pause frame does at the end that it is sent to.
func (p *Port) setPaused(pause bool) {
	s := p.sim
	if pause {
		p.pausedUntil = s.now + quanta(p.rate)
		if !p.unpausing {
			p.unpausing = true
			s.agenda.push(p.pausedUntil, eventUnpause, p.id)
		}
	}
	if p.paused == pause {
		return
	}
	p.paused = pause
	if pause {
		p.pausedAt = s.now
		p.stats.Pauses++
		return
	}
	p.stats.PauseTime += s.now - p.pausedAt
	p.kick()
}

// unpause ends a pause that was neither refreshed nor taken back.
func (p *Port) unpause() {
	p.unpausing = false
	if !p.paused {
		return
	}
	if p.pausedUntil > p.sim.now {
		p.unpausing = true
		p.sim.agenda.push(p.pausedUntil, eventUnpause, p.id)
		return
	}
	p.setPaused(false)
}
