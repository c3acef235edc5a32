package recorder_test

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inFlight is a slice on its way from a poster to a poller.
type inFlight struct {
	*slice
	free chan *slice
}

// Posters, pollers, dumps and a stream at once: every call is recorded or counted as
// dropped, and every record streamed or counted as lost.
func TestRecorderUnderStress(t *testing.T) {
	for name, options := range map[string][]recorder.Option{
		"large":  nil,
		"small":  {recorder.Slots(64)},
		"serial": {recorder.Serial()},
	} {
		t.Run(name, func(t *testing.T) { stress(t, options) })
	}
}

func stress(t *testing.T, options []recorder.Option) {
	const posters, slices, each = 2, 32, 10_000
	var out bytes.Buffer
	rec := recorder.New(append(options, recorder.Stream(&out, recorder.Binary))...)
	r := newRig(t, rec, func(c *cc.Config) { c.StartWindowBytes, c.DeviceWindowBytes = 16<<20, 64<<20 })
	var calls atomic.Uint64
	posted := make(chan inFlight, posters*slices)
	var posting, polling, dumping sync.WaitGroup
	var routes [posters]*cc.Route
	var gens [posters]cc.Generation
	for p := range routes {
		routes[p] = r.route(string(rune('a' + p)))
		gens[p] = r.renew(routes[p], 0, uint64(p+1))
	}
	before := rec.Counters()
	for p := range uint64(posters) {
		route, gen := routes[p], gens[p]
		free := make(chan *slice, slices)
		for range slices {
			free <- &slice{}
		}
		posting.Go(func() {
			for range each {
				s := <-free
				d := route.TryAcquire(&s.permit, gen, 4*kib, &s.task)
				if !assert.True(t, d.Admitted(), "%s", d) || !assert.NoError(t, s.permit.Posting(p+1, r.time())) {
					return
				}
				s.use = d.Use
				calls.Add(2)
				posted <- inFlight{s, free}
			}
		})
	}
	for range 2 {
		polling.Go(func() {
			for f := range posted {
				if !assert.Equal(t, cc.Ended|cc.Released, r.settle(f.slice, success)) {
					return
				}
				calls.Add(1)
				f.free <- f.slice
			}
		})
	}
	var stop atomic.Bool
	dumping.Go(func() {
		for !stop.Load() {
			assert.NoError(t, rec.Dump(io.Discard, recorder.Binary))
		}
	})
	posting.Wait()
	close(posted)
	polling.Wait()
	stop.Store(true)
	dumping.Wait()
	require.NoError(t, rec.Close())

	c := rec.Counters()
	assert.Equal(t, calls.Load(), c.Records+c.Dropped-before.Records-before.Dropped, "calls, each of one record")
	assert.Equal(t, c.Records+c.Dropped, c.Streamed+c.Lost)
	assert.LessOrEqual(t, c.Dropped, c.Lost, "what was dropped cannot be streamed")
	var streamed, lost uint64
	for _, s := range read(t, &out) {
		switch n, _ := s.Num("count"); s.Kind {
		case scenario.Acquire, scenario.Post, scenario.Complete:
			streamed++
		case scenario.Lost:
			lost += uint64(n)
		}
	}
	assert.Equal(t, c.Lost, lost)
	assert.GreaterOrEqual(t, streamed+lost, calls.Load(), "each call is in the stream, or is counted there as missing")
	assert.LessOrEqual(t, streamed+lost, calls.Load()+before.Records, "and so may be what came before the calls")
	t.Logf("%d calls, %d dropped, %d lost, %d bytes streamed", calls.Load(), c.Dropped, c.Lost, c.StreamedBytes)
}
