package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// stretch is the time between two things that are told of a route by themselves.
type stretch struct {
	any          bool
	first, last  time.Duration
	admitted     int
	probes       int // that were admitted
	wrong        int
	refused      map[refusal]int
	outcomes     map[string]int
	from         replay.Shown // at the beginning
	to           replay.Shown // when it was last looked at
	least, most  int64        // window
	retryAtFirst time.Duration
}

// begin begins a stretch.
func (s *stretch) begin(now replay.Shown) {
	*s = stretch{from: now, to: now, least: now.WindowBytes, most: now.WindowBytes}
}

func (s *stretch) happens(at time.Duration) {
	if !s.any {
		s.any, s.first = true, at
	}
	s.last = at
}

// decided takes in what admission said.
func (s *stretch) decided(d replay.Decision, probe bool) {
	s.happens(d.At)
	switch {
	case d.Admitted() && probe:
		s.probes++
	case d.Admitted():
		s.admitted++
	case d.Answer == cc.Refused:
		s.wrong++
	default:
		if s.refused == nil {
			s.refused = map[refusal]int{}
		}
		k := refusal{d.Reason, d.Domain}
		if s.refused[k] == 0 {
			s.retryAtFirst = d.RetryAfter
		}
		s.refused[k]++
	}
}

// outcome takes in what became of n slices.
func (s *stretch) outcome(of *scenario.Statement, n int, at time.Duration) {
	var what string
	switch of.Kind {
	case scenario.Complete, scenario.Transfer:
		status, _ := of.Num("status")
		if classify.Status(status) == classify.StatusSuccess {
			return
		}
		what = "failed with " + scenario.Statuses.Text(status)
		if vendor := of.Text("vendor"); vendor != "" {
			what += ", vendor_err " + vendor
		}
	case scenario.Deadline:
		what = "met a deadline"
	case scenario.Cancel:
		what = "cancelled"
	case scenario.Teardown:
		what = "torn down"
	case scenario.Reject:
		what = "rejected by the post verb with " + of.Text("errno")
	default:
		what = "ended otherwise: " + plain(of)
	}
	s.happens(at)
	if s.outcomes == nil {
		s.outcomes = map[string]int{}
	}
	s.outcomes[what] += n
}

// window takes in how the route is now.
func (s *stretch) window(now replay.Shown) {
	s.to = now
	s.least, s.most = min(s.least, now.WindowBytes), max(s.most, now.WindowBytes)
}

// whys are what refusals mean.
var whys = map[classify.Reason]string{
	classify.ReasonByteWindow:         "its window is full",
	classify.ReasonCongestionFeedback: "its window is full and it is congested",
	classify.ReasonRouteSuspect:       "it is suspect and carries little",
	classify.ReasonProbing:            "the trial is out",
	classify.ReasonPathQuarantined:    "it is quarantined",
	classify.ReasonStaleGeneration:    "they named an endpoint that is not the current one",
	classify.ReasonNeedsRenew:         "its endpoint was retired by a deadline",
}

func (k refusal) why() string {
	if k.domain == cc.DeviceDomain {
		return "the window of the device is full"
	}
	return cmp.Or(whys[k.reason], k.reason.String())
}

// text tells the stretch; empty if nothing happened.
func (s *stretch) text() string {
	if !s.any && s.from.WindowBytes == s.to.WindowBytes {
		return ""
	}
	var parts []string
	if s.admitted > 0 {
		parts = append(parts, count(s.admitted, "slice")+" admitted")
	}
	if s.probes > 0 {
		parts = append(parts, count(s.probes, "probe")+" admitted")
	}
	for _, k := range s.kinds() {
		what := "had to wait"
		if k.reason == classify.ReasonPathQuarantined {
			what = "sent another way"
		}
		parts = append(parts, fmt.Sprintf("%d %s, since %s%s", s.refused[k], what, k.why(), s.after(k)))
	}
	if s.wrong > 0 {
		parts = append(parts, count(s.wrong, "call")+" refused as wrong")
	}
	for _, what := range sorted(s.outcomes) {
		parts = append(parts, fmt.Sprintf("%d %s", s.outcomes[what], what))
	}
	parts = append(parts, s.would()...)
	if n := s.to.Flow.DeliveredBytes - s.from.Flow.DeliveredBytes; n > 0 {
		parts = append(parts, bytesText(n)+" delivered")
	}
	parts = append(parts, s.windows()...)
	if len(parts) == 0 {
		return ""
	}
	until := ""
	if s.last > s.first {
		until = "Until " + seconds(s.last) + ": "
	}
	return until + strings.Join(parts, "; ") + "."
}

// after says for how long a refusal lasted when it was first met.
func (s *stretch) after(k refusal) string {
	if s.retryAtFirst > 0 && len(s.refused) == 1 && k.reason == classify.ReasonPathQuarantined {
		return " (for another " + span(s.retryAtFirst) + " at first)"
	}
	return ""
}

func (s *stretch) kinds() (all []refusal) {
	for k := range s.refused {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b refusal) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(a.domain, b.domain))
	})
	return all
}

// would says what mode enforce would have refused.
func (s *stretch) would() []string {
	if n := sum64(s.to) - min(sum64(s.from), sum64(s.to)); n > 0 && len(s.refused) == 0 {
		return []string{fmt.Sprintf("mode enforce would have refused %d", n)}
	}
	return nil
}

func (s *stretch) windows() []string {
	from, to := s.from.WindowBytes, s.to.WindowBytes
	var text string
	switch {
	case from == to && s.least == s.most:
		return nil
	case s.least < min(from, to) || s.most > max(from, to):
		text = fmt.Sprintf("window from %s to %s, between %s and %s", bytesText(from), bytesText(to), bytesText(s.least), bytesText(s.most))
	default:
		text = fmt.Sprintf("window from %s to %s", bytesText(from), bytesText(to))
	}
	if drain, seen := s.to.Flow.DrainTime.Get(); seen {
		text += fmt.Sprintf(" (pressure %s, drain time %s)", s.to.Flow.Pressure, span(drain))
	}
	return []string{text}
}

func sorted(m map[string]int) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
