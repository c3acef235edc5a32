package main

import "strings"

// checkSettings reports settings of the controller in the environment that it refuses.
func checkSettings(h *host) []Finding {
	if h.configErr == nil {
		return nil
	}
	var all []Finding
	for line := range strings.SplitSeq(h.configErr.Error(), "\n") {
		all = append(all, Finding{
			Level: Fault, Seen: line,
			Why: "The controller does not start with half of its settings. This report goes on with the defaults.",
			Fix: "Correct or unset the variable.",
		})
	}
	return all
}
