package recorder_test

import (
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/require"
)

const kib = int64(1) << 10

var (
	success  = classify.Completion(classify.StatusSuccess, 0)
	retryExc = classify.Completion(classify.StatusRetryExcErr, 0x81)
)

// rig is a recorded controller on a clock that the test advances by hand.
type rig struct {
	testing.TB
	ctl *cc.Controller
	rec *recorder.Recorder
	now atomic.Int64
}

func newRig(t testing.TB, rec *recorder.Recorder, change func(*cc.Config), options ...cc.Option) *rig {
	t.Helper()
	r := &rig{TB: t, rec: rec}
	r.now.Store(int64(time.Hour))
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	cfg.SuspectAfter = 0
	if change != nil {
		change(&cfg)
	}
	options = append(options, cc.WithRecorder(rec), cc.WithClock(r.time), cc.WithJitter(func() float64 { return 1.125 }))
	ctl, err := cc.New(cfg, options...)
	require.NoError(t, err)
	r.ctl = ctl
	return r
}

func (r *rig) time() time.Duration { return time.Duration(r.now.Load()) }

func (r *rig) advance(d time.Duration) { r.now.Add(int64(d)) }

func (r *rig) route(remote string) *cc.Route {
	r.Helper()
	route, err := r.ctl.Route(rail.Pair{Peer: "P", Local: "D1", Port: 1, Remote: remote})
	require.NoError(r.TB, err)
	return route
}

func (r *rig) renew(route *cc.Route, old cc.Generation, qps ...uint64) cc.Generation {
	r.Helper()
	var list []cc.QP
	for _, id := range qps {
		list = append(list, cc.QP{ID: id, CQ: 1})
	}
	gen, err := route.Renew(old, list)
	require.NoError(r.TB, err)
	return gen
}

// slice is a slice as an engine holds it.
type slice struct {
	permit cc.Permit
	task   taskstate.Task
	use    cc.Use
}

// post acquires and posts.
func (r *rig) post(s *slice, route *cc.Route, gen cc.Generation, n int64, qp uint64) {
	r.Helper()
	d := route.TryAcquire(&s.permit, gen, n, &s.task)
	require.True(r.TB, d.Admitted(), "%s", d)
	require.NoError(r.TB, s.permit.Posting(qp, r.time()))
	s.use = d.Use
}

func (r *rig) settle(s *slice, v classify.Verdict) cc.Edges {
	return s.permit.Settle(s.use, v, r.time())
}

// dump returns what the ring holds, in lines, without what it begins with.
func (r *rig) dump() []string {
	r.Helper()
	var b strings.Builder
	require.NoError(r.TB, r.rec.Dump(&b, recorder.Text))
	_, err := scenario.Parse(b.String())
	require.NoError(r.TB, err, "what was dumped can be read:\n%s", b.String())
	return body(b.String())
}

var usePattern = regexp.MustCompile(`use=\d+`)

// body returns the lines of a recording after its configuration. The numbers of
// admissions begin anywhere.
func body(text string) []string {
	_, text, _ = strings.Cut(text, "\nset ")
	_, text, _ = strings.Cut(text, "\n")
	return strings.Split(strings.TrimSpace(usePattern.ReplaceAllString(text, "use=#")), "\n")
}

// since returns the lines of a dump after the first n.
func (r *rig) since(n int) []string {
	r.Helper()
	return r.dump()[n:]
}
