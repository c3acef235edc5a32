package taskstate_test

import (
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// generation is the one that slices are admitted on where it does not matter.
const generation = 7

func because(r classify.Reason) *taskstate.Evidence {
	return &taskstate.Evidence{Reason: r, Generation: generation}
}

// completion is the evidence of a failed work completion.
func completion(s classify.Status, vendorErr uint32) *taskstate.Evidence {
	v := classify.Completion(s, vendorErr)
	return &taskstate.Evidence{Reason: v.Reason(), Scope: v.Scope(), Verdict: v, Generation: generation}
}

func signal(s classify.Signal) *taskstate.Evidence {
	v := classify.Of(s)
	return &taskstate.Evidence{Reason: v.Reason(), Scope: v.Scope(), Verdict: v, Generation: generation}
}

// admitted returns a slice of the task with an open attempt.
func admitted(task *taskstate.Task) *taskstate.Slice {
	s := new(taskstate.Slice)
	s.Admitted(task, generation, false)
	return s
}

// arrived returns a slice of the task that succeeded.
func arrived(task *taskstate.Task) *taskstate.Slice {
	s := admitted(task)
	s.Succeeded()
	return s
}
