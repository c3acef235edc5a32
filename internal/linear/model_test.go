package linear

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A device has a domain for itself and one for each of its routes.
const (
	deviceDomain = 0
	maxRoutes    = 3
)

func routeDomain(route int) int { return 1 + route }

// domains is a set of them.
type domains uint8

func of(ds ...int) (set domains) {
	for _, d := range ds {
		set |= 1 << d
	}
	return set
}

func (ds domains) has(d int) bool { return ds>>d&1 != 0 }

// kind is what an operation turned out to be.
type kind uint8

const (
	admit    kind = iota // it reserved n bytes in its domains
	refuse               // its domain refused it n bytes
	giveBack             // it gave n bytes back to its domains
	look                 // it saw n bytes in flight in its domain
	resize               // it made the window of its domain n bytes
	renew                // it made another generation of its domain current
	outdated             // it was refused for its generation
)

var kinds = [...]string{"admit", "refuse", "give back", "look", "resize", "renew", "outdated"}

// op is one operation with its outcome.
type op struct {
	kind kind
	in   domains
	n    int64
	list bool // of several slices, which together are never above a window
	slot int  // that asked
	// contested: something is under way that excuses a wrong answer.
	contested bool
}

func (o op) String() string {
	var b strings.Builder
	b.WriteString(kinds[o.kind])
	if o.list {
		b.WriteString(" list of")
	}
	fmt.Fprintf(&b, " %d:", o.n)
	for d := range maxRoutes + 1 {
		if o.in.has(d) {
			fmt.Fprintf(&b, " %s", domainName(d))
		}
	}
	if o.kind <= giveBack {
		fmt.Fprintf(&b, ", slot %d", o.slot)
	}
	if o.contested {
		b.WriteString(", contested")
	}
	return b.String()
}

func domainName(d int) string {
	if d == deviceDomain {
		return "device"
	}
	return fmt.Sprint("route ", d-1)
}

// window is the state of one domain.
type window struct {
	out, size int64
	claims    uint64 // the slots that may have precedence
}

// takes reports whether n bytes may be reserved.
func (w window) takes(n int64, list bool) bool {
	return w.out+n <= w.size || w.out == 0 && !list
}

// state is that of one device.
type state [maxRoutes + 1]window

func (s state) String() string {
	var parts []string
	for d, w := range s {
		if w.size != 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d", domainName(d), w.out, w.size))
		}
	}
	return strings.Join(parts, ", ")
}

// next returns the state after an operation, and whether the operation is legal. With
// claims, a slot that was refused may have precedence until it is admitted.
func (s state) next(o op, claims bool) (legal bool, after state) {
	mine := uint64(1) << o.slot
	for d := range s {
		if !o.in.has(d) {
			continue
		}
		w := &s[d]
		ok := true
		switch o.kind {
		case admit:
			ok = w.takes(o.n, o.list)
			w.out += o.n
			w.claims &^= mine
		case refuse:
			ok = o.contested || !w.takes(o.n, o.list) || w.claims&^mine != 0
			if claims {
				w.claims |= mine
			}
		case giveBack:
			w.out -= o.n
			ok = w.out >= 0
		case look:
			ok = o.contested || w.out == o.n
		case resize:
			w.size = o.n
		case outdated:
			ok = o.contested
		}
		if !ok {
			return false, s
		}
	}
	return true, s
}

// model is the contract of one device, as porcupine wants it.
func model(start state, claims bool) porcupine.Model {
	return porcupine.Model{
		Partition:         apart,
		Init:              func() any { return start },
		Step:              func(s, o, _ any) (bool, any) { return s.(state).next(o.(op), claims) },
		DescribeOperation: func(o, _ any) string { return o.(op).String() },
		DescribeState:     func(s any) string { return s.(state).String() },
	}
}

// apart parts a history by domain if no operation is in two.
func apart(h []porcupine.Operation) [][]porcupine.Operation {
	var parts [maxRoutes + 1][]porcupine.Operation
	for _, o := range h {
		in := o.Input.(op).in
		if in&(in-1) != 0 {
			return [][]porcupine.Operation{h}
		}
		for d := range parts {
			if in.has(d) {
				parts[d] = append(parts[d], o)
			}
		}
	}
	return parts[:]
}
