// Package enumtest holds enumerations to their text.
package enumtest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// value is an enumeration that writes its text.
type value interface {
	~uint8 | ~uint32
	fmt.Stringer
	encoding.TextMarshaler
}

// RoundTrip checks that each value from 0 to last is its name in JSON and comes back
// from it, that no value after last has a name, and that other text is refused.
func RoundTrip[T value, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, last T) {
	t.Run(fmt.Sprintf("%T", last), func(t *testing.T) {
		names := map[string]T{}
		for v := T(0); v <= last; v++ {
			data, err := json.Marshal(v)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("%q", v.String()), string(data))
			assert.NotContains(t, names, v.String(), "names are there once")
			names[v.String()] = v
			back := last - v // another value, but for one in the middle
			require.NoError(t, json.Unmarshal(data, &back), "%s", data)
			assert.Equal(t, v, back)
		}
		assert.Regexp(t, `^\w+\(\d+\)$`, (last + 1).String(), "no value after the last has a name")
		for _, text := range []string{"", (last + 1).String(), last.String() + " "} {
			v := last
			require.ErrorContains(t, P(&v).UnmarshalText([]byte(text)), "use one of: "+T(0).String(), "%q", text)
			assert.Equal(t, last, v, "an error changes nothing")
		}
	})
}
