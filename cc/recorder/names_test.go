package recorder

import (
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
)

func TestNamesOfPermits(t *testing.T) {
	n := newNames()
	ask := func(address uint64, use uint32) string { return n.permitOf(Acquire{Permit: address, Use: use}) }
	assert.Equal(t, "p1", ask(16, 100))
	assert.Equal(t, "p2", ask(32, 5))
	assert.Equal(t, "p1", ask(16, 0), "refused")
	assert.Equal(t, "p1", ask(16, 101))
	assert.Equal(t, "p1", n.permit(16, 100), "a late settle")
	assert.Equal(t, "p1", ask(16, 103), "an admission was taken back")
	assert.Equal(t, "p3", ask(16, 9000), "a permit was zeroed, or other memory lies there")
	assert.Equal(t, "p3", ask(16, 9001))
	assert.Equal(t, "p3", ask(16, 1), "the numbers begin again")
	n.gaps++
	assert.Equal(t, "p3", ask(16, 500), "it went on where records are missing")
	assert.Equal(t, "p3", ask(16, 501))
	assert.Equal(t, "p4", ask(16, 501), "the same number twice")
	assert.Equal(t, "p2", ask(32, 6))
}

func TestNamesOfTasks(t *testing.T) {
	n := newNames()
	success := classify.Completion(classify.StatusSuccess, 0)
	ask := func(a Acquire) string {
		a.Task, a.Permit = 16, 1
		a.Attempt = max(1, a.Attempt)
		name, _ := n.task(a)
		n.permitOf(a)
		return name
	}
	assert.Equal(t, "t1", ask(Acquire{New: true}))
	assert.Equal(t, "t1", ask(Acquire{New: true}), "a second slice, before anything happened")
	n.happened(1, classify.Of(classify.SignalTeardown))
	assert.Equal(t, "t1", ask(Acquire{New: true}), "a teardown says nothing to a task")
	n.happened(1, success)
	assert.Equal(t, "t1", ask(Acquire{}))
	assert.Equal(t, "t2", ask(Acquire{New: true}), "nothing was observed of it, and something was of t1")
	assert.Equal(t, "t2", ask(Acquire{New: true, Reason: classify.ReasonStaleGeneration}))
	assert.Equal(t, "t2", ask(Acquire{New: true, Reason: classify.ReasonByteWindow}))
	assert.Equal(t, "t3", ask(Acquire{New: true}))
	_, attempts := n.task(Acquire{Task: 16, Attempt: 4})
	assert.Equal(t, uint32(3), attempts)
	assert.Equal(t, "t4", ask(Acquire{Attempt: 3}), "an earlier attempt")
	assert.Equal(t, "none", n.taskName(0))
}
