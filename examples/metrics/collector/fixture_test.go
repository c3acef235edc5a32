package collector

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// still is a controller that stands still, and counts how often it is looked at.
type still struct {
	snapshot cc.Snapshot
	looks    atomic.Int64
}

func (s *still) Snapshot() cc.Snapshot {
	s.looks.Add(1)
	copied := s.snapshot
	copied.Routes = append([]cc.RouteSnapshot{}, s.snapshot.Routes...)
	return copied
}

func (s *still) Now() time.Duration { return time.Minute }

// two returns a controller with two devices and three routes.
func two() *still {
	drain := taskstate.Seen(412 * time.Microsecond)
	return &still{snapshot: cc.Snapshot{
		Mode: cc.Enforce,
		Devices: []cc.DeviceSnapshot{
			{
				Device: "mlx5_0", WindowBytes: 67108864, InFlightBytes: 4096,
				Flow: cc.FlowSnapshot{DrainTime: drain, DeliveredBytes: 1 << 40, Pressure: cc.PressureLow},
				Refusals: []cc.RefusalCount{
					{Reason: classify.ReasonByteWindow, Domain: cc.RouteDomain, Count: 7},
					{Reason: classify.ReasonPathQuarantined, Count: 3},
				},
			},
			{Device: "mlx5_1", WindowBytes: 1024, Exhausted: true, ExhaustedPorts: cc.Ports{1, 2}},
		},
		Routes: []cc.RouteSnapshot{
			{
				Pair: rail.Pair{Peer: "host-b", Incarnation: "QK3D", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}, Generation: 2,
				WindowBytes: 262144, InFlightBytes: 4096, Flow: cc.FlowSnapshot{DrainTime: drain, DeliveredBytes: 99, Pressure: cc.PressureHigh},
				Health:   cc.HealthSnapshot{State: cc.Congested},
				Refusals: []cc.RefusalCount{{Reason: classify.ReasonByteWindow, Domain: cc.RouteDomain, Count: 7}},
			},
			{
				Pair:   rail.Pair{Peer: "host-c", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"},
				Health: cc.HealthSnapshot{State: cc.Quarantined, Failures: 3, CooldownLeft: 2500 * time.Millisecond},
			},
			{
				Pair:   rail.Pair{Peer: "host-c", Local: "mlx5_0", Port: 2, Remote: "mlx5_3"},
				Health: cc.HealthSnapshot{State: cc.Quarantined, CooldownLeft: time.Second},
			},
		},
	}}
}

// many returns a controller with so many routes on eight devices, all of which refuse.
func many(routes int) *still {
	var s cc.Snapshot
	refusals := []cc.RefusalCount{
		{Reason: classify.ReasonByteWindow, Domain: cc.RouteDomain}, {Reason: classify.ReasonByteWindow, Domain: cc.DeviceDomain},
		{Reason: classify.ReasonStaleGeneration}, {Reason: classify.ReasonNeedsRenew}, {Reason: classify.ReasonCongestionFeedback},
		{Reason: classify.ReasonRouteSuspect}, {Reason: classify.ReasonProbing}, {Reason: classify.ReasonPathQuarantined},
	}
	for i := range refusals {
		refusals[i].Count = uint64(i + 1)
	}
	flow := cc.FlowSnapshot{DrainTime: taskstate.Seen(time.Millisecond)}
	for i := range 8 {
		s.Devices = append(s.Devices, cc.DeviceSnapshot{Device: fmt.Sprintf("mlx5_%d", i), Flow: flow, Refusals: refusals})
	}
	for i := range routes {
		s.Routes = append(s.Routes, cc.RouteSnapshot{
			Pair:          rail.Pair{Peer: fmt.Sprintf("host-%d", i), Incarnation: "QK3D7YWA", Local: fmt.Sprintf("mlx5_%d", i%8), Port: 1, Remote: "mlx5_0"},
			InFlightBytes: int64(i), Flow: flow, Refusals: refusals,
		})
	}
	return &still{snapshot: s}
}
