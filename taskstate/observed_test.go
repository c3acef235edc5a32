package taskstate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/taskstate"
)

func TestObserved(t *testing.T) {
	for _, row := range []struct {
		name  string
		value taskstate.Observed[int64]
		want  int64
		seen  bool
		text  string
		json  string
	}{
		{"zero value", taskstate.Observed[int64]{}, 0, false, "not observed", "null"},
		{"observed zero", taskstate.Seen(int64(0)), 0, true, "0", "0"},
		{"observed", taskstate.Seen(int64(65536)), 65536, true, "65536", "65536"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, seen := row.value.Get()
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.seen, seen)
			assert.Equal(t, row.text, row.value.String())
			text, err := json.Marshal(row.value)
			require.NoError(t, err)
			assert.Equal(t, row.json, string(text))
		})
	}
	assert.NotEqual(t, taskstate.Observed[int64]{}, taskstate.Seen(int64(0)), "observed zero is not the same as unobserved")
	assert.Equal(t, "1.5s", taskstate.Seen(1500*time.Millisecond).String(), "values keep their own text")
}
