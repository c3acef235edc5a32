package screen

import (
	"cmp"
	"slices"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/top/live"
	"github.com/rdmagate/rdmagate/rail"
)

// rates are means between two states. Without an earlier one there are none.
type rates struct {
	seconds    float64 // 0: there is no earlier state
	routes     map[rail.Pair]int64
	devices    map[string]int64
	refusals   map[cc.RefusalCount]uint64 // the keys have no count
	admissions *uint64
}

func newRates(then *live.State, now live.State) rates {
	if then == nil || now.Now <= then.Now {
		return rates{}
	}
	r := rates{
		seconds: (now.Now - then.Now).Seconds(),
		routes:  map[rail.Pair]int64{}, devices: map[string]int64{},
		refusals: refusals(*then), admissions: then.Admissions,
	}
	for _, route := range then.Routes {
		r.routes[route.Pair] = route.Flow.DeliveredBytes
	}
	for _, d := range then.Devices {
		r.devices[d.Device] = d.Flow.DeliveredBytes
	}
	return r
}

// perSecond returns the text of a rate of bytes, - where it is not known: there was no
// such thing before, or it was another one, which had more.
func (r rates) perSecond(now, then int64, was bool) string {
	if r.seconds == 0 || !was || now < then {
		return "-"
	}
	return rateText(float64(now-then) / r.seconds)
}

func (r rates) route(route cc.RouteSnapshot) string {
	then, was := r.routes[route.Pair]
	return r.perSecond(route.Flow.DeliveredBytes, then, was)
}

func (r rates) device(d cc.DeviceSnapshot) string {
	then, was := r.devices[d.Device]
	return r.perSecond(d.Flow.DeliveredBytes, then, was)
}

// refusals adds up the refusals of all devices, by kind.
func refusals(s live.State) map[cc.RefusalCount]uint64 {
	sum := map[cc.RefusalCount]uint64{}
	for _, d := range s.Devices {
		for _, k := range d.Refusals {
			sum[cc.RefusalCount{Reason: k.Reason, Domain: k.Domain}] += k.Count
		}
	}
	return sum
}

// refused is a rate of refusals of one kind.
type refused struct {
	cc.RefusalCount
	perSecond float64
}

// refused returns how many slices a second were refused, the most frequent kind first.
func (r rates) refused(now live.State) (list []refused) {
	if r.seconds == 0 {
		return nil
	}
	for kind, count := range refusals(now) {
		if then := r.refusals[kind]; count > then {
			list = append(list, refused{kind, float64(count-then) / r.seconds})
		}
	}
	slices.SortFunc(list, func(a, b refused) int {
		return cmp.Or(cmp.Compare(b.perSecond, a.perSecond), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Domain, b.Domain))
	})
	return list
}

// admitted returns how many slices a second were admitted, if that is known.
func (r rates) admitted(now live.State) (perSecond float64, known bool) {
	if r.seconds == 0 || r.admissions == nil || now.Admissions == nil || *now.Admissions < *r.admissions {
		return 0, false
	}
	return float64(*now.Admissions-*r.admissions) / r.seconds, true
}
