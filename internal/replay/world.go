package replay

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/internal/suggest"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// start is the controllers' clock at the beginning of a scenario that was not recorded:
// a process that has run for a while, at the beginning of an epoch.
const start = time.Hour

// world is what one case has made: controllers, routes, permits, tasks, and the time.
type world struct {
	runner    *run
	result    *Result
	name      string         // of the case
	overrides []scenario.Arg // of the configuration, after all else
	excuse    string         // for every mismatch from now on
	recorded  bool           // it is a recording
	base      time.Duration  // the clock at 0s
	leaveOpen bool
	settings  []scenario.Statement // what configures controllers, in order

	workers map[scenario.ID]*worker
	crew    []*worker // in the order in which they came
	tables  map[scenario.ID]*rail.Table
	routes  map[scenario.ID]*route
	ordered []*route
	byPair  map[pairOf]*route
	permits map[scenario.ID]*permit
	tasks   map[scenario.ID]*task
	pollers map[scenario.ID]*poller
	lastQP  uint64
	agenda  agenda
	ticks   ticks
	// happened is how many things happened by themselves in the statement that runs.
	happened int
	pending  []pending // expectations that may come true later
	never    []scenario.Statement
	early    bool // what a statement names may come later
	over     bool // the case is: what happens now is told to nobody
	align    *aligner

	// mu guards what follows: goroutines that wait call back too.
	mu      sync.Mutex
	now     time.Duration
	clock   queue[time.Duration] // readings that the next call gets
	calling bool                 // that call is made; who else reads the clock gets now
	jitter  queue[float64]       // factors that the next draws get
	told    []Transition         // since the statement began
	expects []told               // what the next call has to tell, by a recording

	step    Step
	scratch scenario.Statement
}

type worker struct {
	name   scenario.ID
	pauses scenario.ID
	shared bool
	ctl    *cc.Controller // nil until something needs it
	table  *rail.Table
	cfg    cc.Config
	closed bool
}

type pairOf struct {
	worker *worker
	pair   rail.Pair
}

type task struct {
	taskstate.Task
	users int // permits that used it last
}

type poller struct {
	*cc.Poller
}

// mainWorker is the worker of a scenario that names none.
var mainWorker = scenario.NewID("main")

func newWorld(r *run, name string) *world {
	return &world{
		runner: r, result: r.result, name: name, base: start, now: start,
		workers: map[scenario.ID]*worker{}, tables: map[scenario.ID]*rail.Table{}, routes: map[scenario.ID]*route{},
		byPair: map[pairOf]*route{}, permits: map[scenario.ID]*permit{}, tasks: map[scenario.ID]*task{}, pollers: map[scenario.ID]*poller{},
	}
}

// time returns the time since the beginning.
func (w *world) time() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now - w.base
}

// readClock is the clock of the controllers.
func (w *world) readClock() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calling {
		if reading, ok := w.clock.take(); ok {
			w.now = max(w.now, reading)
			return reading
		}
	}
	return w.now
}

// draw is the jitter of the controllers.
func (w *world) draw() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if factor, ok := w.jitter.take(); ok {
		return factor
	}
	return 1
}

// hear is the hook of a worker's controller.
func (w *world) hear(of *worker, t cc.Transition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.byPair[pairOf{of, t.Pair}]
	label := t.Pair.String()
	if r != nil {
		label = r.name.String()
		if !w.recorded {
			r.heard = append(r.heard, t)
		}
	}
	t.At -= w.base
	w.told = append(w.told, Transition{of.name.String(), label, t})
}

// worker finds a worker; the first one if the statement names none.
func (w *world) worker(s *scenario.Statement) *worker {
	names := s.Values("worker")
	if len(names) == 0 {
		if len(w.crew) == 0 {
			w.addWorker(mainWorker)
		}
		return w.crew[0]
	}
	if k := w.workers[names[0].ID()]; k != nil {
		return k
	}
	if names[0].ID() == mainWorker && len(w.crew) == 0 {
		return w.addWorker(mainWorker)
	}
	w.unknown(s, "worker", names[0].ID(), keys(w.workers))
	return nil
}

// workersOf finds the worker that the statement names, or all of them.
func (w *world) workersOf(s *scenario.Statement) []*worker {
	one := w.worker(s)
	switch {
	case one == nil:
		return nil
	case len(s.Values("worker")) > 0:
		return []*worker{one}
	}
	return w.crew
}

func (w *world) addWorker(name scenario.ID) *worker {
	k := &worker{name: name}
	w.workers[name] = k
	w.crew = append(w.crew, k)
	return k
}

// controller returns the worker's controller, and makes it at the first call; nil if its
// configuration is wrong.
func (w *world) controller(s *scenario.Statement, k *worker) *cc.Controller {
	if k.ctl != nil || k.closed {
		return k.ctl
	}
	cfg, err := w.config(k)
	if err != nil {
		w.wrong(s, err.Error())
		k.closed = true
		return nil
	}
	k.cfg, k.table = cfg, rail.NewTable()
	if k.shared {
		if w.tables[k.pauses] == nil {
			w.tables[k.pauses] = k.table
		}
		k.table = w.tables[k.pauses]
	}
	k.ctl, err = cc.New(cfg, cc.WithClock(w.readClock), cc.WithJitter(w.draw), cc.WithPauses(k.table),
		cc.WithTransitions(func(t cc.Transition) { w.hear(k, t) }))
	if err != nil {
		w.wrong(s, err.Error())
		k.closed = true
	}
	return k.ctl
}

// task finds or makes a task.
func (w *world) task(id scenario.ID) *task {
	t := w.tasks[id]
	if t == nil {
		t = &task{}
		w.tasks[id] = t
	}
	return t
}

// noTask is the label that says there is no task.
var noTask = scenario.NewID("none")

// wrong says that a statement cannot be run.
func (w *world) wrong(s *scenario.Statement, why string) { w.mismatch(s, "", "", why) }

// unknown says that a statement names something that is not there. What may never be can
// speak of things that come later; see heed.
func (w *world) unknown(s *scenario.Statement, what string, id scenario.ID, known func() []string) {
	if w.early {
		return
	}
	why := fmt.Sprintf("no %s is called %q", what, id)
	if len(w.step.Mismatches) < maxHelp {
		why += "; " + suggest.For(id.String(), known())
	}
	w.wrong(s, why)
}

// maxHelp is how many unknown names of one statement are told what they may have meant.
const maxHelp = 20

// keys returns what returns the names of a map.
func keys[T any](m map[scenario.ID]T) func() []string {
	return func() (all []string) {
		for id := range m {
			all = append(all, id.String())
		}
		slices.Sort(all)
		return all
	}
}

// mismatch notes an expectation that did not come true.
func (w *world) mismatch(s *scenario.Statement, what, want, got string) {
	excuse := w.excuse
	if s.Kind.Subject != "" && w.runner.options.Set == nil { // somebody wrote it
		excuse = ""
	}
	m := Mismatch{Case: w.name, Line: s.Line, At: w.time(), Statement: plain(s), What: what, Want: want, Got: got, Excuse: excuse}
	w.step.Mismatches = append(w.step.Mismatches, m)
	w.result.add(m)
	if more := len(w.step.Mismatches) - MaxMismatches; more > 0 {
		w.step.Mismatches = w.step.Mismatches[:MaxMismatches]
		w.step.more += more
	}
}

// A [Mismatch] has so much of a statement: so many values, and then so many bytes.
const (
	maxPlainArgs = 1 << 8
	maxPlain     = 1 << 12
)

// plain is a statement without its comment, shortened if it is long; nothing for the end.
func plain(s *scenario.Statement) string {
	if s.Line == 0 {
		return ""
	}
	p := *s
	p.HasComment = false
	p.Args, p.Answer = p.Args[:min(len(p.Args), maxPlainArgs)], p.Answer[:min(len(p.Answer), maxPlainArgs)]
	text := p.String()
	if cut := text[:min(len(text), maxPlain)]; len(cut) < len(text) || len(p.Args) < len(s.Args) || len(p.Answer) < len(s.Answer) {
		return strings.ToValidUTF8(cut, "") + "..."
	}
	return text
}
