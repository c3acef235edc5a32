package replay

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// Who waits for ever is waited for once; after that a run soon goes on.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := scenario.NewReader(strings.NewReader("scenario 1\nsettings field\nroute r D1 P n1\nrenew r qps=1\n" +
			"send p r 1MiB\nwait w r 1MiB\nreturned w\nreturned w\nreturned w\ncomplete p SUCCESS\nreturned w -> admit\nunposted w\n"))
		require.NoError(t, err)
		begin := time.Now()
		result, err := Run(r, Options{})
		require.NoError(t, err)
		assert.Len(t, result.Mismatches, 3, "%v", result.Mismatches)
		assert.Equal(t, 11100*time.Millisecond, time.Since(begin).Round(10*time.Millisecond), "10 s, 1 s, 0.1 s")
	})
}

// A text that turns out to be faulty leaves nobody behind who waits: else the bubble would
// not end.
func TestFaultReleasesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := scenario.NewReader(strings.NewReader("scenario 1\nsettings field\ncase \"one\"\nroute r D1 P n1\nrenew r qps=1\n" +
			"send p r 1MiB\nwait w r 1MiB\nno such statement\n"))
		require.NoError(t, err)
		_, err = Run(r, Options{})
		require.ErrorContains(t, err, "no")
	})
}
