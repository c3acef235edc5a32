package api

import (
	"slices"
	"strings"
)

// changes tells how one text of an API differs from another: each line that has gone or
// come, with the declaration that it is in.
func changes(from, to string) (list []string) {
	was, is := entries(from), entries(to)
	for _, e := range was {
		if !slices.Contains(is, e) {
			list = append(list, "- "+e)
		}
	}
	for _, e := range is {
		if !slices.Contains(was, e) {
			list = append(list, "+ "+e)
		}
	}
	if len(list) == 0 && from != to {
		list = []string{"the same lines in another order, which gives constants other values"}
	}
	return list
}

// entries are the lines of a text, members with their declaration before them.
func entries(text string) (list []string) {
	of := ""
	for line := range strings.Lines(text) {
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(line, "\t"):
			list = append(list, of+" ... "+strings.TrimSpace(line))
		case line != "":
			of = line
			list = append(list, line)
		}
	}
	return list
}
