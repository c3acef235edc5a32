package scenario

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// String returns the value as it is printed; of a label or string without quotes.
func (a Arg) String() string {
	if a.Param == nil || a.Text != "" {
		return a.Text
	}
	return string(appendValue(nil, a, false))
}

// appendValue appends a value as text.
func appendValue(b []byte, a Arg, quote bool) []byte {
	switch a.Param.Type {
	case Label:
		if a.Text == "" {
			return strconv.AppendUint(b, uint64(a.Num), 10)
		}
		return append(b, a.Text...)
	case String:
		if quote && !bare(a.Text) {
			return strconv.AppendQuote(b, a.Text)
		}
		return append(b, a.Text...)
	case Hex:
		b = append(b, "0x"...)
		return strconv.AppendUint(b, uint64(a.Num), 16)
	case Bytes:
		return appendBytes(b, a.Num)
	case Duration:
		return appendDuration(b, time.Duration(a.Num))
	case Factor:
		return strconv.AppendFloat(b, a.Factor(), 'f', -1, 64)
	case Bool:
		if a.Num != 0 {
			return append(b, "yes"...)
		}
		return append(b, "no"...)
	case Slices:
		return appendSlices(b, uint32(a.Num))
	case Word:
		return append(b, a.Param.Words.Text(a.Num)...)
	}
	return strconv.AppendUint(b, uint64(a.Num), 10)
}

// bareRune reports what may stand in a label, and in a string without quotes.
func bareRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./:@+*", r)
}

func bare(text string) bool {
	if text == "" || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !bareRune(r) {
			return false
		}
	}
	return true
}

func appendBytes(b []byte, n int64) []byte {
	for _, u := range []struct {
		shift int
		unit  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n != 0 && n&(1<<u.shift-1) == 0 {
			return append(strconv.AppendInt(b, n>>u.shift, 10), u.unit...)
		}
	}
	return strconv.AppendInt(b, n, 10)
}

var byteUnits = map[string]int64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// parseBytes reads a number of bytes such as 65536, 64KiB or 1.5MiB.
func parseBytes(text string) (int64, bool) {
	number := strings.TrimRight(text, "BKMGi")
	unit, known := byteUnits[text[len(number):]]
	whole, fraction, point := strings.Cut(number, ".")
	n, err := strconv.ParseUint(whole, 10, 63)
	if !known || err != nil || whole[0] == '+' || int64(n) > math.MaxInt64/unit {
		return 0, false
	}
	sum := int64(n) * unit
	if !point {
		return sum, true
	}
	part, scale := int64(0), int64(1)
	if fraction == "" || len(fraction) > 9 {
		return 0, false
	}
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, false
		}
		part, scale = part*10+int64(c-'0'), scale*10
	}
	hi, lo := bits.Mul64(uint64(part), uint64(unit))
	if hi != 0 || lo%uint64(scale) != 0 || int64(lo)/scale > math.MaxInt64-sum {
		return 0, false
	}
	return sum + int64(lo)/scale, true
}

func appendDuration(b []byte, d time.Duration) []byte {
	switch {
	case d != 0 && d%time.Hour == 0:
		return append(strconv.AppendInt(b, int64(d/time.Hour), 10), 'h')
	case d >= 2*time.Minute && d%time.Minute == 0:
		return append(strconv.AppendInt(b, int64(d/time.Minute), 10), 'm')
	case d == 0 || d >= time.Second:
		return appendSeconds(b, d)
	case d >= time.Millisecond:
		return append(appendDecimal(b, int64(d), int64(time.Millisecond)), "ms"...)
	case d >= time.Microsecond:
		return append(appendDecimal(b, int64(d), int64(time.Microsecond)), "us"...)
	}
	return append(strconv.AppendInt(b, int64(d), 10), "ns"...)
}

// Seconds returns a time as statements have it, such as 94.5s.
func Seconds(d time.Duration) string { return string(appendSeconds(nil, d)) }

func appendSeconds(b []byte, d time.Duration) []byte {
	return append(appendDecimal(b, int64(d), int64(time.Second)), 's')
}

// appendDecimal appends n/unit, where unit is a power of ten.
func appendDecimal(b []byte, n, unit int64) []byte {
	b = strconv.AppendInt(b, n/unit, 10)
	rest := n % unit
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for unit /= 10; rest > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

// parseDuration reads a length of time such as 30s, 1.5ms, 10m or 250us.
func parseDuration(text string) (time.Duration, bool) {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

func appendSlices(b []byte, set uint32) []byte {
	if set == 0 {
		return append(b, "none"...)
	}
	for i := 0; i < 32; {
		end := i + bits.TrailingZeros32(^(set >> i)) // of a row of them
		if end-i < 3 {
			end = min(end, i+1)
		}
		if end == i {
			i++
			continue
		}
		if set&(1<<i-1) != 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(i), 10)
		if end-i > 1 {
			b = append(b, ".."...)
			b = strconv.AppendInt(b, int64(end-1), 10)
		}
		i = end
	}
	return b
}

// parseSlices reads a set such as 0..7,9.
func parseSlices(text string) (set uint32, ok bool) {
	if text == "none" {
		return 0, true
	}
	for item := range strings.SplitSeq(text, ",") {
		first, last, ok := numberRange(item)
		if !ok || last > 31 {
			return 0, false
		}
		for i := first; i <= last; i++ {
			set |= 1 << i
		}
	}
	return set, true
}

// numberRange reads a number, or a range of them such as 1..16.
func numberRange(text string) (first, last uint64, ok bool) {
	from, to, isRange := strings.Cut(text, "..")
	first, ok = parseNumber(from)
	if !isRange || !ok {
		return first, first, ok
	}
	last, ok = parseNumber(to)
	return first, last, ok && first <= last && last-first < maxRange
}

func parseNumber(text string) (uint64, bool) {
	if text == "" || text[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}

// check reports what is wrong with a value, whose text stands in no text yet.
func (a Arg) check() error {
	bad := func(rule string) error {
		value := a.Text
		if value == "" {
			value = strconv.FormatInt(a.Num, 10)
		}
		return fmt.Errorf("%s is %.40q, must be %s", a.Param.Name, value, rule)
	}
	switch a.Param.Type {
	case Label:
		if a.Text == "" {
			if a.Num < 0 {
				return bad("at most 9223372036854775807 for a label that is a number")
			}
			return nil
		}
		if _, isNumber := labelNumber(a.Text); isNumber || !validLabel(a.Text, a.Param.List) {
			return bad("a label: letters, digits and _ - . / : @ + *, and as a number without text")
		}
		return nil
	case String:
		return nil
	case Hex:
		if a.Num < 0 || a.Num > math.MaxUint32 {
			return bad("0 to 0xffffffff")
		}
	case Bytes, Duration:
		if a.Num < 0 {
			return bad("0 or more")
		}
	case Factor:
		if f := a.Factor(); !(f >= 0 && f <= maxFactor) || a.Num < 0 {
			return bad("a factor from 0 to 1000")
		}
	case Bool:
		if a.Num != 0 && a.Num != 1 {
			return bad("0 or 1")
		}
	case Slices:
		if a.Num < 0 || a.Num > math.MaxUint32 {
			return bad("a set of numbers from 0 to 31")
		}
	case Word:
		if _, known := a.Param.Words.byNum[a.Num]; !known && (!a.Param.Words.Open || a.Num < 0 || a.Num > math.MaxUint32) {
			return bad("the number of a " + a.Param.Words.Name)
		}
	}
	if a.Text != "" {
		return bad("given as a number")
	}
	return nil
}

const maxFactor = 1000
