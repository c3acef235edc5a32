package scenario

import (
	"fmt"
	"math"
	"time"
)

// Begin makes the statement an empty one of a kind. Its memory is used again.
func (s *Statement) Begin(k *Kind) *Statement {
	*s = Statement{Kind: k, Args: s.Args[:0], Answer: s.Answer[:0]}
	return s
}

// Stamp sets the time of the statement.
func (s *Statement) Stamp(at time.Duration) *Statement {
	s.At, s.Timed = at, true
	return s
}

// Add adds the number of an argument: bytes, nanoseconds, the number of a word, a set of
// bits, 1 for yes, a label that is a number. Arguments are added in the order of the
// kind's parameters; a value of the same argument as before makes a list. It panics for
// an argument that the kind does not have: that is a fault of the program.
func (s *Statement) Add(name string, num int64) *Statement {
	s.Args = append(s.Args, Arg{Param: s.Kind.param(s.Kind.Params, name), Num: num})
	return s
}

// AddText adds the text of an argument that is a string, or a label that is no number.
func (s *Statement) AddText(name, text string) *Statement {
	s.Args = append(s.Args, Arg{Param: s.Kind.param(s.Kind.Params, name), Text: text})
	return s
}

// Reply adds the number of an answer, as Add does.
func (s *Statement) Reply(name string, num int64) *Statement {
	s.Answered = true
	s.Answer = append(s.Answer, Arg{Param: s.Kind.param(s.Kind.Answers, name), Num: num})
	return s
}

// ReplyText adds the text of an answer, as AddText does.
func (s *Statement) ReplyText(name, text string) *Statement {
	s.Answered = true
	s.Answer = append(s.Answer, Arg{Param: s.Kind.param(s.Kind.Answers, name), Text: text})
	return s
}

// AddFactor adds a factor.
func (s *Statement) AddFactor(name string, f float64) *Statement {
	return s.Add(name, int64(math.Float64bits(f)))
}

func (k *Kind) param(list []Param, name string) *Param {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	panic(fmt.Sprintf("scenario: %s has no argument %q", k.Name(), name))
}

// Num returns the number of an argument, and whether it is there.
func (s *Statement) Num(name string) (int64, bool) { return num(s.Args, name) }

// AnswerNum returns the number of an answer, and whether it is there.
func (s *Statement) AnswerNum(name string) (int64, bool) { return num(s.Answer, name) }

// Text returns the text of an argument; of a label that is a number, its digits. It is
// empty if the argument is not there.
func (s *Statement) Text(name string) string {
	for i := range s.Args {
		if s.Args[i].Param.Name == name {
			return s.Args[i].String()
		}
	}
	return ""
}

func num(args []Arg, name string) (int64, bool) {
	for i := range args {
		if args[i].Param.Name == name {
			return args[i].Num, true
		}
	}
	return 0, false
}

// Values returns the values of an argument; none if it is not there.
func (s *Statement) Values(name string) []Arg { return values(s.Args, name) }

// AnswerValues returns the values of an answer.
func (s *Statement) AnswerValues(name string) []Arg { return values(s.Answer, name) }

func values(args []Arg, name string) []Arg {
	for i := range args {
		if args[i].Param.Name != name {
			continue
		}
		end := i + 1
		for end < len(args) && args[end].Param == args[i].Param {
			end++
		}
		return args[i:end]
	}
	return nil
}

// Factor returns the value of a factor.
func (a Arg) Factor() float64 { return math.Float64frombits(uint64(a.Num)) }
