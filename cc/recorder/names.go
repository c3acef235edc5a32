package recorder

import (
	"strconv"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// names gives permits and tasks small numbers, in the order in which they come. Memory
// that holds another permit or task than before gets a new one, where that shows.
type names struct {
	permits, tasks       map[uint64]*named // by address
	lastPermit, lastTask uint64
	gaps                 int // so often something was lost
}

// named is a permit or a task.
type named struct {
	name string
	use  uint32 // of a permit: the latest admission
	gaps int    // and how often something had been lost by then
	task uint64 // of a permit: the address of its task

	attempt uint32 // of a task
	touched bool   // something was observed of it in its attempt
}

// mostNames is how many permits or tasks are remembered. When there are more, all begin
// anew: a process that has had so many has moved them through all of its memory.
const mostNames = 1 << 20

// mostAttempts is how many attempts of a task are written that nothing was seen of.
const mostAttempts = 1 << 12

// noTask is what the language calls no task.
const noTask = "none"

func newNames() names {
	return names{permits: map[uint64]*named{}, tasks: map[uint64]*named{}}
}

// entryOf returns the permit or task at an address, or a new one.
func entryOf(of map[uint64]*named, address uint64, prefix string, last *uint64) *named {
	if n := of[address]; n != nil {
		return n
	}
	if len(of) >= mostNames {
		clear(of)
	}
	*last++
	n := &named{name: prefix + strconv.FormatUint(*last, 10)}
	of[address] = n
	return n
}

// permit returns the name of a permit that a call other than for bytes was made of.
func (t *names) permit(address uint64, use uint32) string {
	n := entryOf(t.permits, address, "p", &t.lastPermit)
	if n.use == 0 {
		n.use, n.gaps = use, t.gaps
	}
	return n.name
}

// usesAhead is how far the use numbers of one permit's admissions may lie apart: some are
// taken back before the call returns.
const usesAhead = 16

// permitOf returns the name of the permit that bytes were asked for with. Those of one
// permit's admissions follow each other; they begin again at 1 some time.
func (t *names) permitOf(a Acquire) string {
	n := entryOf(t.permits, a.Permit, "p", &t.lastPermit)
	if a.Use != 0 {
		if ahead := a.Use - n.use; n.use != 0 && n.gaps == t.gaps && (ahead == 0 || ahead > usesAhead) && a.Use > usesAhead {
			delete(t.permits, a.Permit)
			n = entryOf(t.permits, a.Permit, "p", &t.lastPermit)
		}
		n.use, n.gaps = a.Use, t.gaps
	}
	n.task = a.Task
	return n.name
}

// task returns the name of a task, and how many attempts it has begun since it was last
// seen. One of which nothing was observed yet, where something was, is another task; so is
// one in an earlier attempt.
func (t *names) task(a Acquire) (name string, attempts uint32) {
	n := entryOf(t.tasks, a.Task, "t", &t.lastTask)
	if a.New && n.touched || a.Attempt < n.attempt {
		delete(t.tasks, a.Task)
		n = entryOf(t.tasks, a.Task, "t", &t.lastTask)
	}
	if n.attempt == 0 {
		n.attempt = 1
	}
	if a.Attempt > n.attempt {
		attempts = min(a.Attempt-n.attempt, mostAttempts)
		n.attempt, n.touched = a.Attempt, true
	}
	if _, says := taskstate.StateOf(a.Reason); says {
		n.touched = true
	}
	return n.name, attempts
}

// taskName returns the name of a task that was seen.
func (t *names) taskName(address uint64) string {
	if address == 0 {
		return noTask
	}
	return entryOf(t.tasks, address, "t", &t.lastTask).name
}

// happened notes that a verdict ended an attempt of the permit: its task knows of it.
func (t *names) happened(permit uint64, v classify.Verdict) {
	p := t.permits[permit]
	if p == nil || p.task == 0 {
		return
	}
	if _, says := taskstate.StateOf(v.Reason()); says || v.Succeeded() {
		if task := t.tasks[p.task]; task != nil {
			task.touched = true
		}
	}
}

func routeName(number uint32) string  { return "r" + strconv.FormatUint(uint64(number), 10) }
func pollerName(number uint32) string { return "poller" + strconv.FormatUint(uint64(number), 10) }
