package scenario

import (
	"errors"
	"fmt"
	"strings"
)

// check reports what keeps a statement from being written and read again as it is. What
// the parser returns is right; a program may build something else.
func (s *Statement) check() error {
	if s.HasComment {
		if len(s.Comment) > maxText {
			return fmt.Errorf("a comment of %d bytes: at most %d", len(s.Comment), maxText)
		}
		if strings.ContainsRune(s.Comment, '\n') || strings.TrimRight(s.Comment, " \t\r") != s.Comment {
			return fmt.Errorf("comment %.40q: must have one line, and no space at its end", s.Comment)
		}
	} else if s.Comment != "" {
		return errors.New("a comment, but HasComment is false")
	}
	if s.Kind == nil {
		if s.Timed || s.Answered || len(s.Args)+len(s.Answer) > 0 {
			return errors.New("a blank line or a comment alone with a time, arguments or an answer")
		}
		return nil
	}
	switch {
	case byCode[s.Kind.Code] != s.Kind:
		return fmt.Errorf("%s is no kind of the table", s.Kind.Name())
	case s.Timed && s.At < 0:
		return fmt.Errorf("%s at %s: a time since the beginning is 0 or more", s.Kind.Name(), s.At)
	case s.Answered && len(s.Kind.Answers) == 0, !s.Answered && len(s.Answer) > 0:
		return fmt.Errorf("%s with an answer that it has not, or without the arrow", s.Kind.Name())
	}
	if err := checkArgs(s.Kind, s.Kind.Params, s.Args); err != nil {
		return err
	}
	if s.Answered {
		return checkArgs(s.Kind, s.Kind.Answers, s.Answer)
	}
	return nil
}

func checkArgs(k *Kind, params []Param, args []Arg) error {
	names := len(args)
	for i := range args {
		if args[i].Param != nil {
			names += args[i].more()
		}
	}
	if names > maxArgs {
		return fmt.Errorf("%s with %d values: at most %d, with those of ranges", k.Name(), names, maxArgs)
	}
	last := -1
	for i := range args {
		a := &args[i]
		p := a.Param
		if p == nil || p.index >= len(params) || &params[p.index] != p {
			return fmt.Errorf("%s with an argument of something else", k.Name())
		}
		switch {
		case p.index < last, p.index == last && !p.List:
			return fmt.Errorf("%s: %s is given twice, or out of order", k.Name(), p.Name)
		case p.index == last && a.Op != args[i-1].Op, a.Op != Equal && (!p.Compares || a.Op > AtLeast):
			return fmt.Errorf("%s: %s does not compare so", k.Name(), p.Name)
		}
		for skipped := last + 1; skipped < p.index; skipped++ {
			if params[skipped].Place == Required {
				return lacks(k, &params[skipped])
			}
		}
		last = p.index
		if err := a.check(); err != nil {
			return fmt.Errorf("%s: %w", k.Name(), err)
		}
	}
	for skipped := last + 1; skipped < len(params); skipped++ {
		if params[skipped].Place == Required {
			return lacks(k, &params[skipped])
		}
	}
	return nil
}

func lacks(k *Kind, p *Param) error { return fmt.Errorf("%s lacks its %s", k.Name(), p.Name) }
