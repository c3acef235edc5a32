package scenario

import (
	"iter"
	"strconv"
	"strings"
)

// ID is what a label names. It can be compared, and be the key of a map.
type ID struct {
	Text string
	Num  int64 // of a label that is a number; then there is no Text
}

// NewID returns the ID of a label.
func NewID(label string) ID {
	if n, ok := labelNumber(label); ok {
		return ID{Num: n}
	}
	return ID{Text: label}
}

// String returns the label.
func (id ID) String() string {
	if id.Text != "" {
		return id.Text
	}
	return strconv.FormatInt(id.Num, 10)
}

// ID returns the ID of a label that is no range.
func (a Arg) ID() ID { return ID{a.Text, a.Num} }

// IDs returns those that the values of a list stand for.
func IDs(list []Arg) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i := range list {
			if !list[i].each(yield) {
				return
			}
		}
	}
}

// NthID returns the i-th of those that the values of a list stand for, which begins again
// when it ends.
func NthID(list []Arg, i int) ID {
	n := len(list)
	for j := range list {
		n += list[j].more()
	}
	i %= max(n, 1)
	for j := range list {
		if more := list[j].more(); i > more {
			i -= more + 1
			continue
		}
		if !strings.Contains(list[j].Text, "..") {
			return list[j].ID()
		}
		prefix, first, _, _ := labelRange(list[j].Text)
		return rangeID(prefix, first+int64(i))
	}
	return ID{} // of an empty list
}

func (a Arg) each(yield func(ID) bool) bool {
	if !strings.Contains(a.Text, "..") {
		return yield(a.ID())
	}
	prefix, first, last, _ := labelRange(a.Text)
	for n := first; n <= last; n++ {
		if !yield(rangeID(prefix, n)) {
			return false
		}
	}
	return true
}

// rangeID is one of a range.
func rangeID(prefix string, n int64) ID {
	if prefix == "" {
		return ID{Num: n}
	}
	return ID{Text: prefix + strconv.FormatInt(n, 10)}
}

// more returns how many labels a range stands for beside the first; 0 for all else.
func (a Arg) more() int {
	if a.Param.Type != Label || !strings.Contains(a.Text, "..") {
		return 0
	}
	_, first, last, ok := labelRange(a.Text)
	if !ok {
		return 0
	}
	return int(last - first)
}

// labelNumber returns the number that a label is.
func labelNumber(text string) (int64, bool) {
	if text == "" || text[0] == '0' && text != "0" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// maxRange is how many labels or numbers a range may stand for.
const maxRange = maxArgs

// labelRange splits p1..p16 into p, 1 and 16.
func labelRange(text string) (prefix string, first, last int64, ok bool) {
	from, to, found := strings.Cut(text, "..")
	prefix = strings.TrimRight(from, "0123456789")
	if !found || !strings.HasPrefix(to, prefix) {
		return "", 0, 0, false
	}
	first, ok1 := labelNumber(from[len(prefix):])
	last, ok2 := labelNumber(to[len(prefix):])
	return prefix, first, last, ok1 && ok2 && first <= last && last-first < maxRange
}

// validLabel reports whether text is a label, or where that is allowed a range of them.
func validLabel(text string, list bool) bool {
	if !bare(text) {
		return false
	}
	if !strings.Contains(text, "..") {
		return true
	}
	_, _, _, ok := labelRange(text)
	return ok && list
}
