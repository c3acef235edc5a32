package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A recording that begins in the middle goes on with the endpoints that it found.
func TestRecordingFromTheMiddle(t *testing.T) {
	result := runText(t, `scenario 1
@5s recording
route r1 D1 P n1
found r1 HEALTHY gen=7 window=1MiB qps=70,71 cq=1
route r2 D2 P n1
found r2 SUSPECT
@6s post p9 qp=70
acquire p1 r1 4KiB gen=7 -> admit use=900
@6s post p1 qp=71
@7s complete p1 SUCCESS use=900 -> ended+released
@7s complete p1 SUCCESS use=4 -> none
acquire p1 r2 4KiB gen=0 -> defer NEEDS_RENEW
renew r1 qps=80 old=7 -> 8
acquire p1 r1 4KiB gen=7 -> defer STALE_GENERATION
acquire p1 r1 4KiB gen=8 -> admit use=901
unposted p1 -> yes
renew r1 qps=81 old=7 -> error=stale_generation
`, Options{})
	assert.Empty(t, result.Mismatches)
	require.Len(t, result.Differences, 1, "the permit that was acquired before: %v", result.Differences)
	assert.Equal(t, 7, result.Differences[0].Line)
}

// Where the QPs of an endpoint are not known, any is taken there, each for itself.
func TestRecordingThatDoesNotKnowTheQPs(t *testing.T) {
	result := runText(t, `scenario 1
@5s recording
set mode=enforce
route r1 D1 P n1
found r1 HEALTHY gen=7
acquire p1,p2,p3,p4 r1 4KiB gen=7 -> admit
@6s post p1 qp=70
@6s post p2 qp=71
@6s post p3 qp=72
@6s post p4 qp=70
told r1 HEALTHY SUSPECT ROUTE_TIMEOUT
@7s complete p1 RETRY_EXC_ERR -> ended+released
@7s complete p4 RETRY_EXC_ERR -> ended+released
@7s complete p2 RETRY_EXC_ERR -> ended+released
expect route r1 SUSPECT failures=2
told r1 SUSPECT QUARANTINED FATAL
@7s event QP_FATAL D1 qp=72 -> reached=1
expect route r1 QUARANTINED failures=3
renew r1 qps=80 old=7 -> 8
post p3 qp=90 -> error=not_held
`, Options{})
	assert.Empty(t, result.Mismatches)
	assert.Empty(t, result.Differences)
	assert.Equal(t, int64(1), result.MadeUp)
}

// What somebody wrote into a recording has no excuse in what the recording lacks.
func TestExpectationsInARecordingAreNotExcused(t *testing.T) {
	for _, head := range []string{"recording complete=yes", "recording serial=yes", "recording complete=yes serial=yes\nlost 3"} {
		for _, wrong := range []string{
			"expect route r SUSPECT", "never route r HEALTHY", "expect route r SUSPECT within=1s", "expect route x SUSPECT", "never route x SUSPECT",
			"expect path r", "never notice r persistent_fault",
		} {
			text := "scenario 1\n" + head + "\nroute r D1 P n1\nrenew r qps=1\nacquire p r -> defer\n" + wrong + "\n"
			result := runText(t, text, Options{})
			require.Len(t, result.Mismatches, 1, "%s: %s", head, wrong)
			assert.Contains(t, result.Mismatches[0].Statement, wrong)
			assert.Len(t, result.Differences, 1, "an answer has")
		}
	}
}
