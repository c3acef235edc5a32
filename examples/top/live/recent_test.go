package live

import (
	"sync"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/stretchr/testify/assert"
)

func TestRecent(t *testing.T) {
	var r Recent
	list, told := r.Latest(10)
	assert.Empty(t, list)
	assert.NotNil(t, list, "[] in JSON, not null")
	assert.Zero(t, told)
	for i := range 3 * keep {
		r.Add(cc.Transition{At: time.Duration(i)})
		list, told := r.Latest(2)
		assert.Equal(t, uint64(i+1), told)
		assert.Equal(t, time.Duration(i), list[0].At, "the latest first")
		assert.Len(t, list, min(2, i+1))
	}
	list, _ = r.Latest(1 << 30)
	assert.Len(t, list, keep, "no more than it keeps")
	assert.Equal(t, time.Duration(2*keep), list[keep-1].At, "the oldest that is kept")
	list, _ = r.Latest(-1)
	assert.Empty(t, list)
}

func TestRecentRace(t *testing.T) {
	var r Recent
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 1000 {
				r.Add(cc.Transition{At: time.Duration(i)})
				r.Latest(5)
			}
		})
	}
	wg.Wait()
	_, told := r.Latest(0)
	assert.Equal(t, uint64(4000), told)
}
