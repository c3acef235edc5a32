package screen

import (
	"fmt"
	"strconv"
	"time"
)

// unit is a power of 1024 with its name.
type unit struct {
	bytes float64
	name  string
}

func unitOf(n int64) unit {
	for _, u := range []unit{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if float64(n) >= u.bytes {
			return u
		}
	}
	return unit{1, "B"}
}

// short prints a number with three digits or fewer, where it can.
func short(x float64) string {
	switch {
	case x == 0 || x >= 9.95:
		return fmt.Sprintf("%.0f", x)
	}
	text := fmt.Sprintf("%.1f", x)
	if text[len(text)-2:] == ".0" {
		return text[:len(text)-2]
	}
	return text
}

// partText prints a part of a whole in the unit of the whole: 12/64 MiB.
func partText(part, whole int64) string {
	u := unitOf(whole)
	return short(float64(part)/u.bytes) + "/" + short(float64(whole)/u.bytes) + " " + u.name
}

// rateText prints bytes a second, in powers of 1000.
func rateText(bytesPerSecond float64) string {
	units := []string{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"}
	i := 0
	for bytesPerSecond >= 999.5 && i < len(units)-1 {
		bytesPerSecond /= 1000
		i++
	}
	return short(bytesPerSecond) + " " + units[i]
}

// timeText prints a time with two digits or so: 412 us, 72 ms, 3.2 s, 12 s, 4 min, 2 h.
func timeText(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d >= time.Second-time.Second/20:
		return short(d.Seconds()) + " s"
	case d >= time.Millisecond-time.Millisecond/20:
		return short(float64(d)/1e6) + " ms"
	}
	return short(float64(d)/1e3) + " us"
}

// secondsText prints a time that is waited for or was waited: 0.4 s, 3.2 s, 4 min.
func secondsText(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return timeText(d)
}

// countText prints a number with its thousands apart.
func countText[N int | uint64](n N) string {
	text := strconv.FormatUint(uint64(n), 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// several returns a number with its noun.
func several(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return countText(n) + " " + more
}
