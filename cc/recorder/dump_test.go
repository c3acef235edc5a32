package recorder_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A ring that has gone round begins with the routes as they were, and says what is missing.
func TestDumpThatBeginsInTheMiddle(t *testing.T) {
	r := newRig(t, recorder.New(recorder.Slots(64)), nil)
	poller, err := r.ctl.NewPoller("D1", 1)
	require.NoError(t, err)
	a, b, gone := r.route("a"), r.route("b"), r.route("gone")
	gen := r.renew(a, 0, 1, 2)
	r.renew(b, 0, 3)
	gone.Close()
	var s slice
	for range 30 {
		r.post(&s, a, gen, 4*kib, 1)
		r.settle(&s, success)
	}
	r.post(&s, a, gen, 4*kib, 1)
	r.settle(&s, retryExc)
	r.renew(b, 1, 4)
	r.advance(time.Second)
	poller.Beat(r.time())
	lines := r.dump()
	assert.Equal(t, []string{
		"poller poller1 D1 cq=1",
		"route r1 D1 P a port=1",
		"found r1 HEALTHY gen=1 qps=1,2 cq=1,1",
		"route r2 D1 P b port=1",
		"found r2 HEALTHY gen=1 qps=3 cq=1",
	}, lines[:5])
	assert.Regexp(t, `^lost \d+$`, lines[5])
	assert.Equal(t, []string{
		"@3600s told r1 HEALTHY SUSPECT ROUTE_TIMEOUT source=completion raw=12 vendor=0x81 gen=1",
		"@3600s complete p1 RETRY_EXC_ERR vendor=0x81 use=# -> ended+released",
		"renew r2 qps=4 cq=1 old=1 -> 2",
		"@3601s beat poller1",
	}, lines[len(lines)-4:])

	for range 70 {
		a.TryAcquire(&s.permit, gen, 4*kib, nil)
	}
	assert.Contains(t, r.dump(), "found r1 SUSPECT gen=1 qps=1,2 cq=1,1")
	assert.Contains(t, r.dump(), "found r2 HEALTHY gen=2 qps=4 cq=1", "what is in the ring no longer is known all the same")
}

// Where no record has a time the dump begins when the controller did.
func TestDumpWithoutTimes(t *testing.T) {
	r := newRig(t, recorder.New(recorder.Slots(64)), nil)
	route := r.route("n1")
	gen := r.renew(route, 0, 1)
	var p cc.Permit
	for range 64 {
		require.True(t, route.TryAcquire(&p, gen, 4*kib, nil).Admitted())
		p.Unposted()
	}
	var b strings.Builder
	require.NoError(t, r.rec.Dump(&b, recorder.Text))
	assert.Contains(t, b.String(), "\n@3600s recording complete=no serial=no\n")
	assert.NotContains(t, b.String(), "clock")
}

// A dump begins with the endpoint that was current there, of the latest eight.
func TestDumpWithRenewalsInside(t *testing.T) {
	r := newRig(t, recorder.New(recorder.Slots(64)), nil)
	route := r.route("a")
	gen := r.renew(route, 0, 1)
	for qp := uint64(2); qp <= 20; qp++ { // a call of two records and the numbers
		gen = r.renew(route, gen, qp)
	}
	var s slice
	fill := func(n int) {
		for range n {
			route.TryAcquire(&s.permit, gen, 4*kib, nil)
			s.permit.Unposted()
		}
	}
	found := func() string { return r.dump()[1] }
	r.post(&s, route, gen, 4*kib, 20)
	r.settle(&s, success)
	fill(31)
	assert.Equal(t, "found r1 HEALTHY gen=20 qps=20 cq=1", found())
	for qp := uint64(21); qp <= 27; qp++ {
		gen = r.renew(route, gen, qp)
	}
	fill(6)
	assert.Equal(t, "found r1 HEALTHY gen=20 qps=20 cq=1", found(), "seven renewals ago")
	gen = r.renew(route, gen, 28)
	assert.Equal(t, "found r1 HEALTHY gen=20", found(), "that is not known any more")

	r.post(&s, route, gen, 4*kib, 28)
	r.settle(&s, success)
	var dump bytes.Buffer
	require.NoError(t, r.rec.Dump(&dump, recorder.Binary))
	in, err := scenario.NewReader(&dump)
	require.NoError(t, err)
	result, err := replay.Run(in, replay.Options{})
	require.NoError(t, err)
	assert.Zero(t, result.Mismatched)
	assert.LessOrEqual(t, result.Different, int64(1), "the call that the dump begins with may be of a permit from before: %v", result.Differences)
	assert.Equal(t, int64(1), result.MadeUp)
}

func TestBinaryDumpSaysTheSame(t *testing.T) {
	r := newRig(t, recorder.New(), nil)
	route := r.route("n1")
	gen := r.renew(route, 0, 1)
	var s slice
	for range 1000 {
		r.post(&s, route, gen, 4*kib, 1)
		r.settle(&s, success)
	}
	var text, binary bytes.Buffer
	require.NoError(t, r.rec.Dump(&text, recorder.Text))
	require.NoError(t, r.rec.Dump(&binary, recorder.Binary))
	t.Logf("3000 calls: %d bytes of text, %d binary", text.Len(), binary.Len())
	assert.Equal(t, text.String(), scenario.Print(read(t, &binary)))
}

// read returns all statements of a recording.
func read(t testing.TB, in io.Reader) (list []scenario.Statement) {
	t.Helper()
	reader, err := scenario.NewReader(in)
	require.NoError(t, err)
	for {
		var s scenario.Statement
		if err := reader.Next(&s); err == io.EOF {
			return list
		} else {
			require.NoError(t, err)
		}
		list = append(list, s)
	}
}

// failing is a writer that has room for so many bytes.
type failing struct{ room int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestErrorsOfWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := recorder.New(recorder.Stream(&failing{100}, recorder.Text))
		require.ErrorIs(t, rec.Dump(io.Discard, recorder.Text), recorder.ErrNotAttached)
		r := newRig(t, rec, nil)
		r.route("n1")
		assert.ErrorIs(t, rec.Dump(&failing{100}, recorder.Text), errFull)
		time.Sleep(time.Hour)
		r.route("n2")
		assert.ErrorIs(t, rec.Close(), errFull)
		assert.ErrorIs(t, rec.Close(), errFull, "the second time too")
		r.route("n3")
		assert.NotEmpty(t, r.dump(), "the ring goes on")
	})
}

func TestOneControllerEach(t *testing.T) {
	rec := recorder.New()
	newRig(t, rec, nil)
	cfg := cc.DefaultConfig()
	_, err := cc.New(cfg, cc.WithRecorder(rec))
	require.NoError(t, err, "in mode off nothing is recorded")
	cfg.Mode = cc.Observe
	_, err = cc.New(cfg, cc.WithRecorder(rec))
	require.ErrorIs(t, err, recorder.ErrAttached)
	_, err = cc.New(cfg, cc.WithRecorder(nil))
	require.NoError(t, err)
}

func TestStreamHasAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		rec := recorder.New(recorder.Slots(64), recorder.Stream(&out, recorder.Binary))
		r := newRig(t, rec, nil)
		route := r.route("n1")
		gen := r.renew(route, 0, 1)
		var s slice
		for range 500 {
			r.post(&s, route, gen, 4*kib, 1)
			r.settle(&s, success)
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, rec.Close())
		c := rec.Counters()
		assert.Zero(t, c.Lost)
		assert.Equal(t, c.Records, c.Streamed)
		assert.Equal(t, uint64(out.Len()), c.StreamedBytes)
		count := map[*scenario.Kind]int{}
		for _, s := range read(t, &out) {
			count[s.Kind]++
		}
		assert.Equal(t, [3]int{500, 500, 500}, [3]int{count[scenario.Acquire], count[scenario.Post], count[scenario.Complete]})
		assert.Zero(t, count[scenario.Lost])

		for range 100 { // after Close
			r.post(&s, route, gen, 4*kib, 1)
			r.settle(&s, success)
		}
		assert.Equal(t, c.Streamed, rec.Counters().Streamed)
	})
}

// A stream that is overrun says where, and how many records that were.
func TestStreamThatIsOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		rec := recorder.New(recorder.Slots(64), recorder.Stream(&out, recorder.Text))
		r := newRig(t, rec, nil)
		route := r.route("n1")
		gen := r.renew(route, 0, 1)
		time.Sleep(time.Second)
		var s slice
		for range 1000 { // in no time
			r.post(&s, route, gen, 4*kib, 1)
			r.settle(&s, success)
		}
		require.NoError(t, rec.Close())
		c := rec.Counters()
		assert.GreaterOrEqual(t, c.Lost, uint64(1000))
		assert.Equal(t, c.Records+c.Dropped, c.Streamed+c.Lost)
		var lost uint64
		for _, s := range read(t, &out) {
			if n, _ := s.Num("count"); s.Kind == scenario.Lost {
				lost += uint64(n)
			}
			assert.NotContains(t, s.Text("permit"), "p2", "the gap makes no other permit of it")
		}
		assert.Equal(t, c.Lost, lost)
	})
}

// files are what dumps on transitions open.
type files struct {
	mu   sync.Mutex
	list []*file
	err  error
}

type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error { f.closed = true; return nil }

func (f *files) open() (io.WriteCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	f.list = append(f.list, &file{})
	return f.list[len(f.list)-1], nil
}

func TestDumpOnTransition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f files
		match := func(t recorder.Told) bool { return cc.State(t.To) == cc.Quarantined }
		rec := recorder.New(recorder.DumpOn(match, f.open, recorder.Text, time.Minute))
		r := newRig(t, rec, nil)
		route := r.route("n1")
		down := func(e classify.EventType) {
			_, _, err := r.ctl.Event(classify.Event{Type: e, Element: classify.Element{Device: "D1", Port: 1}}, r.time())
			require.NoError(t, err)
		}
		var s slice
		r.post(&s, route, r.renew(route, 0, 1), 4*kib, 1)
		r.settle(&s, retryExc)
		synctest.Wait()
		assert.Empty(t, f.list, "SUSPECT does not match")

		down(classify.EventPortErr)
		synctest.Wait()
		require.Len(t, f.list, 1)
		assert.True(t, f.list[0].closed)
		lines := body(f.list[0].String())
		assert.Equal(t, `mark "dumped on a transition of r1 at 3600s"`, lines[len(lines)-1])
		assert.Contains(t, strings.Join(lines, "\n"), "told r1 SUSPECT QUARANTINED")

		r.route("n2") // quarantined too
		synctest.Wait()
		assert.Len(t, f.list, 1, "one in a minute")
		assert.Equal(t, uint64(1), rec.Counters().DumpsSpared)
		time.Sleep(time.Minute)
		f.err = errFull
		r.route("n3")
		synctest.Wait()
		f.err = nil
		time.Sleep(time.Minute)
		r.route("n4")
		require.ErrorIs(t, rec.Close(), errFull)
		assert.Len(t, f.list, 2, "what was told before Close is looked at")
		c := rec.Counters()
		assert.Equal(t, [3]uint64{2, 1, 1}, [3]uint64{c.Dumps, c.DumpsFailed, c.DumpsSpared})
	})
}

// With a serial recorder too the function that is told may call the controller.
func TestSerialHookMayCall(t *testing.T) {
	var r *rig
	var told []cc.State
	var extra slice
	hook := func(tr cc.Transition) {
		told = append(told, tr.To)
		route, err := r.ctl.Route(rail.Pair{Peer: "P", Local: "D2", Port: 1, Remote: "n2"})
		require.NoError(t, err)
		if tr.To == cc.Suspect {
			r.post(&extra, route, r.renew(route, 0, 9), 4*kib, 9)
		}
	}
	r = newRig(t, recorder.New(recorder.Serial()), nil, cc.WithTransitions(hook))
	route := r.route("n1")
	var s slice
	r.post(&s, route, r.renew(route, 0, 1), 4*kib, 1)
	begin := len(r.dump())
	r.settle(&s, retryExc)
	assert.Equal(t, []cc.State{cc.Suspect}, told)
	assert.Equal(t, []string{
		"jitter 1.125",
		"@3600s told r1 HEALTHY SUSPECT ROUTE_TIMEOUT source=completion raw=12 vendor=0x81 gen=1",
		"@3600s complete p1 RETRY_EXC_ERR vendor=0x81 use=# -> ended+released",
		"@3600s clock",
		"route r2 D2 P n2 port=1",
		"renew r2 qps=9 cq=1 old=0 -> 1",
		"@3600s clock",
		"acquire p2 r2 4KiB gen=1 task=t2 -> admit use=#",
		"@3600s post p2 qp=9",
	}, r.since(begin))
}

// Without, it is told in the middle of the call.
func TestHookIsToldAtOnce(t *testing.T) {
	var told []cc.State
	r := newRig(t, recorder.New(), nil, cc.WithTransitions(func(tr cc.Transition) { told = append(told, tr.To) }))
	route := r.route("n1")
	var s slice
	r.post(&s, route, r.renew(route, 0, 1), 4*kib, 1)
	r.settle(&s, retryExc)
	assert.Equal(t, []cc.State{cc.Suspect}, told)
}

// What another controller learnt shows, also to who would take the fast path.
func TestWhatTheTableBrings(t *testing.T) {
	table := rail.NewTable()
	r := newRig(t, recorder.New(), nil, cc.WithPauses(table))
	other := newRig(t, recorder.New(), func(c *cc.Config) { c.HardErrorThreshold = 1 }, cc.WithPauses(table))
	route, theirs := r.route("n1"), other.route("n1")
	gen := r.renew(route, 0, 1)
	var s slice
	r.post(&s, route, gen, 4*kib, 1)
	r.settle(&s, success)
	other.post(&s, theirs, other.renew(theirs, 0, 2), 4*kib, 2)
	other.settle(&s, retryExc)
	begin := len(r.dump())
	d := route.TryAcquire(&s.permit, gen, 4*kib, nil)
	assert.Equal(t, cc.Avoid, d.Answer)
	lines := r.since(begin)
	assert.Equal(t, `mark "r1 takes in the pause table: paused until 3633.75s, evidence 1"`, lines[0])
	const told = "@3600s told r1 HEALTHY QUARANTINED PATH_QUARANTINED source=completion raw=12 vendor=0x81 gen=1 last_route=yes shared=yes"
	assert.Contains(t, lines, told)

	watcher := newRig(t, recorder.New(recorder.Serial()), nil, cc.WithPauses(table))
	seen := watcher.route("n1")
	assert.Equal(t, cc.Quarantined, seen.State(), "who only looks takes it in too")
	seen.State()
	lines = watcher.dump()
	assert.Equal(t, "snapshot", lines[len(lines)-1])
	assert.Contains(t, lines, strings.Replace(told, "gen=1", "gen=0", 1))

	seen.Close()
	lines = watcher.dump()
	other.advance(time.Minute)
	other.post(&s, theirs, other.renew(theirs, 1, 3), 4*kib, 3)
	other.settle(&s, success)
	seen.State()
	assert.Equal(t, lines, watcher.dump(), "a closed route takes in nothing")
}
