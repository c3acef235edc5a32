package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxRouteBytes is what an idle route may take, with its entry in the pause table and
// its places in maps.
const maxRouteBytes = 1500

func TestIdleRouteBytes(t *testing.T) {
	bare, withEndpoint, err := routeBytes()
	require.NoError(t, err)
	t.Logf("an idle route takes %.0f bytes, with an endpoint %.0f", bare, withEndpoint)
	assert.LessOrEqual(t, bare, float64(maxRouteBytes), "bytes of an idle route")
}
