package twohost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/clock"
)

// Repair is what happened when the dead pairs began to work while a load went on.
type Repair struct {
	Op string
	// Interval is the probe interval.
	Interval time.Duration
	Pairs    []Repaired
	// Lost is how many user slices failed on the dead pairs after they were learnt.
	Lost int
	// Retry is how long the failing probes took.
	Retry Spread
	// Lifting is how long it took to lift the blocks, up to the repair.
	Lifting time.Duration
}

// Repaired is how one pair came back. Times count from the repair; 0 is not seen.
type Repaired struct {
	Path Path
	// Failed is when the last probe that failed was posted, Probe the first that did
	// not fail.
	Failed, Probe time.Duration
	// User is when the first user slice was posted that arrived.
	User time.Duration
}

// Gap is the time from the start of the last probe that failed to the start of the
// first that did not; 0 if one of them was not seen.
func (p Repaired) Gap() time.Duration {
	if p.Failed == 0 || p.Probe == 0 {
		return 0
	}
	return p.Probe - p.Failed
}

// Latest is when the last pair carried user slices again; false if one never did.
func (r Repair) Latest() (latest time.Duration, all bool) {
	for _, p := range r.Pairs {
		if p.User == 0 {
			return 0, false
		}
		latest = max(latest, p.User)
	}
	return latest, true
}

// Check returns what is wrong with a repair: the pairs are to be back within 1.2
// probe intervals, and no user slice is to find out.
func (r Repair) Check() error {
	var faults []error
	switch latest, all := r.Latest(); {
	case !all:
		faults = append(faults, errors.New("repair: some pairs never carried user slices again"))
	case latest > r.Interval*6/5:
		faults = append(faults, fmt.Errorf("repair: the last pair carried user slices after %v, more than 1.2 probe intervals of %v", latest, r.Interval))
	}
	for _, p := range r.Pairs {
		if p.Gap() > r.Interval*6/5 {
			faults = append(faults, fmt.Errorf("repair: %v was probed %v after the probe before, start to start; 1.2 probe intervals are %v", p.Path, p.Gap(), r.Interval*6/5))
		}
	}
	if r.Lost > 0 {
		faults = append(faults, fmt.Errorf("repair: %d user slices were lost on dead pairs after those were learnt", r.Lost))
	}
	return errors.Join(faults...)
}

// Repair lets ours learn, lifts the blocks when it has for a while, and looks when
// the pairs carry user slices again, for three probe intervals at most. The blocks are
// in place again afterwards.
func (b *Bed) Repair(ctx context.Context, n Numbers, l Load, while time.Duration) (r Repair, err error) {
	r = Repair{Op: l.Op.String(), Interval: n.ProbeInterval}
	s, err := b.Start(ctx, Ours, n)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close(), b.Block()) }()
	var learned, lifted time.Duration
	run, err := s.during(ctx, l, func(ctx context.Context) error {
		if err := s.Learned(ctx, 20*n.Timeout()); err != nil {
			return err
		}
		learned = clock.Now()
		if err := sleep(ctx, while); err != nil {
			return err
		}
		before := clock.Now()
		if err := b.Lift(); err != nil {
			return err
		}
		lifted = clock.Now()
		r.Lifting = lifted - before
		return s.backIn(ctx, lifted, 3*n.ProbeInterval)
	})
	if err != nil {
		return r, err
	}
	r.read(b, run, learned, lifted)
	return r, nil
}

// backIn waits until every dead path has carried a user slice since then, or the time
// is over.
func (s *Session) backIn(ctx context.Context, since, limit time.Duration) error {
	for clock.Now() < since+limit {
		back := map[Path]bool{}
		for _, sl := range s.recorder.Slices() {
			if sl.Posted > since && sl.Bytes == int64(s.Numbers.SliceBytes) && sl.Status == classify.StatusSuccess && s.bed.Dead(sl.Path) {
				back[sl.Path] = true
			}
		}
		if len(back) == len(s.bed.DeadPaths()) {
			return nil
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// read finds in a run what became of the dead pairs.
func (r *Repair) read(b *Bed, run Run, learned, lifted time.Duration) {
	var retries []time.Duration
	for _, path := range b.DeadPaths() {
		p, lost, took := readPair(run, path, learned, lifted)
		r.Pairs = append(r.Pairs, p)
		r.Lost += lost
		retries = append(retries, took...)
	}
	r.Retry = spread(retries)
}

// readPair finds what became of one path, the user slices that failed there after it
// was learnt, and how long failing probes took.
func readPair(run Run, path Path, learned, lifted time.Duration) (p Repaired, lost int, took []time.Duration) {
	p.Path = path
	for _, s := range run.Slices {
		if s.Path != path || s.Posted < learned {
			continue
		}
		at := s.Posted - lifted
		user, arrived := run.user(s), s.Status == classify.StatusSuccess
		switch {
		case user && !arrived:
			lost++
		case user && p.User == 0:
			p.User = at
		case !user && !arrived:
			p.Failed = at
			took = append(took, s.Ended-s.Posted)
		case !user && p.Probe == 0:
			p.Probe = at
		}
	}
	return p, lost, took
}
