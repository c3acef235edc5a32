// Package suggest finds what a wrong word may have been meant to be.
package suggest

import (
	"fmt"
	"strings"
)

// maxWord is the longest word that is compared, in bytes.
const maxWord = 255

// For says what a wrong word may have been meant to be: the nearest known one, or else
// what there is.
func For(word string, known []string) string {
	const most = 8 // names to list
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 {
		return "there is none"
	}
	var list []string
	for _, name := range known[:min(len(known), most)] {
		list = append(list, fmt.Sprintf("%.40q", name))
	}
	if more := len(known) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return "there is " + strings.Join(list, ", ")
}

// nearest returns the known word with the fewest edits, case aside, or nothing if
// more than a third of the word would change.
func nearest(word string, known []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, least := "", max(len(word)/3, 1)+1
	for _, k := range known {
		if len(k) > maxWord {
			continue
		}
		if n := edits(strings.ToLower(word), strings.ToLower(k)); n < least {
			best, least = k, n
		}
	}
	return best
}

// edits counts the bytes to insert, delete or replace to get from one word to
// another.
func edits(a, b string) int {
	row := make([]int, len(b)+1) // edits from what was read of a to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
