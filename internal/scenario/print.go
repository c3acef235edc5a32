package scenario

import (
	"bytes"
	"strings"
)

// header is the first line of a text.
const header = "scenario 1"

// String returns the statement as a line of text.
func (s *Statement) String() string { return string(appendStatement(nil, s)) }

// appendStatement appends a statement in its one form, without the end of the line.
func appendStatement(b []byte, s *Statement) []byte {
	start := len(b)
	if s.Kind != nil {
		if s.Timed {
			b = append(appendSeconds(append(b, '@'), s.At), ' ')
		}
		b = append(b, s.Kind.Name()...)
		b = appendArgs(b, s.Kind.Params, s.Args)
		if s.Answered {
			b = appendArgs(append(b, " ->"...), s.Kind.Answers, s.Answer)
		}
	}
	if s.HasComment {
		if len(b) > start {
			b = append(b, "  "...)
		}
		b = append(append(b, '#'), s.Comment...)
	}
	return b
}

// appendArgs appends arguments, each with a space before it. Those with a place of their
// own need a key once one before them is left out.
func appendArgs(b []byte, params []Param, args []Arg) []byte {
	next := 0 // the place that comes next
	for i := 0; i < len(args); {
		p := args[i].Param
		end := i + 1
		for end < len(args) && args[end].Param == p {
			end++
		}
		b = append(b, ' ')
		if next < len(params) && p.index == next && p.Place != Keyed && args[i].Op == Equal {
			next++
		} else {
			next = len(params)
			b = append(append(b, p.Name...), args[i].Op.String()...)
		}
		b = appendList(b, args[i:end])
		i = end
	}
	return b
}

// appendList appends the values of one argument. Three numbers or more that follow each
// other make a range.
func appendList(b []byte, list []Arg) []byte {
	for i := 0; i < len(list); {
		if i > 0 {
			b = append(b, ',')
		}
		end := i + 1
		if list[i].Param.Type == Number {
			for end < len(list) && list[end].Num == list[end-1].Num+1 && list[end].Num > 0 && end-i < maxRange {
				end++
			}
		}
		if end-i < 3 {
			end = i + 1
		}
		b = appendValue(b, list[i], true)
		if end-i > 1 {
			b = appendValue(append(b, ".."...), list[end-1], true)
		}
		i = end
	}
	return b
}

// Print returns statements as a text in its one form.
func Print(list []Statement) string {
	var text bytes.Buffer
	w := NewWriter(&text, Text)
	for i := range list {
		if err := w.Write(&list[i]); err != nil {
			return "# " + strings.ReplaceAll(err.Error(), "\n", " ") + "\n"
		}
	}
	_ = w.Close()
	return text.String()
}

// AnswerText returns what stands behind the arrow, as text.
func (s *Statement) AnswerText() string {
	return string(bytes.TrimPrefix(appendArgs(nil, s.Kind.Answers, s.Answer), []byte(" ")))
}
