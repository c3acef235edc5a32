package classify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// complete is an element that names one object of every kind.
var complete = Element{Device: "mlx5_0", Port: 1, QP: 0x11, CQ: 0x22, SRQ: 0x33, WQ: 0x44}

// only leaves nothing but the fields that belong to an object of that kind.
func only(o Object) Element {
	switch o {
	case ObjectQP:
		return Element{QP: complete.QP}
	case ObjectCQ:
		return Element{CQ: complete.CQ}
	case ObjectSRQ:
		return Element{SRQ: complete.SRQ}
	case ObjectWQ:
		return Element{WQ: complete.WQ}
	case ObjectPort:
		return Element{Device: complete.Device, Port: complete.Port}
	case ObjectDevice:
		return Element{Device: complete.Device}
	}
	return Element{}
}

func TestEventReadsOnlyItsElement(t *testing.T) {
	for n := EventType(0); n < 256; n++ {
		v, err := Event{Type: n, Element: only(n.Object())}.Verdict()
		require.NoError(t, err, "%s with its %s must do", n, n.Object())
		assert.Equal(t, AsyncEvent(n), v, "%s with its element alone", n)

		v, err = Event{Type: n, Element: complete}.Verdict()
		require.NoError(t, err)
		assert.Equal(t, AsyncEvent(n), v, "%s: fields of other objects must not matter", n)
	}
}

// TestEventWithoutItsElementIsNoVerdict gives each event every element but its own.
func TestEventWithoutItsElementIsNoVerdict(t *testing.T) {
	for n := EventType(0); n < 256; n++ {
		without := complete
		missing := ""
		switch n.Object() {
		case ObjectQP:
			without.QP, missing = 0, "a QP event needs Element.QP, not 0"
		case ObjectCQ:
			without.CQ, missing = 0, "a CQ event needs Element.CQ, not 0"
		case ObjectSRQ:
			without.SRQ, missing = 0, "a SRQ event needs Element.SRQ, not 0"
		case ObjectWQ:
			without.WQ, missing = 0, "a WQ event needs Element.WQ, not 0"
		case ObjectPort:
			without.Port, missing = 0, "a port event needs Element.Device and Element.Port, from 1"
		case ObjectDevice:
			without.Device, missing = "", "a device event needs Element.Device"
		}
		for _, element := range []Element{without, {}} {
			v, err := Event{Type: n, Element: element}.Verdict()
			if AsyncEvent(n).Scope() == ScopeNone {
				assert.NoError(t, err, "%s changes nothing, so it needs no element", n)
				assert.Equal(t, AsyncEvent(n), v)
				continue
			}
			assert.Equal(t, Verdict{}, v, "%s without its %s must not reach anything", n, n.Object())
			require.ErrorIs(t, err, ErrNoElement)
			assert.ErrorContains(t, err, n.String(), "the event")
			assert.ErrorContains(t, err, missing, "rule and remedy")
		}
	}
}

// A name that long is nobody's; the error shows where it begins.
func TestErrorQuotesTheBeginningOfALongName(t *testing.T) {
	name := strings.Repeat("n", 39) + "opq"
	for length, want := range map[int]string{39: "nnn ", 40: "nnno ", 41: "nnno... ", 42: "nnno... "} {
		_, err := Event{Type: EventPortErr, Element: Element{Device: name[:length]}}.Verdict()
		assert.ErrorContains(t, err, "Device:"+name[:36]+want, "a device's name of %d bytes", length)
	}
}

func TestPortNeedsItsDevice(t *testing.T) {
	_, err := Event{Type: EventPortErr, Element: Element{Port: 1}}.Verdict()
	assert.ErrorIs(t, err, ErrNoElement, "port 1 of which device?")
}

func TestElementNames(t *testing.T) {
	objects := []Object{ObjectQP, ObjectWQ, ObjectSRQ, ObjectCQ, ObjectPort, ObjectDevice}
	for _, has := range objects {
		for _, asked := range objects {
			want := has == asked || has == ObjectPort && asked == ObjectDevice
			assert.Equal(t, want, only(has).Names(asked), "an element with a %s, asked for a %s", has, asked)
		}
	}
	assert.True(t, Element{}.Names(ObjectNone), "nothing is needed")
	assert.False(t, complete.Names(ObjectDevice+1), "an object that does not exist has no name")
}
