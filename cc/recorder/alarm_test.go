package recorder_test

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blockedFile is a file whose first write waits until it is let go.
type blockedFile struct {
	once        sync.Once
	writes, let chan struct{}
}

func (f *blockedFile) Write(p []byte) (int, error) {
	f.once.Do(func() { close(f.writes) })
	<-f.let
	return len(p), nil
}

func (*blockedFile) Close() error { return nil }

func quarantines(t recorder.Told) bool { return cc.State(t.To) == cc.Quarantined }

// Whatever matches while a dump is being written is dumped later, or counted as spared.
func TestMatchesWhileADumpIsWritten(t *testing.T) {
	const routes = 200
	file := &blockedFile{writes: make(chan struct{}), let: make(chan struct{})}
	rec := recorder.New(recorder.DumpOn(quarantines, func() (io.WriteCloser, error) { return file, nil }, recorder.Text, 0))
	r := newRig(t, rec, func(c *cc.Config) { c.HardErrorThreshold = 2 })
	fail := func(i uint64) {
		route := r.route(fmt.Sprint("n", i))
		gen := r.renew(route, 0, 2*i+1, 2*i+2)
		var s [2]slice
		r.post(&s[0], route, gen, 4*kib, 2*i+1)
		r.post(&s[1], route, gen, 4*kib, 2*i+2)
		r.settle(&s[0], retryExc)
		r.settle(&s[1], retryExc)
		require.Equal(t, cc.Quarantined, route.State())
	}
	fail(0)
	<-file.writes
	for i := uint64(1); i < routes; i++ {
		fail(i)
	}
	close(file.let)
	require.NoError(t, rec.Close())
	c := rec.Counters()
	assert.Equal(t, uint64(routes), c.Dumps+c.DumpsSpared+c.DumpsFailed, "%+v", c)
	assert.NotZero(t, c.DumpsSpared)
	assert.Greater(t, c.Dumps, uint64(1))
}

// What an option lacks is told when the controller is made, and crashes nothing.
func TestOptionsThatLackSomething(t *testing.T) {
	open := func() (io.WriteCloser, error) { return nil, nil }
	for want, option := range map[string]recorder.Option{
		"recorder: Stream needs a writer":                                   recorder.Stream(nil, recorder.Text),
		"recorder: DumpOn needs a function that matches and one that opens": recorder.DumpOn(nil, open, recorder.Text, 0),
		"recorder: DumpOn needs a function that matches and one that open":  recorder.DumpOn(quarantines, nil, recorder.Text, 0),
	} {
		rec := recorder.New(option)
		cfg := cc.DefaultConfig()
		cfg.Mode = cc.Enforce
		_, err := cc.New(cfg, cc.WithRecorder(rec))
		require.ErrorContains(t, err, want)
		require.NoError(t, rec.Close())
	}

	rec := recorder.New(recorder.DumpOn(quarantines, open, recorder.Text, time.Minute))
	r := newRig(t, rec, func(c *cc.Config) { c.HardErrorThreshold = 1 })
	route := r.route("n1")
	var s slice
	r.post(&s, route, r.renew(route, 0, 1), 4*kib, 1)
	r.settle(&s, retryExc)
	assert.ErrorContains(t, rec.Close(), "recorder: dump on a transition: nothing was opened, without an error")
	assert.Equal(t, uint64(1), rec.Counters().DumpsFailed)
}
