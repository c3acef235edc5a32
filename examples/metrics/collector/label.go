package collector

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rdmagate/rdmagate/rail"
)

// label returns a name as the value of a label, which must be UTF-8. Different names
// stay different.
func label(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) {
		return name
	}
	return strconv.Quote(name)
}

// routeLabels returns the labels of a pair, in the order of the descriptors.
func routeLabels(p rail.Pair) []string {
	return []string{label(p.Local), strconv.Itoa(int(p.Port)), label(p.Peer), label(p.Incarnation), label(p.Remote)}
}
