package cc

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A transition says from, to, why, on what evidence, on which generation, when.
func TestTransition(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 2, retryExc)
	h.advance(time.Second)
	h.fail(route, 1, fatal())
	require.Len(t, h.seen, 2)
	assert.Equal(t, Transition{
		Pair: route.pair, From: Healthy, To: Suspect, Reason: classify.ReasonRouteTimeout, Verdict: retryExc, Generation: 1, At: time.Hour,
	}, h.seen[0])
	assert.Equal(t, Transition{
		Pair: route.pair, From: Suspect, To: Quarantined, Reason: classify.ReasonFatal, Verdict: fatal(), Generation: 3, At: time.Hour + time.Second,
		Cooldown: 30 * time.Second, LastRoute: true,
	}, h.seen[1])
}

// The hook is called without a lock: it may call the controller.
func TestHookMayCallController(t *testing.T) {
	var ctl *Controller
	var route *Route
	calls := 0
	cfg := DefaultConfig()
	cfg.Mode, cfg.KeepLastRoute = Enforce, true
	ctl, err := New(cfg, WithTransitions(func(tr Transition) {
		calls++
		ctl.Snapshot()
		r, err := ctl.Route(tr.Pair)
		assert.NoError(t, err)
		r.Renew(tr.Generation, []QP{{ID: uint64(100 + calls)}})
		ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}, ctl.Now())
	}))
	require.NoError(t, err)
	h := &healthRig{rig: &rig{TB: t, ctl: ctl, now: ctl.Now()}}
	route = h.route("D1", "P", "n1")
	h.fail(route, 1, retryExc)
	assert.Equal(t, 2, calls, "SUSPECT, and QUARANTINED by what the hook told")
	h.state(route, Quarantined)
	h.route("D1", "Q", "n1")
	assert.Equal(t, 2+3, calls, "a new route on the bad port, and that none is usable on port and device")
}

// Transitions and notices are logged, with levels that tell bad news from good.
func TestTransitionLog(t *testing.T) {
	var out bytes.Buffer
	h := newHealthRig(t, Enforce)
	ctl, err := New(h.ctl.cfg, WithClock(func() time.Duration { return h.now }), WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
	require.NoError(t, err)
	h.ctl = ctl
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	h.renewed(route)
	h.advance(40 * time.Second)
	h.settle(h.trial(route), success)
	h.fail(route, 3, locLen())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 5, out.String())
	for i, want := range []string{
		`level=INFO msg="route SUSPECT"`, `level=WARN msg="route QUARANTINED"`, `level=INFO msg="route PROBING"`,
		`level=INFO msg="route HEALTHY"`, `level=WARN msg="persistent fault"`,
	} {
		assert.Contains(t, lines[i], want)
	}
	assert.Contains(t, lines[1], "reason=ROUTE_TIMEOUT")
	assert.Contains(t, lines[1], "last_route=true")
	assert.Regexp(t, ` cooldown=(2[4-9]|3[0-6])[.0-9]*s `, lines[1], "30 s, give or take 20%")
}

func TestHealthSnapshot(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	assert.Equal(t, HealthSnapshot{Cooldown: 30 * time.Second}, route.Snapshot().Health, "never any news")
	h.fail(route, 3, retryExc)
	h.renewed(route)
	h.advance(12 * time.Second)
	s := route.Snapshot()
	assert.Equal(t, HealthSnapshot{
		State: Quarantined, Since: time.Hour, Reason: classify.ReasonRouteTimeout, Verdict: retryExc, Evidence: retryExc.String(),
		Failures: 3, CooldownLeft: 18 * time.Second, Cooldown: 30 * time.Second,
	}, s.Health)
	h.advance(20 * time.Second)
	h.trial(route)
	assert.True(t, route.Snapshot().Health.TrialOut)
	assert.Zero(t, route.Snapshot().Health.CooldownLeft)
	h.advance(10 * time.Second)
	assert.False(t, route.Snapshot().Health.TrialOut, "its lease is over")

	text, err := json.Marshal(s.Health)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"state":"QUARANTINED"`)
	assert.Contains(t, string(text), `"reason":"ROUTE_TIMEOUT"`)
}

// Only a quarantine can be the last: no notice, and no trial of it. Routes to other peers
// are no help.
func TestWhatIsTheLastRoute(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route, other := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
	h.route("D2", "R", "n1")
	h.quarantine(route)
	assert.True(t, h.seen[len(h.seen)-1].LastRoute)
	h.fail(other, 3, retryExc)
	require.Len(t, h.notices(PortExhausted), 1)
	h.advance(30 * time.Second)
	h.trial(route)
	for _, tr := range h.seen {
		assert.Equal(t, tr.To == Quarantined && tr.Notice == NoNotice, tr.LastRoute, "%+v", tr)
	}
}
