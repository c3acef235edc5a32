package transfer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/taskstate"
)

func TestPutAndGet(t *testing.T) {
	for _, tc := range []struct {
		name  string
		mode  cc.Mode
		bytes int
		slice int // 0: the default
	}{
		{"one byte", cc.Enforce, 1, 0},
		{"one slice", cc.Enforce, 64 << 10, 0},
		{"a short last slice", cc.Enforce, 3<<20 + 77, 0},
		{"slices above the window", cc.Enforce, 8<<20 + 77, 1 << 20},
		{"tiny slices", cc.Enforce, 4001, 10},
		{"observe", cc.Observe, 2 << 20, 0},
		{"off", cc.Off, 2 << 20, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, options{cc: func(c *cc.Config) { c.Mode = tc.mode }, engine: func(c *Config) {
				if tc.slice > 0 {
					c.SliceBytes = tc.slice
				}
			}})
			ctx := r.limit()
			sent := r.buffer(tc.bytes)

			put, err := r.peer.Put(ctx, "object", sent)
			require.NoError(t, err)
			assert.EqualValues(t, tc.bytes, put.Moved, "bytes moved by the put")
			assert.EqualValues(t, tc.bytes, put.Checked, "bytes checked by the put")
			assert.True(t, string(sent.Bytes()) == string(r.stored("object")), "the object must hold what was put")

			got, get, err := r.peer.Get(ctx, "object")
			require.NoError(t, err)
			defer func() { assert.NoError(t, got.Close()) }()
			assert.EqualValues(t, tc.bytes, get.Checked, "bytes checked by the get")
			assert.True(t, string(sent.Bytes()) == string(got.Bytes()), "the get must return what was put")
			if tc.mode == cc.Enforce {
				assert.Equal(t, taskstate.Normal, put.Task.State, "every slice of the put succeeded: %v", put.Task)
			}
			r.nothingInFlight()
		})
	}
}
