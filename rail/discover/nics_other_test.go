//go:build !linux

package discover

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNICsElsewhere(t *testing.T) {
	nics, err := NICs()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	assert.Empty(t, nics)
}
