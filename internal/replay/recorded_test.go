package replay

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// engine makes calls by chance and records them, as the recorder of a real one does.
type engine struct {
	t      testing.TB
	w      *scenario.Writer
	s      scenario.Statement
	inner  scenario.Statement
	rnd    *rand.Rand
	now    time.Duration
	ctl    *cc.Controller
	routes []*cc.Route
	gens   []cc.Generation
	qps    []uint64
	lastQP uint64
	slots  [256]struct {
		cc.Permit
		task   taskstate.Task
		use    cc.Use
		route  int
		posted bool
	}
	lists [8]struct {
		cc.List
		task   taskstate.Task
		use    cc.Use
		route  int
		posted bool
	}
	poller  *cc.Poller
	written int
	over    bool
}

func (e *engine) write(s *scenario.Statement) {
	e.written++
	require.NoError(e.t, e.w.Write(s))
}

func (e *engine) yes(b bool) int64 { return number(b) }

// begin makes a controller and its routes.
func (e *engine) begin(set string) {
	cfg := presets["field"]()
	e.write(e.s.Begin(scenario.Recording).Stamp(e.now).Add("complete", 1).Add("serial", 1))
	settings, err := scenario.Parse("scenario 1\nsettings field\nset " + set + "\n")
	require.NoError(e.t, err)
	configure(&cfg, settings[1].Args)
	for i := range settings {
		e.write(&settings[i])
	}
	e.ctl, err = cc.New(cfg, cc.WithClock(func() time.Duration {
		if !e.over {
			e.now += time.Duration(e.rnd.IntN(3)) * time.Microsecond
			e.write(e.inner.Begin(scenario.Clock).Stamp(e.now))
		}
		return e.now
	}), cc.WithJitter(func() float64 {
		f := 0.8 + 0.4*e.rnd.Float64()
		e.write(e.inner.Begin(scenario.Jitter).AddFactor("factor", f))
		return f
	}), cc.WithTransitions(func(t cc.Transition) {
		for i, r := range e.routes {
			if r.Pair() == t.Pair {
				e.inner.Begin(scenario.Told).Stamp(t.At).Add("route", int64(i)).Add("from", int64(t.From)).Add("to", int64(t.To)).Add("reason", int64(t.Reason))
				e.inner.Add("notice", int64(t.Notice)).Add("source", int64(t.Verdict.Source())).Add("raw", int64(t.Verdict.Raw())).Add("vendor", int64(t.Verdict.VendorErr()))
				e.write(e.inner.Add("gen", int64(t.Generation)).Add("last_route", e.yes(t.LastRoute)).Add("shared", e.yes(t.Shared)))
			}
		}
	}))
	require.NoError(e.t, err)
	e.poller, err = e.ctl.NewPoller("D1", 1)
	require.NoError(e.t, err)
	e.write(e.s.Begin(scenario.Poller).AddText("poller", "k").AddText("device", "D1").Add("cq", 1))
	for i := range 4 {
		pair := rail.Pair{Peer: "P", Local: []string{"D1", "D2"}[i%2], Port: 1, Remote: string(rune('a' + i))}
		r, err := e.ctl.Route(pair)
		require.NoError(e.t, err)
		e.write(e.s.Begin(scenario.Route).Add("route", int64(i)).AddText("device", pair.Local).AddText("peer", "P").AddText("remote", pair.Remote))
		e.routes, e.gens, e.qps = append(e.routes, r), append(e.gens, 0), append(e.qps, 0)
		e.renew(i)
	}
}

func (e *engine) renew(i int) {
	e.lastQP++
	gen, err := e.routes[i].Renew(e.gens[i], []cc.QP{{ID: e.lastQP, CQ: 1}})
	require.NoError(e.t, err)
	e.s.Begin(scenario.Renew).Add("route", int64(i)).Add("qps", int64(e.lastQP)).Add("cq", 1).Add("old", int64(e.gens[i]))
	e.write(e.s.Reply("gen", int64(gen)))
	e.gens[i], e.qps[i] = gen, e.lastQP
}

// step makes one call.
func (e *engine) step() {
	e.now += time.Duration(e.rnd.IntN(20)) * time.Microsecond
	i := e.rnd.IntN(len(e.slots))
	p := &e.slots[i]
	switch n := e.rnd.IntN(1000); {
	case n == 0:
		e.now += time.Duration(e.rnd.IntN(20)) * time.Second
	case n == 1:
		e.renew(e.rnd.IntN(len(e.routes)))
	case n == 2:
		ev := classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}
		_, reached, err := e.ctl.Event(ev, e.now)
		require.NoError(e.t, err)
		e.s.Begin(scenario.Event).Stamp(e.now).Add("type", int64(ev.Type)).AddText("device", "D1").Add("port", 1)
		e.write(e.s.Reply("reached", int64(reached)))
	case n == 3:
		due := e.ctl.Due(e.now)
		e.s.Begin(scenario.Due).Stamp(e.now).Answered = true
		for _, r := range due {
			e.s.Reply("route", int64(slices.Index(e.routes, r)))
		}
		e.write(&e.s)
	case n < 50:
		e.ctl.Tick(e.now)
		e.write(e.s.Begin(scenario.Tick).Stamp(e.now))
	case n < 60:
		e.poller.Beat(e.now)
		e.write(e.s.Begin(scenario.Beat).Stamp(e.now).AddText("poller", "k"))
	case n < 150:
		e.listStep(e.rnd.IntN(len(e.lists)))
	case n < 180 && p.Held() == 0:
		r := e.rnd.IntN(len(e.routes))
		d := e.routes[r].TryProbe(&p.Permit, e.gens[r], 64)
		e.s.Begin(scenario.Probe).Add("permit", int64(i)).Add("route", int64(r)).Add("bytes", 64).Add("gen", int64(e.gens[r]))
		e.decided(d)
		p.use, p.route, p.posted = d.Use, r, false
	case p.Held() == 0:
		r := e.rnd.IntN(len(e.routes))
		n := 1 + e.rnd.Int64N(64<<10)
		d := e.routes[r].TryAcquire(&p.Permit, e.gens[r], n, &p.task)
		e.s.Begin(scenario.Acquire).Add("permit", int64(i)).Add("route", int64(r)).Add("bytes", n).Add("gen", int64(e.gens[r])).Add("task", int64(i))
		e.decided(d)
		p.use, p.route, p.posted = d.Use, r, false
	case !p.posted && n < 250:
		e.s.Begin(scenario.Unposted).Add("permit", int64(i))
		e.write(e.s.Reply("gave_back", e.yes(p.Unposted())))
	case !p.posted && n < 300:
		r := e.rnd.IntN(len(e.routes))
		d := e.routes[r].Handoff(&p.Permit, e.gens[r], &p.task)
		e.s.Begin(scenario.Handoff).Add("permit", int64(i)).Add("route", int64(r)).Add("gen", int64(e.gens[r])).Add("task", int64(i))
		e.decided(d)
		p.use, p.route = d.Use, r
	case !p.posted:
		qp := e.qps[p.route]
		err := p.Posting(qp, e.now)
		e.s.Begin(scenario.Post).Stamp(e.now).Add("permit", int64(i)).Add("qp", int64(qp))
		e.write(e.s.Reply("error", cause(err)))
		p.posted = err == nil
	default:
		v, kind := classify.Completion(classify.StatusSuccess, 0), scenario.Complete
		switch e.rnd.IntN(300) {
		case 0:
			v = classify.Completion(classify.StatusRetryExcErr, 0x81)
		case 1:
			v, kind = classify.Of(classify.SignalTeardown), scenario.Teardown
		case 2:
			v, kind = classify.Of(classify.SignalCancel), scenario.Cancel
		case 3:
			v, kind = classify.Of(classify.SignalDeadlineProgressing), scenario.Deadline
		}
		edges := p.Settle(p.use, v, e.now)
		e.s.Begin(kind).Stamp(e.now).Add("permit", int64(i))
		if kind == scenario.Complete {
			e.s.Add("status", int64(v.Raw())).Add("vendor", int64(v.VendorErr()))
		}
		e.write(e.s.Add("use", int64(p.use)).Reply("edges", int64(edges)))
	}
}

// listStep makes one call of a list.
func (e *engine) listStep(i int) {
	l, name := &e.lists[i], int64(1000+i)
	switch {
	case l.Held() == 0:
		r := e.rnd.IntN(len(e.routes))
		sizes := make([]int64, 1+e.rnd.IntN(6))
		e.s.Begin(scenario.AcquireList).Add("permit", name).Add("route", int64(r))
		for k := range sizes {
			sizes[k] = 1 + e.rnd.Int64N(32<<10)
			e.s.Add("bytes", sizes[k])
		}
		d := e.routes[r].TryAcquireList(&l.List, e.gens[r], sizes, &l.task)
		e.s.Add("gen", int64(e.gens[r])).Add("task", name)
		e.decided(d)
		l.use, l.route, l.posted = d.Use, r, false
	case !l.posted:
		err := l.Posting(e.qps[l.route], e.now)
		e.s.Begin(scenario.Post).Stamp(e.now).Add("permit", name).Add("qp", int64(e.qps[l.route]))
		e.write(e.s.Reply("error", cause(err)))
		l.posted = err == nil
	case e.rnd.IntN(10) == 0:
		from := e.rnd.IntN(6)
		released := l.Unposted(from)
		e.s.Begin(scenario.Unposted).Add("permit", name).Add("from", int64(from))
		e.write(e.s.Reply("released", int64(released)))
	default:
		mask, v := e.rnd.Uint32(), classify.Completion(classify.StatusSuccess, 0)
		if e.rnd.IntN(30) == 0 {
			v = classify.Completion(classify.StatusWRFlushErr, 0xf9)
		}
		took := l.Settle(l.use, mask, v, e.now)
		e.s.Begin(scenario.Complete).Stamp(e.now).Add("permit", name).Add("status", int64(v.Raw())).Add("vendor", int64(v.VendorErr()))
		e.write(e.s.Add("use", int64(l.use)).Add("slices", int64(mask)).Reply("ended", int64(took.Ended)).Reply("released", int64(took.Released)))
	}
}

func (e *engine) decided(d cc.Decision) {
	e.s.Reply("answer", int64(d.Answer)).Reply("reason", int64(d.Reason)).Reply("domain", int64(d.Domain)).Reply("hint", int64(d.Hint))
	e.write(e.s.Reply("retry_after", int64(d.RetryAfter)).Reply("use", int64(d.Use)).Reply("error", cause(d.Err)))
}

// record writes a recording of at least so many statements and returns the states that it
// ends with.
func record(t testing.TB, to io.Writer, f scenario.Format, n int, set string) (last []cc.RouteSnapshot) {
	e := &engine{t: t, w: scenario.NewWriter(to, f), rnd: rand.New(rand.NewPCG(7, uint64(n))), now: 3 * time.Second}
	e.begin(set)
	for e.written < n {
		e.step()
	}
	e.over = true
	require.NoError(t, e.w.Close())
	for _, r := range e.routes {
		last = append(last, r.Snapshot())
	}
	return last
}

// counter counts transitions, and looks at all routes once in so many steps.
type counter struct {
	Step               // the latest
	steps, looks       int
	every, transitions int
}

func (c *counter) Trace(s *Step) {
	c.Step = *s
	c.transitions += len(s.Transitions)
	if c.steps++; c.every > 0 && c.steps%c.every == 0 {
		for range s.Routes() {
			c.looks++
		}
	}
}

// A complete recording of calls one after the other is answered as it was, under both
// laws, and all states are in the end what they were.
func TestRecordingIsAnsweredAsItWas(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 4_000
	}
	transitions := 0
	for _, set := range []string{"law=epoch", "law=round", "mode=observe", "prober=yes", "suspect_after=50ms", "keep_last_route=yes"} {
		for _, format := range []scenario.Format{scenario.Text, scenario.Binary} {
			var file bytes.Buffer
			want := record(t, &file, format, n, set)
			last := &counter{}
			r, err := scenario.NewReader(&file)
			require.NoError(t, err)
			result, err := Run(r, Options{Tracer: last})
			require.NoError(t, err)
			for _, m := range result.Mismatches[:min(len(result.Mismatches), 3)] {
				t.Error(set, m)
			}
			assert.Zero(t, result.Mismatched+result.Different, set)
			assert.GreaterOrEqual(t, result.Statements, int64(n))
			transitions += last.transitions
			i := 0
			for got := range last.Routes() {
				assert.Equal(t, want[i].WindowBytes, got.WindowBytes, "%s: window of %s", set, got.Pair)
				assert.Equal(t, want[i].InFlightBytes, got.InFlightBytes)
				assert.Equal(t, want[i].Flow, got.Flow, "%s: flow of %s", set, got.Pair)
				assert.Equal(t, want[i].Refusals, got.Refusals)
				assert.Equal(t, want[i].Health.State, got.Health.State)
				assert.Equal(t, want[i].Health.Failures, got.Health.Failures)
				assert.Equal(t, want[i].Health.Cooldown, got.Health.Cooldown)
				i++
			}
			assert.Len(t, want, i)
		}
	}
	assert.Greater(t, transitions, 20, "it has to be worth replaying")
}

// Who looks on while a recording is replayed changes nothing.
func TestLookingOnChangesNothing(t *testing.T) {
	var file bytes.Buffer
	record(t, &file, scenario.Text, 6_000, "law=epoch")
	for _, every := range []int{1, 7} {
		look := &counter{every: every}
		result := runText(t, file.String(), Options{Tracer: look})
		assert.Zero(t, result.Mismatched, "every %d steps: %v", every, result.Mismatches)
		assert.Greater(t, look.looks, 1000)
	}
}

// Another configuration, lost statements and calls at the same time excuse differences,
// and the replay goes on.
func TestDifferencesAreExcused(t *testing.T) {
	var file bytes.Buffer
	record(t, &file, scenario.Text, 20_000, "law=epoch")
	text := file.String()
	set, err := ParseSet("cooldown=28s")
	require.NoError(t, err)
	result := runText(t, text, Options{Set: set})
	assert.Zero(t, result.Mismatched)
	assert.Greater(t, result.Different, int64(10))
	assert.Equal(t, "the configuration was changed", result.Differences[0].Excuse)
	assert.Less(t, result.Different, result.Answers/2, "one difference does not make all that follows another")

	lines := bytes.Split(file.Bytes(), []byte("\n"))
	cut := bytes.Join(append(append(lines[:200:200], []byte("lost 2000")), lines[2200:]...), []byte("\n"))
	result = runText(t, string(cut), Options{})
	assert.Zero(t, result.Mismatched)
	assert.NotZero(t, result.Different)
	assert.Equal(t, int64(2000), result.Lost)
	assert.Equal(t, "statements are missing since line 201", result.Differences[0].Excuse)

	// Without the mark they are mismatches.
	cut = bytes.Join(append(append([][]byte{}, lines[:200]...), lines[2200:]...), []byte("\n"))
	result = runText(t, string(cut), Options{})
	assert.NotZero(t, result.Mismatched)
	assert.Len(t, result.Mismatches, int(min(result.Mismatched, MaxMismatches)))

	result = runText(t, string(bytes.Replace(cut, []byte("complete=yes"), nil, 1)), Options{})
	assert.Zero(t, result.Mismatched)
	assert.Equal(t, "the recording begins in the middle", result.Differences[0].Excuse)
	result = runText(t, string(bytes.Replace(cut, []byte("serial=yes"), nil, 1)), Options{})
	assert.Zero(t, result.Mismatched)
	assert.Equal(t, "calls ran at the same time when it was recorded", result.Differences[0].Excuse)
}

// A changed answer in a recording is found: each kind of it.
func TestRecordingIsCompared(t *testing.T) {
	var file bytes.Buffer
	record(t, &file, scenario.Text, 20_000, "law=epoch")
	for old, changed := range map[string]string{
		"-> admit NONE":      "-> defer NONE",
		"-> ended+released":  "-> released",
		"-> error=none":      "-> error=closed",
		" QUARANTINED ":      " PROBING ",
		"-> defer BYTE_WIND": "-> avoid BYTE_WIND",
		"hint=divert":        "hint=renew",
		" hint=divert":       "", // what an answer leaves out was empty
		" -> yes\n":          " -> no\n",
	} {
		text := bytes.Replace(file.Bytes(), []byte(old), []byte(changed), 1)
		require.False(t, bytes.Equal(file.Bytes(), text), "there is no %q", old)
		result := runText(t, string(text), Options{})
		assert.NotZero(t, result.Mismatched, "%s to %s", old, changed)
	}
}

// A file that was cut off is run up to there.
func TestDamagedRecordingIsRunAsFarAsItGoes(t *testing.T) {
	var file bytes.Buffer
	record(t, &file, scenario.Binary, 100_000, "law=epoch")
	r, err := scenario.NewReader(io.LimitReader(&file, int64(file.Len()/2)))
	require.NoError(t, err)
	result, err := Run(r, Options{})
	var damage *scenario.Damage
	require.ErrorAs(t, err, &damage)
	assert.Equal(t, damage.Statements, result.Statements)
	assert.Greater(t, result.Statements, int64(10_000))
	assert.Zero(t, result.Mismatched)
}

// Memory is bounded however long a recording is.
func TestRecordingNeedsLittleMemory(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 50_000
	}
	read, write := io.Pipe()
	go func() {
		record(t, write, scenario.Binary, n, "law=epoch")
		write.Close()
	}()
	r, err := scenario.NewReader(read)
	require.NoError(t, err)
	heap := &heapTracer{every: int64(n / 10)}
	result, err := Run(r, Options{Tracer: heap})
	require.NoError(t, err)
	assert.True(t, result.OK())
	require.Greater(t, len(heap.sizes), 5)
	early, late := heap.sizes[1], heap.sizes[len(heap.sizes)-1]
	assert.Less(t, late, early+early/2+4<<20, "heap after a tenth and at the end: %v", heap.sizes)
}

// Tasks that nobody uses any more are forgotten: a recording may have very many.
func TestRecordingForgetsTasks(t *testing.T) {
	var text strings.Builder
	text.WriteString("scenario 1\nrecording complete=yes serial=yes\nroute 1 D1 P n1\nrenew 1\n")
	for task := range 1000 {
		fmt.Fprintf(&text, "acquire %d 1 4KiB task=%d\nunposted %d\n", task%3, task, task%3)
	}
	tasks := &taskTracer{}
	result := runText(t, text.String(), Options{Tracer: tasks})
	assert.True(t, result.OK())
	assert.Equal(t, 3, tasks.most)
}

type taskTracer struct{ most int }

func (c *taskTracer) Trace(s *Step) { c.most = max(c.most, len(s.world.tasks)) }

type heapTracer struct {
	every, steps int64
	sizes        []uint64
}

func (h *heapTracer) Trace(*Step) {
	if h.steps++; h.steps%h.every == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.sizes = append(h.sizes, m.HeapAlloc)
	}
}

// BenchmarkReplay is the time for each statement of a recording.
func BenchmarkReplay(b *testing.B) {
	var file bytes.Buffer
	record(b, &file, scenario.Binary, b.N, "law=epoch")
	b.ReportAllocs()
	b.ResetTimer()
	r, err := scenario.NewReader(&file)
	require.NoError(b, err)
	result, err := Run(r, Options{})
	require.NoError(b, err)
	assert.True(b, result.OK())
}
