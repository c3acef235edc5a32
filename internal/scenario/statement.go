package scenario

import "time"

// Statement is one line of a scenario.
type Statement struct {
	// Kind is nil for a blank line and for a comment alone.
	Kind *Kind
	// At is the time of the statement since the beginning, if Timed.
	At    time.Duration
	Timed bool
	// Args are the arguments in the order of Kind.Params. The values of a list are
	// Args with the same Param that follow each other.
	Args []Arg
	// Answer is what stands behind the arrow, in the order of Kind.Answers: what has to
	// be answered, or was when it was recorded. Answered says that there is an arrow.
	Answer   []Arg
	Answered bool
	// Comment is what follows the #, and HasComment that there is one.
	Comment    string
	HasComment bool
	// Line and Column say where it stands in a text, from 1; the line is the number of the
	// statement in a binary file.
	Line, Column int
}

// Arg is one value of a statement.
type Arg struct {
	Param *Param
	Op    Op
	// Num is the value of everything but text: a number (as uint64), bytes, nanoseconds,
	// the bits of a factor or a set, 0 or 1, the number of a word; also of a Label that
	// is a number.
	Num int64
	// Text is that of a String and of a Label that is no number.
	Text string
}
