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
			back := taskstate.Seen(int64(7))
			require.NoError(t, json.Unmarshal(text, &back))
			assert.Equal(t, row.value, back)
		})
	}
	seven := taskstate.Seen(int64(7))
	require.Error(t, json.Unmarshal([]byte(`"8"`), &seven))
	assert.Equal(t, taskstate.Seen(int64(7)), seven, "an error changes nothing")
	assert.NotEqual(t, taskstate.Observed[int64]{}, taskstate.Seen(int64(0)), "observed zero is not the same as unobserved")
	assert.Equal(t, "1.5s", taskstate.Seen(1500*time.Millisecond).String(), "values keep their own text")
}
