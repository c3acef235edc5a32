package labcongestion

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// How often the controller ticks, samples are taken, and completions are looked for
// when there were none.
const (
	tickEvery   = 10 * time.Millisecond
	sampleEvery = 50 * time.Millisecond
	pollPause   = 500 * time.Microsecond
	// A longer time in which nobody looked does not count.
	stallGap = 20 * time.Millisecond
)

// Bottleneck is a rate-limited link to one receiver, with senders that always have
// more to send. All of it is run by the goroutine that calls Run.
type Bottleneck struct {
	setup    Setup
	lab      *softroce.Lab
	ctl      *cc.Controller
	senders  []*sender
	receiver softroce.NIC
	nextTick time.Duration
	end      cc.Snapshot // after Close
}

// Open limits the link and connects the senders.
func Open(lab *softroce.Lab, s Setup) (*Bottleneck, error) {
	if err := lab.KeepOrder(); err != nil {
		return nil, err
	}
	if err := s.check(len(lab.A)); err != nil {
		return nil, err
	}
	ctl, err := cc.New(s.Control)
	if err != nil {
		return nil, err
	}
	b := &Bottleneck{setup: s, lab: lab, ctl: ctl, receiver: lab.B[0]}
	if err := b.limit(); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(s.Seed, 1))
	for _, i := range random.Perm(s.Senders) {
		x, err := newSender(ctl, lab.A[i], b.receiver, s, random)
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		b.senders = append(b.senders, x)
	}
	return b, nil
}

// limit makes the link what the setup says.
func (b *Bottleneck) limit() error {
	if d := b.setup.PathDelay; d > 0 {
		if _, err := b.lab.Delay(b.receiver, d); err != nil {
			return err
		}
	}
	return b.SetRate(b.setup.Mbit)
}

// SetRate changes the link's rate, for packets that enter the queue from then on.
func (b *Bottleneck) SetRate(mbit float64) error {
	_, err := b.lab.Rate(b.receiver, mbit, b.setup.QueuePackets)
	return err
}

// Close flushes the senders, closes everything and frees the link. It is an error
// if a permit's bytes did not come back.
func (b *Bottleneck) Close() error {
	var errs []error
	for _, x := range b.senders {
		errs = append(errs, x.close())
	}
	b.end = b.ctl.Snapshot()
	b.ctl.Close()
	return errors.Join(append(errs, b.lab.ClearQueue(b.receiver))...)
}

// Run sends for a time and returns what was seen. During it, meanwhile is called on
// another goroutine; nil is nothing.
func (b *Bottleneck) Run(d time.Duration, meanwhile func() error) (Stretch, error) {
	changed := make(chan error, 1)
	if meanwhile == nil {
		meanwhile = func() error { return nil }
	}
	before, err := b.counters()
	if err != nil {
		return Stretch{}, err
	}
	go func() { changed <- meanwhile() }()
	s, err := b.run(d)
	if err := errors.Join(err, <-changed); err != nil {
		return Stretch{}, err
	}
	after, err := b.counters()
	s.Counters = after.since(before)
	return s, err
}

func (b *Bottleneck) run(d time.Duration) (Stretch, error) {
	// What has come since the last stretch is not this one's.
	if _, err := b.round(&Stretch{setup: b.setup}); err != nil {
		return Stretch{}, err
	}
	began := b.ctl.Now()
	end, nextSample := began+d, began+sampleEvery
	s := Stretch{began: began, setup: b.setup}
	if err := s.look(b); err != nil {
		return Stretch{}, err
	}
	s.drops, s.Dropped = s.backlog.Drops, 0
	for _, x := range b.senders {
		x.looked = began
	}
	for now := began; now < end; now = b.ctl.Now() {
		if now >= b.nextTick {
			b.ctl.Tick(now)
			if err := s.look(b); err != nil {
				return Stretch{}, err
			}
			b.nextTick = now - now%tickEvery + tickEvery
		}
		if now >= nextSample {
			s.sample(b, now)
			nextSample = now - (now-began)%sampleEvery + sampleEvery
		}
		moved, err := b.round(&s)
		if err != nil {
			return Stretch{}, err
		}
		if !moved {
			time.Sleep(pollPause)
		}
	}
	s.Took = b.ctl.Now() - began
	s.summarize()
	return s, nil
}

// round polls and posts for each sender once, and reports whether anything moved.
func (b *Bottleneck) round(s *Stretch) (moved bool, err error) {
	for _, x := range b.senders {
		had := len(s.landed)
		if err = x.poll(s); err != nil {
			return false, err
		}
		posted, err := x.post()
		if err != nil {
			return false, err
		}
		moved = moved || posted > 0 || len(s.landed) > had
	}
	return moved, nil
}

// counters are those of the senders and the receiver.
func (b *Bottleneck) counters() (Counters, error) {
	nics := []softroce.NIC{b.receiver}
	for _, x := range b.senders {
		nics = append(nics, x.pair.From.NIC)
	}
	return readCounters(nics...)
}
