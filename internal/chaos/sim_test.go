package chaos

import (
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSeeds(t *testing.T) {
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	for seed := from; seed < from+5; seed++ {
		plan := Generate(uint64(seed), SimPace())
		began := time.Now()
		var r Result
		synctest.Test(t, func(t *testing.T) {
			var err error
			r, err = Simulate(t.Context(), plan, nil)
			require.NoError(t, err)
		})
		t.Logf("seed %d, %d faults: %v real, %v fake; %d puts %d gets %d bytes, failed %v, lies %d, %d requests, %v, probes %d/%d; slowest %v of %v, strange %d\n%v", seed, len(plan.Faults), time.Since(began), r.Took, r.Done.Puts, r.Done.Gets, r.Done.Bytes, r.Done.Failed, r.Done.Lies, r.Requests, r.Status, r.Good, r.Probes, r.Slowest, r.Bound, r.Suspicions, r.Seen)
		for _, b := range r.Broken {
			t.Errorf("%v", b)
		}
		t.Logf("%+v\n%+v", r.First, r.Last)
		if r.Failed() {
			t.Logf("%v", plan)
		}
	}
}
