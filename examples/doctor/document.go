package main

import (
	"encoding/json"
	"io"
)

// document is the report for programs. Its ports are what -peer reads.
type document struct {
	Findings []Finding   `json:"findings"`
	Ports    []portFacts `json:"ports"`
	// Skipped is what was not looked at, and the flags that would change that.
	Skipped []string `json:"skipped"`
}

// writeJSON writes the document as JSON.
func writeJSON(w io.Writer, d document) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}
