package transfer

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
)

// Peers that come and go leave nothing behind.
func TestReconnectsLeaveNothing(t *testing.T) {
	reconnects := 1000
	if testing.Short() {
		reconnects = 100
	}
	one := func(c *Config) { c.Workers, c.QPsPerWorker = 1, 1 }
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t, options{engine: one})
		const length = 4 << 10
		sent := r.buffer(length)
		var goroutines int
		for i := range reconnects {
			p := r.connect()
			_, err := p.Put(t.Context(), "object", sent)
			require.NoError(t, err)
			require.NoError(t, p.Delete(t.Context(), "object"))
			p.Close()
			assert.Zero(t, p.InFlight())
			if i > 0 && i < reconnects-1 {
				continue
			}
			time.Sleep(time.Second) // workers forget the peer when they next look
			synctest.Wait()
			assert.Empty(t, r.ctl.Snapshot().Routes, "after %d connections", i+1)
			assert.Zero(t, r.table.Stats().Peers, "peers of the pause table after %d connections", i+1)
			for _, l := range r.engine.lanes {
				assert.Empty(t, l.endpoints, "after %d connections", i+1)
			}
			assert.Empty(t, r.engine.workers[0].queues, "after %d connections", i+1)
			if i == 0 {
				goroutines = runtime.NumGoroutine()
			}
		}
		// Those of other tests may come and go; a leak leaves one of each connection.
		assert.Less(t, runtime.NumGoroutine(), goroutines+reconnects/2, "goroutines after %d connections", reconnects)
	})
}

// A server that was started again has nothing to do with what the old one suffered.
func TestRebornServerStartsClean(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		for range 10 {
			require.NoError(t, r.server.Close())
			<-r.peer.gone
			old := r.peer.info.Incarnation
			sc := DefaultServerConfig()
			sc.Name = "b"
			var err error
			r.server, err = NewServer(r.b, sc)
			require.NoError(t, err)
			r.peer = r.connect()
			require.NotEqual(t, old, r.peer.info.Incarnation)
			require.Len(t, r.ctl.Snapshot().Routes, len(r.peer.rails), "the old incarnation is forgotten")
			for i := range r.peer.rails {
				require.Equal(t, cc.Healthy, r.state(i), "rail %d", i)
			}
			undo, err := r.net.Block(r.a.NICs()[0], r.b.NICs()[0])
			require.NoError(t, err)
			_, err = r.peer.Put(r.limit(), "object", r.buffer(1<<20))
			require.NoError(t, err)
			r.until(func() bool { return r.state(0) >= cc.Suspect }, "the pair must have failed")
			require.NoError(t, undo())
		}
	})
}
