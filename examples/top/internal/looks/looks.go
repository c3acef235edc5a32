// Package looks has controllers that stand still, for the tests of what shows them.
package looks

import (
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/top/live"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
)

// look returns the handler of a controller that stands still.
func look(s cc.Snapshot, now time.Duration, admissions uint64, told ...cc.Transition) *live.Handler {
	recent := &live.Recent{}
	for _, t := range told {
		recent.Add(t)
	}
	return &live.Handler{Controller: still{s, now}, Recent: recent, Admissions: func() uint64 { return admissions }}
}

// still is a controller that stands still.
type still struct {
	snapshot cc.Snapshot
	now      time.Duration
}

func (s still) Snapshot() cc.Snapshot { // a fresh one by pair, as a controller gives
	s.snapshot.Routes = slices.SortedFunc(slices.Values(s.snapshot.Routes), func(a, b cc.RouteSnapshot) int { return a.Pair.Compare(b.Pair) })
	return s.snapshot
}

func (s still) Now() time.Duration { return s.now }

func flow(delivered int64, p cc.Pressure, drain time.Duration) cc.FlowSnapshot {
	f := cc.FlowSnapshot{DeliveredBytes: delivered, Pressure: p}
	if drain > 0 {
		f.DrainTime = taskstate.Seen(drain)
	}
	return f
}

func device(name string, window, inFlight int64, f cc.FlowSnapshot) cc.DeviceSnapshot {
	return cc.DeviceSnapshot{Device: name, WindowBytes: window, InFlightBytes: inFlight, Flow: f}
}

func route(local, peer, remote string, state cc.State, window, inFlight int64, f cc.FlowSnapshot) cc.RouteSnapshot {
	return cc.RouteSnapshot{
		Pair:       rail.Pair{Peer: peer, Local: local, Port: 1, Remote: remote},
		Generation: 3, WindowBytes: window, InFlightBytes: inFlight, Flow: f,
		Health: cc.HealthSnapshot{State: state, Cooldown: 30 * time.Second},
	}
}

var retryExc = classify.Completion(classify.StatusRetryExcErr, 0x81)

const now = 100 * time.Second

// Mixed returns two looks, a second apart, at a controller with routes in every state.
func Mixed() (then, later *live.Handler) {
	snapshot := func(seconds int64) cc.Snapshot {
		paused := route("mlx5_0", "host-b", "mlx5_0", cc.Quarantined, 64*kib, 0, flow(7*mib, cc.PressureIdle, 0))
		paused.Health.Reason, paused.Health.Verdict = classify.ReasonPathQuarantined, retryExc
		paused.Health.Since, paused.Health.CooldownLeft = now-18*time.Second, 12*time.Second
		due := route("mlx5_1", "host-c", "mlx5_1", cc.Quarantined, 64*kib, 0, flow(mib, cc.PressureIdle, 0))
		due.Health.Since = now - time.Minute
		trial := route("mlx5_1", "host-b", "mlx5_0", cc.Probing, 64*kib, 256, flow(2*mib, cc.PressureIdle, 0))
		trial.Health.TrialOut, trial.Health.Reason = true, classify.ReasonProbing
		suspect := route("mlx5_0", "host-c", "mlx5_1", cc.Suspect, 64*kib, 64*kib, flow(9*mib+seconds*300*kib, cc.PressureNeutral, 3*time.Millisecond))
		suspect.NeedsRenew = true
		return cc.Snapshot{
			Mode: cc.Enforce,
			Devices: []cc.DeviceSnapshot{
				{
					Device: "mlx5_0", WindowBytes: 64 * mib, InFlightBytes: 20 * mib,
					Flow: flow(400*mib+seconds*3000*mib, cc.PressureLow, 412*time.Microsecond),
					Refusals: []cc.RefusalCount{
						{Reason: classify.ReasonByteWindow, Domain: cc.RouteDomain, Count: uint64(5000 + 12_345*seconds)},
						{Reason: classify.ReasonPathQuarantined, Count: uint64(10 + 2*seconds)},
						{Reason: classify.ReasonProbing, Count: 4},
					},
				},
				{
					Device: "mlx5_1", WindowBytes: 16 * mib, InFlightBytes: 16 * mib, ExhaustedPorts: cc.Ports{1},
					Flow:     flow(800*mib+seconds*70*mib, cc.PressureHigh, 72*time.Millisecond),
					Refusals: []cc.RefusalCount{{Reason: classify.ReasonByteWindow, Domain: cc.DeviceDomain, Count: uint64(77 * seconds)}},
				},
			},
			Routes: []cc.RouteSnapshot{
				paused, due, trial, suspect,
				route("mlx5_0", "host-c", "mlx5_0", cc.Congested, 512*kib, 448*kib, flow(mib+seconds*31*mib, cc.PressureHigh, 900*time.Microsecond)),
				route("mlx5_0", "host-b", "mlx5_1", cc.Healthy, 4*mib, mib, flow(2*mib+seconds*2000*mib, cc.PressureLow, 80*time.Microsecond)),
				route("mlx5_1", "host-b", "mlx5_1", cc.Healthy, 256*kib, 0, flow(0, cc.PressureNeutral, 0)),
				route("mlx5_1", "host-c", "mlx5_0", cc.Healthy, 2*mib, mib/2, flow(seconds*mib, cc.PressureNeutral, 300*time.Microsecond)),
			},
		}
	}
	b := rail.Pair{Peer: "host-b", Incarnation: "QK3D7YWA", Local: "mlx5_0", Port: 1, Remote: "mlx5_0"}
	c := rail.Pair{Peer: "host-c", Local: "mlx5_1", Port: 1, Remote: "mlx5_1"}
	told := []cc.Transition{
		{Pair: c, From: cc.Probing, To: cc.Healthy, Verdict: classify.Completion(classify.StatusSuccess, 0), At: now - 5*time.Minute},
		{Pair: b, From: cc.Healthy, To: cc.Suspect, Reason: classify.ReasonRouteTimeout, Verdict: retryExc, At: now - 20*time.Second},
		{Pair: b, From: cc.Suspect, To: cc.Quarantined, Reason: classify.ReasonPathQuarantined, Verdict: retryExc, At: now - 18*time.Second, Cooldown: 30 * time.Second},
		{Pair: c, From: cc.Quarantined, To: cc.Quarantined, Notice: cc.PortExhausted, Reason: classify.ReasonPathQuarantined, Verdict: retryExc, At: now - 3200*time.Millisecond},
		{Pair: c, From: cc.Suspect, To: cc.Healthy, At: now - 40*time.Millisecond},
	}
	return look(snapshot(0), now-time.Second, 100, told[:4]...), look(snapshot(1), now, 4_100, told...)
}

// Many returns two looks, two seconds apart, at thousands of routes.
func Many() (then, later *live.Handler) {
	snapshot := func(seconds int64) (s cc.Snapshot) {
		s.Mode = cc.Observe
		for i := range 24 {
			s.Devices = append(s.Devices, device(fmt.Sprintf("mlx5_%d", i), 64*mib, int64(i)*mib, flow(seconds*int64(i)*400*mib, cc.PressureLow, time.Duration(i)*100*time.Microsecond)))
		}
		s.Devices[0].Refusals = []cc.RefusalCount{{Reason: classify.ReasonStaleGeneration, Count: uint64(3 * seconds)}}
		for i := range 5000 {
			state, f := cc.Healthy, flow(seconds*int64(i)*kib, cc.PressureLow, 70*time.Microsecond)
			if i%499 == 0 {
				state, f.Pressure = cc.Congested, cc.PressureHigh
			}
			r := route(fmt.Sprintf("mlx5_%d", i%24), fmt.Sprintf("storage-%04d.rack-%02d.example", i/24, i%40), fmt.Sprintf("mlx5_%d", i%24), state, int64(1+i%64)*64*kib, int64(i%65)*64*kib, f)
			s.Routes = append(s.Routes, r)
		}
		return s
	}
	return look(snapshot(0), now-2*time.Second, 0), look(snapshot(2), now, 0)
}

// Hostile returns a look at names that do not behave: wide, long, alike but for their
// incarnation, with combining marks, in the other direction, and such that would move
// the cursor.
func Hostile() *live.Handler {
	s := cc.Snapshot{Mode: cc.Enforce, Devices: []cc.DeviceSnapshot{device("\x1b[31mred\x1b[2J", mib, kib, flow(0, cc.PressureNeutral, 0))}}
	for _, peer := range []string{
		"机房甲-存储-零零七", "ho\u0301st-\u0301b", "line\nbreak\r", "\u202egnp.exe", "not\xff\xfeutf8", "tab\tand\u200bnothing", "🚀rocket",
		"a-name-of-255-bytes-that-goes-on-and-on-and-on-and-on-and-on-and-on-and-on-until-the-end",
	} {
		s.Routes = append(s.Routes, route("mlx5_0", peer, "mlx5_1", cc.Healthy, mib, kib, flow(0, cc.PressureNeutral, 0)))
	}
	for _, incarnation := range []string{"first", "second"} {
		r := route("mlx5_0", "twice", "mlx5_1", cc.Healthy, mib, 0, flow(kib, cc.PressureNeutral, 0))
		r.Pair.Incarnation = incarnation
		s.Routes = append(s.Routes, r)
	}
	return look(s, now, 0, cc.Transition{Pair: s.Routes[0].Pair, From: cc.Healthy, To: cc.Suspect, Reason: classify.ReasonRouteTimeout, Verdict: retryExc, At: now})
}

// Empty returns a look at a controller without routes.
func Empty() *live.Handler { return look(cc.Snapshot{Mode: cc.Off}, time.Second, 0) }

// Markup returns a look at names that a page must not take for markup.
func Markup() *live.Handler {
	const name = "<script>document.title=1</script><img src=x onerror=document.title=1>"
	s := cc.Snapshot{
		Devices: []cc.DeviceSnapshot{device(name, mib, kib, flow(0, cc.PressureNeutral, 0))},
		Routes:  []cc.RouteSnapshot{route(name, name, name, cc.Healthy, mib, kib, flow(0, cc.PressureNeutral, 0))},
	}
	return look(s, now, 0, cc.Transition{Pair: s.Routes[0].Pair, To: cc.Suspect, At: now})
}
