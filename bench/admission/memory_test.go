package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What an idle route may take, with its share of indexes, lists and maps: bare, and
// with an endpoint of one QP.
const (
	maxRouteBytes    = 512
	maxEndpointBytes = 640
)

func TestIdleRouteBytes(t *testing.T) {
	bare, withEndpoint, err := routeBytes()
	require.NoError(t, err)
	t.Logf("an idle route takes %.0f bytes, with an endpoint %.0f", bare, withEndpoint)
	assert.LessOrEqual(t, bare, float64(maxRouteBytes), "bytes of an idle route")
	assert.LessOrEqual(t, withEndpoint, float64(maxEndpointBytes), "bytes of one with an endpoint")
}
