package demo

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A newcomer sees every state within one round of the story, and no bytes are lost. The
// short form ends in the middle of the first chapter.
func TestStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		seen := map[cc.State]int{}
		d, err := Start(func(tr cc.Transition) {
			mu.Lock()
			defer mu.Unlock()
			seen[tr.To]++
		})
		require.NoError(t, err)
		assert.Empty(t, d.Fault())

		time.Sleep(firstRest)
		want := []cc.State{cc.Suspect, cc.Quarantined, cc.Probing}
		if testing.Short() {
			time.Sleep(Story[0].Lasts / 2)
		} else {
			want = append(want, cc.Congested, cc.Healthy)
			for _, c := range Story {
				time.Sleep(c.Lasts / 2)
				assert.Equal(t, c.Fault, d.Fault())
				time.Sleep(c.Lasts/2 + c.Rest)
			}
		}
		mu.Lock()
		for _, s := range want {
			assert.NotZero(t, seen[s], "transitions to %s", s)
		}
		mu.Unlock()
		s := d.Controller.Snapshot()
		assert.Len(t, s.Routes, 15)
		assert.NotZero(t, d.Admissions())

		require.NoError(t, d.Close())
		require.NoError(t, d.Close())
		for _, dev := range d.Controller.Snapshot().Devices {
			assert.Zero(t, dev.InFlightBytes, "bytes in flight of %s after the end", dev.Device)
			assert.NotZero(t, dev.Flow.DeliveredBytes, "bytes delivered by %s", dev.Device)
		}
	})
}
