package main

import (
	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
)

// transition tells of a change of state, or a notice. now is how the route is after it,
// or if it is not the latest after later ones too; goesOut is what a trial is.
func transition(c replay.Transition, now replay.Shown, latest bool, goesOut string) string {
	text := ""
	switch {
	case c.Notice != cc.NoNotice:
		text = sentence(notices[c.Notice], observation(c.Verdict))
	case c.To == cc.Quarantined:
		text = quarantined(c, now, latest)
	case c.To == cc.Suspect:
		text = suspect(c, now, latest)
	case c.To == cc.Probing:
		text = "The cooldown is over and an endpoint was built since: " + goesOut + " goes out as the trial. PROBING."
		if now.Health.CooldownLeft > 0 && latest {
			text = sentence(goesOut+" goes out early as the trial", span(now.Health.CooldownLeft)+" before the cooldown ends: PROBING")
		}
	case c.To == cc.Congested:
		text = congested(c, now, latest)
	default:
		text = healthy(c, now, latest)
	}
	if c.LastRoute {
		text += " No route to " + c.Pair.Peer + " is usable now."
	}
	return text
}

var notices = [...]string{
	cc.PersistentFault: "rebuilding the connection does not help, a persistent fault: three failures of the configuration or of metadata within ten minutes",
	cc.LastRouteKept:   "timeouts would quarantine it, but no other route to the peer is usable: it is kept, and carries little",
	cc.PortExhausted:   "no route of its port is usable: new ones there begin with little",
	cc.DeviceExhausted: "no route of its device is usable: new ones there begin with little",
}

func quarantined(c replay.Transition, now replay.Shown, latest bool) string {
	how := "it is QUARANTINED"
	if latest && now.Health.CooldownLeft > 0 {
		how += " for " + span(now.Health.CooldownLeft)
		if now.Prober {
			how += ", and slices wait longer: they leave trials to the prober, for four probe intervals"
		}
	}
	seen := observation(c.Verdict)
	switch {
	case c.From == cc.Probing && c.Reason == classify.ReasonProbeFailed:
		return sentence("the trial failed", seen+": "+how)
	case c.From == cc.Probing && c.Verdict.Succeeded() && c.Reason == classify.ReasonProbing:
		return "The trial succeeded, but the path flaps and has to prove itself: QUARANTINED as before."
	case c.From == cc.Probing && c.Verdict.Succeeded():
		return "The trial was cancelled, and its completion gave it back: QUARANTINED as before."
	case c.From == cc.Probing && seen == "":
		return "The trial was given back before it could tell: QUARANTINED as before."
	case c.From == cc.Probing:
		return sentence("the trial could not tell", seen+": QUARANTINED as before")
	case c.Shared:
		return sentence("another worker of the process found the path dead: " + how)
	case c.Reason == classify.ReasonProbeFailed && c.Verdict.Source() == classify.SourceCMEvent:
		return sentence("no endpoint could be built", seen+", which counts as a probe that failed: "+how)
	case c.Reason == classify.ReasonProbeFailed:
		return sentence("a probe failed", seen+": "+how)
	case c.Verdict.Scope() == classify.ScopePort || c.Verdict.Scope() == classify.ScopeDevice || !latest:
		return sentence(seen + ": " + how)
	}
	return sentence(seen, "the "+ordinal(now.Health.Failures)+" failure in a row: "+how)
}

func suspect(c replay.Transition, now replay.Shown, latest bool) string {
	if c.From == cc.Probing || c.From == cc.Quarantined {
		return sentence("its pause is lifted, but a failure still counts: SUSPECT")
	}
	carries := "it is SUSPECT and carries little"
	if latest {
		carries += ", up to " + bytesText(now.WindowBytes)
	}
	switch seen := observation(c.Verdict); {
	case c.Shared:
		return sentence("another worker of the process met a failure on the path: " + carries)
	case seen == "":
		return sentence("nothing arrives, while another route of the device delivers: " + carries)
	default:
		return sentence(seen + ": " + carries)
	}
}

func congested(c replay.Transition, now replay.Shown, latest bool) string {
	if c.From != cc.Healthy {
		return "A success clears it: CONGESTED, as it was before."
	}
	why := "the pressure stays high"
	if drain, seen := now.Flow.DrainTime.Get(); seen && latest {
		why += ", bytes in flight take " + span(drain)
	}
	window := ""
	if latest {
		window = " and the window shrinks to " + bytesText(now.WindowBytes)
	}
	return sentence(why + ": it is CONGESTED" + window)
}

func healthy(c replay.Transition, now replay.Shown, latest bool) string {
	window := ""
	if latest {
		window = ", with a window of " + bytesText(now.WindowBytes)
	}
	success := c.Verdict.Succeeded()
	switch {
	case c.Shared:
		return sentence("another worker of the process got through: HEALTHY" + window)
	case c.From == cc.Probing:
		return sentence("the trial succeeded: HEALTHY again" + window)
	case c.From == cc.Congested:
		return sentence("the pressure is gone: HEALTHY" + window)
	case success:
		return sentence("a success clears it: HEALTHY" + window)
	}
	return sentence("it was left alone for long enough: the suspicion lapses, HEALTHY" + window)
}
