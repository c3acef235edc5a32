package main

import "strings"

// checkUnread passes on what package discover could not read, or what did not fit
// together.
func checkUnread(h *host) []Finding {
	var all []Finding
	for _, n := range h.nics {
		var problems []string
		for _, problem := range n.Problems {
			if !toldElsewhere(problem) {
				problems = append(problems, problem)
			}
		}
		if len(problems) == 0 {
			continue
		}
		all = append(all, Finding{
			Level: Note, Where: printable(n.Name), Seen: strings.Join(problems, "\n"),
			Why: "What cannot be read is unknown to engines too: they may leave a port out, or choose blindly.",
			Fix: "Read the files by hand; if that fails too, look for the driver in `dmesg`.",
		})
	}
	return all
}

// toldElsewhere reports a problem of which checks of their own say more: those of the
// network devices and of the GIDs.
func toldElsewhere(problem string) bool {
	return strings.Contains(problem, "is not in this network namespace") || strings.Contains(problem, "has no GID")
}
