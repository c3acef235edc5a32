package fabriclab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// herdSize is how many controllers there are.
const herdSize = 1000

// herds: many hosts lose their path to one machine together, and all try again.
func herds() (all []Experiment) {
	for _, c := range []struct {
		name, text  string
		prober      bool
		from, until time.Duration
	}{
		{"probes", "Each has a prober. Counted for 36 s, the longest cooldown.", true, 0, 36 * time.Second},
		{"users", "None has a prober: slices of users are the trials. Counted from 24 to 36 s, the shortest and the longest cooldown.", false, 24 * time.Second, 36 * time.Second},
	} {
		all = append(all, Experiment{
			Name:  "herd/" + c.name,
			Setup: fmt.Sprintf("%d controllers in %d processes, without a fabric. Their pairs die within a millisecond, by three QPs each, and stay dead; the cooldown is 30 s. A trial fails after %v, and each engine asks every 50 ms for the next. %s", herdSize, herdSize, retryTime, c.text),
			Figures: []Figure{
				{"peak of a second, by the mean", "x", atMost(2)},
				{"peak of a second", "trials", Goal{}},
				{"mean of a second", "trials", Goal{}},
			},
			Gated: true,
			Run: func(seed uint64, arm Arm) (Outcome, error) {
				return herd(seed, arm, c.prober, c.from, c.until, herdSize)
			},
		})
	}
	return all
}

// retryTime is after how long the default QP gives up.
const retryTime = 8 * 4096 << 14 * time.Nanosecond

func herd(seed uint64, arm Arm, prober bool, from, until time.Duration, size int) (Outcome, error) {
	const length, bin = 2 * time.Minute, time.Second
	out := newOutcome()
	cfg := *arm.Config
	cfg.Prober = prober
	trials := &Series{Name: "trials", Unit: "a second", Every: bin, Values: make([]float64, length/bin)}
	random := rand.New(rand.NewPCG(seed, 0x68657264))
	for range size {
		m := &member{random: random}
		if err := m.run(cfg, length, func(at time.Duration) { trials.Values[at/bin]++ }); err != nil {
			return out, fmt.Errorf("arm %s, seed %d: %w", arm.Name, seed, err)
		}
	}
	counted := trials.between(from, until)
	out.Values["peak of a second"] = slices.Max(counted)
	out.Values["mean of a second"] = mean(counted)
	out.Values["peak of a second, by the mean"] = slices.Max(counted) / mean(counted)
	out.Series = []*Series{trials}
	return out, nil
}

// member is one process of a herd: a controller with a clock of its own, and a path that
// is dead from the start.
type member struct {
	random     *rand.Rand
	now        time.Duration
	ctl        *cc.Controller
	path       *cc.Route
	generation cc.Generation
	qp         uint64
}

// run lets the member's path die and try again until the end. It has trial called with
// the time of each trial since the death.
func (m *member) run(cfg cc.Config, length time.Duration, trial func(at time.Duration)) (err error) {
	jitter := func() float64 { return 0.8 + 0.4*m.random.Float64() }
	if m.ctl, err = cc.New(cfg, cc.WithClock(func() time.Duration { return m.now }), cc.WithJitter(jitter)); err != nil {
		return err
	}
	defer m.ctl.Close()
	if m.path, err = m.ctl.Route(rail.Pair{Peer: "peer", Local: "nic", Port: 1, Remote: "nic"}); err != nil {
		return err
	}
	m.now = time.Duration(m.random.Int64N(int64(time.Millisecond)))
	died := m.now
	for range cfg.HardErrorThreshold {
		if err := m.renew(); err != nil {
			return err
		}
		p := &posted{}
		if d := m.path.TryAcquire(&p.permit, m.generation, probeBytes, nil); !m.post(p, d) {
			// A controller with a prober leaves a path that has failed to it.
			if d = m.path.TryProbe(&p.permit, m.generation, probeBytes); !m.post(p, d) {
				return fmt.Errorf("the path did not die: %v", d)
			}
		}
		m.fail(p)
		if m.path.State() == cc.Quarantined {
			break
		}
	}
	if s := m.path.State(); s != cc.Quarantined {
		return fmt.Errorf("the path is %v, not quarantined", s)
	}
	var out *posted // the trial on the wire
	m.now += time.Duration(m.random.Int64N(int64(50 * time.Millisecond)))
	for ; m.now < died+length; m.now += 50 * time.Millisecond {
		m.ctl.Tick(m.now)
		if out != nil {
			if m.now-out.at < retryTime {
				continue
			}
			m.fail(out)
			out = nil
		}
		p := &posted{}
		d, err := m.ask(p, cfg.Prober)
		switch {
		case err != nil:
			return err
		case d.WantsEndpoint():
			if err := m.renew(); err != nil {
				return err
			}
		case m.post(p, d):
			out = p
			trial(m.now - died)
		}
	}
	return nil
}

// ask asks for a trial, as a prober or as a user.
func (m *member) ask(p *posted, prober bool) (d cc.Decision, err error) {
	switch {
	case !prober:
		d = m.path.TryAcquire(&p.permit, m.generation, probeBytes, nil)
	case len(m.ctl.Due(m.now)) > 0:
		d = m.path.TryProbe(&p.permit, m.generation, probeBytes)
	default:
		return d, nil
	}
	return d, d.Err
}

// post posts what was admitted.
func (m *member) post(p *posted, d cc.Decision) bool {
	if !d.Admitted() {
		return false
	}
	p.use, p.at = d.Use, m.now
	return p.permit.Posting(m.qp, m.now) == nil
}

func (m *member) fail(p *posted) {
	p.permit.Settle(p.use, classify.Completion(classify.StatusRetryExcErr, 0), m.now)
}

// renew builds the next endpoint.
func (m *member) renew() error {
	m.qp++
	generation, err := m.path.Renew(m.generation, []cc.QP{{ID: m.qp, CQ: 1}})
	if err != nil {
		return err
	}
	m.generation = generation
	return nil
}
