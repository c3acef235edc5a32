package enum

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type colour uint8

func (c colour) String() string { return [...]string{"red", "green", "blue"}[c] }

func TestParse(t *testing.T) {
	c := colour(1)
	require.NoError(t, Parse(&c, []byte("blue"), 2))
	assert.Equal(t, colour(2), c)
	require.EqualError(t, Parse(&c, []byte("Red"), 1), `enum: "Red" is no colour; use one of: red; green`)
	require.Error(t, Parse(&c, []byte("blue"), 1), "it is after the last")
	assert.Equal(t, colour(2), c, "an error changes nothing")
}
