package main

import (
	"strings"
	"text/template"
)

// markdown returns the page as text; its plots are files beside it.
func (p page) markdown() (string, error) {
	t, err := template.New("markdown").Parse(markdownText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, p)
	return b.String(), err
}
