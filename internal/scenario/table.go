package scenario

import "slices"

// kinds is the table of statements, by topic.
var kinds = slices.Concat(
	[]*Kind{Settings, Set, Case, Worker, Route, Poller, Jitter, LeaveOpen},
	[]*Kind{Renew, Unreachable, Acquire, Probe, Wait, Handoff, AcquireList, Fit, Post, Unposted, Complete, Deadline, Cancel, Teardown, Reject, Settle,
		Event, Tick, Beat, ClosePoller, Due, CloseRoute, Forget, Close, Snapshot, NextAttempt, NoPath, Sweep},
	[]*Kind{Advance, Send, Transfer, Reclaim, Epoch, Traffic, Ticks, Random, Returned, Classify},
	conditionList(Expect), conditionList(Never), []*Kind{EndNever},
	[]*Kind{Recording, Clock, Told, Found, Lost, Mark},
)

func conditionList(of map[string]*Kind) (list []*Kind) {
	for _, c := range conditions {
		list = append(list, of[c.subject])
	}
	return list
}

// Kinds returns the table of statements.
func Kinds() []*Kind { return slices.Clone(kinds) }

var (
	byCode [256]*Kind
	byName = map[string]*Kind{}
)

func init() {
	for _, k := range kinds {
		byCode[k.Code], byName[k.Name()] = k, k
		for _, list := range [][]Param{k.Params, k.Answers} {
			for i := range list {
				list[i].index = i
			}
		}
	}
}
