package main

import (
	"fmt"
	"strconv"
	"time"
)

// unit is what a figure counts.
type unit uint8

const (
	count  unit = iota
	weight      // in bytes
	ratio
	seconds // of a fake clock
	percent
)

// text writes a value for a table.
func (u unit) text(v float64) string {
	switch u {
	case weight:
		if v >= 1<<20 || v <= -1<<20 {
			return fmt.Sprintf("%.1f MiB", v/(1<<20))
		}
		return grouped(int64(v)) + " B"
	case ratio:
		return fmt.Sprintf("%.2f", v)
	case seconds:
		return time.Duration(v * float64(time.Second)).Round(time.Millisecond).String()
	case percent:
		return fmt.Sprintf("%.1f%%", v)
	}
	return grouped(int64(v))
}

// grouped writes a number with its thousands apart.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	digits := len(text)
	for i := digits - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
