package cc

import (
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
)

// The field_*_test.go files hold failures that people met in the field, each with
// its source and what was seen there. In the end all bytes are back, and a route
// that is not quarantined admits a slice as large as its window.

func wc(s classify.Status, vendor uint32) classify.Verdict { return classify.Completion(s, vendor) }

// reason requires the task's state with its most recent reason.
func (r *rig) reason(s *slice, state taskstate.State, reason classify.Reason) {
	r.Helper()
	d := s.task.Detail()
	assert.Equal(r.TB, state, d.State)
	got, _ := d.Reason.Get()
	assert.Equal(r.TB, reason, got)
}
