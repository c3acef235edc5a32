package recorder_test

import (
	"bytes"
	"testing"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Calls that were refused since they name nothing are recorded and replayed as they were.
func TestCallsThatNameNothing(t *testing.T) {
	var out bytes.Buffer
	rec := recorder.New(recorder.Stream(&out, recorder.Text), recorder.Serial())
	r := newRig(t, rec, nil)
	route := r.route("n1")
	_, err := route.Renew(0, nil)
	require.Error(t, err)
	_, err = route.Renew(0, []cc.QP{{ID: 0, CQ: 1}})
	require.Error(t, err)
	_, err = r.ctl.NewPoller("D1")
	require.Error(t, err)
	var s slice
	r.post(&s, route, r.renew(route, 0, 7), 4*kib, 7)
	r.settle(&s, success)
	r.ctl.Close()
	require.NoError(t, rec.Close())

	assert.Contains(t, out.String(), "renew r1 old=0 empty=yes -> 0 error=invalid\nrenew r1 qps=0 cq=1 old=0 -> 0 error=invalid\n")
	assert.Contains(t, out.String(), " D1 empty=yes -> error=invalid\n")
	in, err := scenario.NewReader(&out)
	require.NoError(t, err)
	result, err := replay.Run(in, replay.Options{})
	require.NoError(t, err)
	assert.Empty(t, result.Mismatches)
	assert.Empty(t, result.Differences)
}
