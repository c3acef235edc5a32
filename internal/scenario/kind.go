package scenario

import "fmt"

// Kind is one kind of statement: a row of the table that parser, printer, binary form
// and the page SCENARIO.md go by.
type Kind struct {
	// Code stands for the kind in the binary form. It is never given to another one.
	Code uint8
	// Verb is the first word, such as acquire. Subject is the second word of the kinds
	// whose verb is expect or never, such as route.
	Verb, Subject string
	// Meaning is one or two sentences for the page.
	Meaning string
	// Params are the arguments, in the order in which they are printed: those without a
	// key first. A parameter keeps its place for ever; new ones are added at the end.
	Params []Param
	// Answers are what may stand behind the arrow, in the same way.
	Answers []Param
	// Call says that the statement is one call of the controller.
	Call bool
}

// Name is the kind's verb, with its subject if it has one.
func (k *Kind) Name() string {
	if k.Subject == "" {
		return k.Verb
	}
	return k.Verb + " " + k.Subject
}

// Param is one argument that a kind of statement takes.
type Param struct {
	Name string
	Type Type
	// Words are the words of a Word.
	Words *Words
	// Place says how the argument is given.
	Place Place
	// List says that several values may be given, with commas and no spaces.
	List bool
	// Compares says that the key may be followed by <, <=, >, >= or != instead of =.
	Compares bool
	Meaning  string
	// Plain says that the name tells it all: the page leaves the meaning out.
	Plain bool

	index int // its place in the list
}

// Place is how an argument is given.
type Place uint8

const (
	// Required stands at its place, without a key.
	Required Place = iota
	// Optional stands at its place too, and may be left out.
	Optional
	// Keyed is given as key=value, and may be left out.
	Keyed
)

// Type is what an argument is.
type Type uint8

const (
	// Label is what the scenario calls a thing: a route, a permit, a task, a worker. A
	// number is a label too, and takes less space in the binary form. In a list p1..p16
	// stands for sixteen labels.
	Label Type = iota
	// String is an opaque name or a text. It is quoted as in Go if it has other
	// characters than letters, digits and _ - . / : @ + or is empty.
	String
	// Number is a whole number from 0; in a list 1..16 stands for sixteen.
	Number
	// Hex is a number that is printed in hexadecimal.
	Hex
	// Bytes is a number of bytes, such as 65536, 64KiB, 1.5MiB or 4GiB.
	Bytes
	// Duration is a length of time, such as 30s, 1.5ms, 10m or 250us.
	Duration
	// Factor is a decimal fraction.
	Factor
	// Bool is yes or no.
	Bool
	// Slices is a set of numbers from 0 to 31, such as 0..7,9: slices of a list. An empty
	// one is none.
	Slices
	// Word is one of a list of words.
	Word
)

// Op is how an argument compares; all but Equal stand in conditions only.
type Op uint8

// The comparisons.
const (
	Equal Op = iota
	NotEqual
	Less
	AtMost
	More
	AtLeast
)

var ops = [...]string{Equal: "=", NotEqual: "!=", Less: "<", AtMost: "<=", More: ">", AtLeast: ">="}

func (o Op) String() string {
	if int(o) < len(ops) {
		return ops[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Holds reports whether what was got compares with what was wanted.
func (o Op) Holds(got, want int64) bool {
	switch o {
	case NotEqual:
		return got != want
	case Less:
		return got < want
	case AtMost:
		return got <= want
	case More:
		return got > want
	case AtLeast:
		return got >= want
	}
	return got == want
}
