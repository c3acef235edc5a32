package cc

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// WithRecorder has all calls of the controller recorded, with what they were answered, so
// that they can be read and replayed: see package recorder. Nil records nothing, and so
// does a controller in mode off. A recorder serves one controller.
//
// Without a recorder nothing costs more than it would if there were no recorders. With
// one the calls for a slice together take some five times a bare reservation in two
// domains, instead of 1.2 times; on two cores, which share the ring, some eleven times
// (bench/admission).
func WithRecorder(rec *recorder.Recorder) Option {
	return func(c *Controller) { c.rec = rec }
}

// A call is recorded after its effect, and what it reads from the clock, draws by chance
// and tells of right before that. Calls that others make of them, such as the posting's
// rollback, are no calls of the controller and are not recorded.
//
// Without a recorder the fast path passes none of this: it comes here where it met
// something else than it expects. So a recorded route's generation has its gate closed, a
// recorded permit is not just reserved, and the use number of a recorded admission is not
// the permit's.

// recording is what a controller has for its recorder.
type recording struct {
	rec   *recorder.Recorder // nil if there is none
	calls calls              // of all routes
	// serial: calls run one at a time.
	serial bool
	// nobody stands for the poller of QPs that have none, so that each permit leads to its
	// controller. It is closed, which is as good as none.
	nobody *Poller
	// untold are the transitions of a serial call. The recorder's turn guards them.
	untold []Transition
}

// recordedUse is the bit that use numbers have which are handed out while calls are
// recorded. Permits number their uses without it.
const recordedUse Use = 1 << 31

// startRecording prepares for the recorder, if there is one.
func (c *Controller) startRecording() error {
	if !enabled || c.cfg.Mode == Off {
		c.rec, c.calls = nil, off
		return nil
	}
	if c.rec == nil {
		return nil
	}
	if err := c.rec.Attach(c.cfg.settings()); err != nil {
		return errors.Join(errors.New("cc: New: WithRecorder"), err)
	}
	c.calls, c.serial = recorded, c.rec.Serial()
	c.nobody = &Poller{ctl: c}
	c.nobody.closed.Store(true)
	rec, now, jitter := c.rec, c.clock, c.jitter
	c.now = func() time.Duration {
		t := now()
		rec.Clock(t)
		return t
	}
	c.jitter = func() float64 {
		f := jitter()
		rec.Jitter(f)
		return f
	}
	return nil
}

// settings returns the configuration for a recording: MinWindowBytes is
// min_window_bytes there.
func (c Config) settings() (list []recorder.Setting) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		s := recorder.Setting{Name: snake(v.Type().Field(i).Name), Value: v.Field(i).Interface()}
		switch f := s.Value.(type) {
		case Mode:
			s.Value = f.String()
		case Law:
			s.Value = f.String()
		case int:
			s.Value = int64(f)
		}
		list = append(list, s)
	}
	return list
}

// snake writes a field's name in small letters, with _ between its words.
func snake(name string) string {
	var b strings.Builder
	for i, letter := range name {
		if unicode.IsUpper(letter) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(letter))
	}
	return b.String()
}

// enter begins a recorded call, and leave ends it.
func (c *Controller) enter() {
	if c.serial {
		c.rec.Enter()
	}
}

func (c *Controller) leave() {
	if c.serial {
		c.leaveSerial()
	}
}

// leaveSerial lets the next call run, and tells of what was not to be told before.
func (c *Controller) leaveSerial() {
	told := c.untold
	c.untold = nil
	c.rec.Leave()
	for _, t := range told {
		c.deliver(t)
	}
}

// recordTold records a transition, and reports whether to keep it until the call is over:
// when calls run one at a time, the function that is told may not make another one.
func (c *Controller) recordTold(t Transition) (later bool) {
	c.mu.Lock()
	r := c.routes.find(t.Pair)
	c.mu.Unlock()
	told := recorder.Told{
		From: uint8(t.From), To: uint8(t.To), Notice: uint8(t.Notice), Reason: t.Reason,
		Generation: uint64(t.Generation), At: t.At, LastRoute: t.LastRoute, Shared: t.Shared,
	}
	told.Observation.Of(t.Verdict)
	if r != nil {
		told.Route = r.id
	}
	c.rec.Tell(&told)
	if !c.serial {
		return false
	}
	c.untold = append(c.untold, t)
	return true
}

// recordLook records a look at the route that took something in.
func (r *Route) recordLook() {
	c := r.ctl
	if r.current.Load().number == closedGeneration {
		return
	}
	c.enter()
	defer c.leave()
	if r.stale() {
		r.sync()
		c.rec.Put(recorder.Look{Route: r.id})
	}
}

// recordSync records what the table has of the pair. The caller holds the device's lock.
func (r *Route) recordSync(now time.Duration) {
	path := r.path()
	r.ctl.rec.Synced(&recorder.Synced{
		Route: r.id, Now: now, Version: path.Version, Evidence: path.Evidence,
		Paused: path.Paused, TrialOut: path.TrialOut(now), Count: path.Count, Resume: path.Resume,
	})
}

// faultOf says which error it is.
func faultOf(err error) recorder.Fault {
	if err == nil {
		return recorder.NoFault
	}
	for _, f := range [...]struct {
		err   error
		fault recorder.Fault
	}{
		{ErrClosed, recorder.Closed}, {ErrHeld, recorder.Held}, {ErrNotHeld, recorder.NotHeld},
		{ErrStaleGeneration, recorder.StaleGeneration}, {ErrTrialOver, recorder.TrialOver},
		{ErrForeign, recorder.Foreign}, {ErrUnknownQP, recorder.UnknownQP}, {classify.ErrNoElement, recorder.NoElement},
		{context.Canceled, recorder.Ended}, {context.DeadlineExceeded, recorder.Ended},
	} {
		if errors.Is(err, f.err) {
			return f.fault
		}
	}
	return recorder.Invalid
}

func (c *Controller) recordRoute(pair rail.Pair) (*Route, error) {
	c.enter()
	defer c.leave()
	r, made, err := c.route(pair)
	call := recorder.Route{Pair: pair, Fault: faultOf(err)}
	if made {
		call.Number = r.id
	}
	if made || err != nil {
		c.rec.Put(call)
	}
	return r, err
}

func (r *Route) recordRenew(old Generation, qps []QP) (Generation, error) {
	c := r.ctl
	c.enter()
	defer c.leave()
	gen, err := r.renew(old, qps)
	call := recorder.Renew{Route: r.id, Old: uint64(old), New: uint64(gen), Fault: faultOf(err)}
	for _, q := range qps {
		call.QPs = append(call.QPs, recorder.QP(q))
	}
	c.rec.Put(call)
	return gen, err
}

func (r *Route) recordUnreachable(old Generation, now time.Duration) {
	c := r.ctl
	c.enter()
	defer c.leave()
	r.unreachable(old, now)
	c.rec.Put(recorder.Unreachable{Route: r.id, Now: now, Old: uint64(old)})
}

func (r *Route) recordClose() {
	c := r.ctl
	c.enter()
	defer c.leave()
	r.close()
	c.rec.Put(recorder.CloseRoute{Route: r.id})
}

func (c *Controller) recordClose() {
	c.enter()
	defer c.leave()
	c.close()
	c.rec.Put(recorder.Close{})
}

func (c *Controller) recordForget(peer, incarnation string) int {
	c.enter()
	defer c.leave()
	gone := c.forget(peer, incarnation)
	call := recorder.Forget{Peer: peer, Incarnation: incarnation}
	for _, r := range gone {
		call.Routes = append(call.Routes, r.id)
	}
	c.rec.Put(call)
	return len(gone)
}

func (c *Controller) recordEvent(e classify.Event, now time.Duration) (v classify.Verdict, reached int, err error) {
	c.enter()
	defer c.leave()
	v, reached, err = c.takeEvent(e, now)
	c.rec.Put(recorder.Event{Event: e, Now: now, Reached: reached, Fault: faultOf(err)})
	return v, reached, err
}

func (c *Controller) recordTick(now time.Duration) {
	c.enter()
	defer c.leave()
	ticked := c.tick(now)
	c.rec.Put(recorder.Tick{Now: now, Skipped: !ticked})
}

func (c *Controller) recordDue(now time.Duration) []*Route {
	c.enter()
	defer c.leave()
	due := c.due(now)
	call := recorder.Due{Now: now}
	for _, r := range due {
		call.Routes = append(call.Routes, r.id)
	}
	c.rec.Put(call)
	return due
}

func (c *Controller) recordNewPoller(device string, cqs []uint64) (*Poller, error) {
	c.enter()
	defer c.leave()
	p, err := c.newPoller(device, cqs)
	call := recorder.Poller{Device: device, CQs: cqs, Fault: faultOf(err)}
	if err == nil {
		p.number, p.gap = c.rec.NewPoller(), 0
		call.Number = p.number
	}
	c.rec.Put(call)
	return p, err
}

func (p *Poller) recordBeat(now time.Duration) {
	c := p.ctl
	c.enter()
	defer c.leave()
	p.beat(now)
	c.rec.Beat(&recorder.Beat{Poller: p.number, Now: now})
}

func (p *Poller) recordClose() {
	c := p.ctl
	c.enter()
	defer c.leave()
	p.close()
	c.rec.Put(recorder.ClosePoller{Poller: p.number})
}
