package classify

//go:generate go tool stringer -type=Object -linecomment

// Object is the kind of thing that an asynchronous event names, and with that
// the fields of [Element] that the event reads.
type Object uint8

const (
	// ObjectNone: an event that is not known here; no field is read.
	ObjectNone Object = iota // nothing
	// ObjectQP reads [Element.QP].
	ObjectQP // QP
	// ObjectWQ reads [Element.WQ].
	ObjectWQ // WQ
	// ObjectSRQ reads [Element.SRQ].
	ObjectSRQ // SRQ
	// ObjectCQ reads [Element.CQ].
	ObjectCQ // CQ
	// ObjectPort reads [Element.Device] and [Element.Port].
	ObjectPort // port
	// ObjectDevice reads [Element.Device].
	ObjectDevice // device
)

// Names reports whether the element names an object of that kind. Zero names
// nothing: a port without its device, port 0, QP 0 and an empty device name are
// no names. ObjectNone needs none.
func (e Element) Names(o Object) bool {
	switch o {
	case ObjectNone:
		return true
	case ObjectQP:
		return e.QP != 0
	case ObjectWQ:
		return e.WQ != 0
	case ObjectSRQ:
		return e.SRQ != 0
	case ObjectCQ:
		return e.CQ != 0
	case ObjectPort:
		return e.Device != "" && e.Port != 0
	case ObjectDevice:
		return e.Device != ""
	}
	return false
}

// fields says what to fill in, for an error message.
func (o Object) fields() string {
	switch o {
	case ObjectPort:
		return "Element.Device and Element.Port, from 1"
	case ObjectDevice:
		return "Element.Device"
	}
	return "Element." + o.String() + ", not 0"
}
