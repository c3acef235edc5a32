package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// bytesText prints a number of bytes with three digits or so.
func bytesText(n int64) string {
	size, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, next
	}
	if size < 10 && unit != "B" {
		return strconv.FormatFloat(float64(int64(size*100+0.5))/100, 'f', -1, 64) + unit
	}
	return strconv.FormatFloat(float64(int64(size*10+0.5))/10, 'f', -1, 64) + unit
}

// decimal prints d in seconds, without zeros at the end.
func decimal(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	text := fmt.Sprintf("%s%d.%09d", sign, d/time.Second, d%time.Second)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "s"
}

// seconds prints a moment as a file has it.
func seconds(d time.Duration) string { return decimal(d) }

// span prints a length of time with three digits or so.
func span(d time.Duration) string {
	for _, step := range []struct{ least, to time.Duration }{
		{100 * time.Second, time.Second}, {10 * time.Second, 100 * time.Millisecond}, {time.Second, 10 * time.Millisecond},
		{time.Millisecond, 10 * time.Microsecond}, {time.Microsecond, 10 * time.Nanosecond},
	} {
		if d >= step.least {
			d = d.Round(step.to)
			break
		}
	}
	switch {
	case d >= 2*time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d >= time.Second || d == 0:
		return decimal(d)
	}
	return strings.Replace(d.String(), "µs", "us", 1)
}

// count prints a number with what it counts; all plurals here end in s.
func count[T ~int | ~int64 | ~uint64](n T, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ordinal prints 1st, 2nd, 3rd.
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// observation says what was observed, without what it means: empty if nothing was.
func observation(v classify.Verdict) string {
	if v == (classify.Verdict{}) {
		return ""
	}
	text, _, _ := strings.Cut(v.String(), ": ")
	return strings.TrimSuffix(text, ", vendor_err 0x0")
}

// change says how a route changed, or the notice about it.
func change(t replay.Transition) string {
	text := fmt.Sprintf("%s => %s", t.From, t.To)
	if t.Notice != 0 {
		text = fmt.Sprintf("%s: %s", t.To, t.Notice)
	}
	if t.Reason != classify.ReasonNone {
		text += ", " + t.Reason.String()
	}
	if seen := observation(t.Verdict); seen != "" {
		text += ", " + seen
	}
	if t.Shared {
		text += ", learnt from another controller"
	}
	if t.LastRoute {
		text += ", no route to " + t.Pair.Peer + " is usable now"
	}
	return text
}

// plain returns the statement as text, without its time, answer and comment.
func plain(s *scenario.Statement) string {
	c := *s
	c.Timed, c.Answer, c.Answered, c.Comment, c.HasComment = false, nil, false, "", false
	return c.String()
}

// answers puts those of one statement on one line. What several were answered alike
// stands there once.
func answers(list []replay.Answer) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].Text == list[i].Text {
			end++
		}
		if i > 0 {
			b.WriteString("; ")
		}
		if len(list) > end-i {
			b.WriteString(list[i].Of)
			if end-i > 1 {
				b.WriteString(".." + list[end-1].Of)
			}
			b.WriteString(" ")
		}
		text := list[i].Text
		if text == "" {
			text = "none"
		}
		b.WriteString(text)
		i = end
	}
	if len(list) > 0 && b.String() == "none" {
		return ""
	}
	return b.String()
}

// origin finds the moment at which a file begins: a recording begins with what the clock
// showed. Counts and pictures go by the time since then; people are shown the file's times.
type origin struct {
	at    time.Duration
	known bool
}

// since returns the time since the beginning, of a time of the file.
func (o *origin) since(at time.Duration) time.Duration { return at - o.at }

// shown returns a time of the file, of one since the beginning.
func (o *origin) shown(since time.Duration) time.Duration { return since + o.at }

func (o *origin) step(s *replay.Step) {
	if !o.known && s.Statement.Kind == scenario.Recording {
		o.at, o.known = s.At, true
	}
}
