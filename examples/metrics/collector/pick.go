package collector

import (
	"cmp"
	"slices"

	"github.com/rdmagate/rdmagate/cc"
)

// Pick chooses routes of a snapshot. The list is its own to reorder.
type Pick func([]cc.RouteSnapshot) []cc.RouteSnapshot

// All picks every route. It suits a machine with a few hundred of them, and peers that
// are seldom restarted.
func All(routes []cc.RouteSnapshot) []cc.RouteSnapshot { return routes }

// First picks up to n routes, those that come first by compare:
//
//	collector.First(50, collector.ByInFlight) // the busiest
//	collector.First(50, live.Compare)         // those that need attention most
//
// There are no more than n routes in a scrape, but over time others come and go.
func First(n int, compare func(a, b cc.RouteSnapshot) int) Pick {
	return func(routes []cc.RouteSnapshot) []cc.RouteSnapshot {
		slices.SortFunc(routes, compare)
		return routes[:min(max(n, 0), len(routes))]
	}
}

// ByInFlight compares routes by their bytes in flight, the most first, and routes with as
// many by pair.
func ByInFlight(a, b cc.RouteSnapshot) int {
	return cmp.Or(cmp.Compare(b.InFlightBytes, a.InFlightBytes), a.Pair.Compare(b.Pair))
}
