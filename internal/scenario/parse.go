package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmagate/rdmagate/internal/suggest"
)

// Fault is what is wrong at one place of a text.
type Fault struct {
	Line, Column int
	Text         string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Text)
}

// Parse reads a text. The error joins every [Fault], and then the statements are those
// that are right.
func Parse(text string) ([]Statement, error) {
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return r.rest()
}

// parser reads one line.
type parser struct {
	line   string
	number int
	at     int // the byte that comes next
	faults Faults
	found  int // how many faults
	names  int // that the arguments stand for, or those of the answer
}

// parseLine reads one line into a statement.
func parseLine(s *Statement, line string, number int) error {
	s.Begin(nil)
	p := parser{line: strings.TrimRight(line, " \t\r"), number: number}
	p.statement(s)
	s.Line = number
	return p.faults.Err()
}

func (p *parser) fault(at int, format string, args ...any) {
	if p.found++; p.found > MaxFaults {
		p.faults.Add(MoreFaults(1))
		return
	}
	p.faults.Add(&Fault{p.number, at + 1, fmt.Sprintf(format, args...)})
}

func (p *parser) statement(s *Statement) {
	word, at := p.verb(s)
	if word == "" {
		return
	}
	s.Column = at + 1
	if word[0] == '@' {
		d, ok := parseDuration(word[1:])
		if !ok {
			p.fault(at, "time %.40q: must be @ and a time since the beginning, such as @1.5s", word)
		}
		s.At, s.Timed = d, true
		if word, at = p.verb(s); word == "" {
			p.fault(p.at, "a time without a statement; write both on one line")
			return
		}
	}
	if word == "expect" || word == "never" {
		subject, subjectAt := p.verb(s)
		if subject == "" {
			p.fault(p.at, "%s without what it speaks of; there is %s", word, strings.Join(subjects(), ", "))
			return
		}
		if s.Kind = byName[word+" "+subject]; s.Kind == nil {
			p.fault(subjectAt, "%.40q is nothing that %s can speak of; %s", subject, word, suggest.For(subject, subjects()))
			return
		}
	} else if s.Kind = byName[word]; s.Kind == nil {
		help := suggest.For(word, verbs())
		if strings.HasPrefix(help, "there is") {
			help = "there is " + strings.Join(verbs(), ", ")
		}
		p.fault(at, "%.40q is no statement; %s", word, help)
		return
	}
	s.Args = p.arguments(s, s.Args, s.Kind.Params, s.Kind.Name())
	if s.Answered {
		s.Answer = p.arguments(s, s.Answer, s.Kind.Answers, "the answer to "+s.Kind.Name())
	}
}

func subjects() (all []string) {
	for _, c := range conditions {
		all = append(all, c.subject)
	}
	return all
}

func verbs() (all []string) {
	for _, k := range kinds {
		if !slices.Contains(all, k.Verb) {
			all = append(all, k.Verb)
		}
	}
	return all
}

// verb returns the next word; empty at the end of the line.
func (p *parser) verb(s *Statement) (word string, at int) {
	if !p.more(s) {
		return "", p.at
	}
	at = p.at
	for p.at < len(p.line) && p.line[p.at] != ' ' && p.line[p.at] != '\t' {
		p.at++
	}
	return p.line[at:p.at], at
}

// more moves on to the next word and reports whether there is one. It takes the comment.
func (p *parser) more(s *Statement) bool {
	for p.at < len(p.line) && (p.line[p.at] == ' ' || p.line[p.at] == '\t') {
		p.at++
	}
	if p.at == len(p.line) {
		return false
	}
	if p.line[p.at] == '#' {
		s.Comment, s.HasComment = p.line[p.at+1:], true
		p.at = len(p.line)
		return false
	}
	return true
}

// arguments reads what follows a verb or an arrow. of says what it belongs to.
func (p *parser) arguments(s *Statement, args []Arg, params []Param, of string) []Arg {
	given := make([]bool, len(params))
	next, wrong := 0, p.found
	p.names = 0
	for p.more(s) {
		at := p.at
		if strings.HasPrefix(p.line[at:], "->") {
			p.at += 2
			switch {
			case s.Answered:
				p.fault(at, "a second arrow; a statement has one answer")
			case len(s.Kind.Answers) == 0:
				p.fault(at, "%s has no answer; write what is expected with expect", s.Kind.Name())
			default:
				s.Answered = true
			}
			break
		}
		key, op := p.key(at)
		var param *Param
		if key != "" {
			i := slices.IndexFunc(params, func(q Param) bool { return q.Name == key })
			if i < 0 {
				p.fault(at, "%.40q is no argument of %s; %s", key, of, suggest.For(key, names(params)))
				p.skip()
				continue
			}
			param = &params[i]
			if op != Equal && !param.Compares {
				p.fault(at, "%s is given with =, not with %s", key, op)
			}
		} else {
			for next < len(params) && (given[next] || params[next].Place == Keyed) {
				next++
			}
			if next == len(params) {
				word := p.word()
				p.fault(at, "%.40q is one argument too many of %s; %s", word, of, keysOf(params))
				continue
			}
			param = &params[next]
		}
		if given[param.index] {
			p.fault(at, "%s is given twice", param.Name)
			p.skip()
			continue
		}
		given[param.index] = true
		args = p.values(args, param, op)
	}
	if p.names > maxArgs {
		p.fault(p.at, "%s has %d values, at most %d are allowed, with those of ranges; use several lines", of, p.names, maxArgs)
		return args[:0]
	}
	if p.found == wrong {
		for i, param := range params {
			if param.Place == Required && !given[i] {
				p.fault(p.at, "%s lacks its %s: %s", of, param.Name, param.Meaning)
			}
		}
	}
	slices.SortStableFunc(args, func(a, b Arg) int { return a.Param.index - b.Param.index })
	return args
}

func names(params []Param) (all []string) {
	for _, q := range params {
		all = append(all, q.Name)
	}
	return all
}

// keysOf says what may be given with a key.
func keysOf(params []Param) string {
	var keys []string
	for _, q := range params {
		if q.Place == Keyed {
			keys = append(keys, q.Name+"=")
		}
	}
	if len(keys) == 0 {
		return "it takes no more"
	}
	return "what follows has a key: " + strings.Join(keys, ", ")
}

// key reads a key with its comparison, if there is one.
func (p *parser) key(at int) (key string, op Op) {
	end := at
	for end < len(p.line) && (p.line[end] >= 'a' && p.line[end] <= 'z' || p.line[end] == '_') {
		end++
	}
	if end == at {
		return "", Equal
	}
	best, found := Equal, 0
	for o, text := range ops {
		if strings.HasPrefix(p.line[end:], text) && len(text) > found {
			best, found = Op(o), len(text)
		}
	}
	if found == 0 {
		return "", Equal
	}
	p.at = end + found
	return p.line[at:end], best
}

// skip passes over the values of an argument.
func (p *parser) skip() {
	for {
		p.item()
		if p.at >= len(p.line) || p.line[p.at] != ',' {
			break
		}
		p.at++
	}
	for p.at < len(p.line) && p.line[p.at] != ' ' && p.line[p.at] != '\t' {
		p.at++
	}
}

// word returns the rest of a word as it stands there.
func (p *parser) word() string {
	at := p.at
	p.skip()
	return p.line[at:p.at]
}

// item returns the next item of a list, and whether it was quoted. It ends at a comma, a
// space or a character that has to be quoted.
func (p *parser) item() (text string, quoted, ok bool) {
	at := p.at
	if at < len(p.line) && p.line[at] == '"' {
		prefix, err := strconv.QuotedPrefix(p.line[at:])
		if err != nil {
			p.at = len(p.line)
			return "", true, false
		}
		p.at += len(prefix)
		text, err = strconv.Unquote(prefix)
		return text, true, err == nil
	}
	for i, r := range p.line[at:] {
		if !bareRune(r) {
			p.at = at + i
			return p.line[at:p.at], false, true
		}
	}
	p.at = len(p.line)
	return p.line[at:], false, true
}

// values reads the value of an argument, or its values if it is a list.
func (p *parser) values(args []Arg, param *Param, op Op) []Arg {
	if param.Type == Slices {
		at := p.at
		word := p.word()
		set, ok := parseSlices(word)
		if !ok {
			p.fault(at, "%s is %.40q, must be numbers from 0 to 31 such as 0..7,9, or none", param.Name, word)
			return args
		}
		return append(args, Arg{Param: param, Op: op, Num: int64(set)})
	}
	for {
		at := p.at
		text, quoted, ok := p.item()
		switch {
		case !ok:
			p.fault(at, "%s begins with a quote that is not closed, or holds an escape that Go does not know", param.Name)
			p.skip()
			return args
		case p.at < len(p.line) && !strings.ContainsRune(" \t,", rune(p.line[p.at])):
			p.fault(p.at, "%q cannot stand in %s here; quote what holds other characters than letters, digits and _ - . / : @ + *", firstRune(p.line[p.at:]), param.Name)
			p.skip()
			return args
		}
		args = p.value(args, at, param, op, text, quoted)
		if p.at >= len(p.line) || p.line[p.at] != ',' {
			return args
		}
		if p.at++; !param.List {
			p.fault(p.at-1, "%s has one value; give no list", param.Name)
			p.skip()
			return args
		}
	}
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

// value adds one value, or the numbers of a range.
func (p *parser) value(args []Arg, at int, param *Param, op Op, text string, quoted bool) []Arg {
	a := Arg{Param: param, Op: op}
	rule := ""
	switch param.Type {
	case Label:
		if n, isNumber := labelNumber(text); isNumber {
			a.Num = n
		} else if a.Text = text; quoted || !validLabel(text, param.List) {
			rule = "a name of letters, digits and _ - . / : @ + *, without quotes and without .."
			if param.List {
				rule += " but for a range such as p1..p16"
			}
		}
	case String:
		a.Text = text
		if text == "" && !quoted {
			rule = `a name, or "" for an empty one`
		}
	case Number:
		first, last, ok := numberRange(text)
		if !ok || first != last && !param.List {
			rule = "a whole number from 0"
			break
		}
		if !quoted {
			if p.names += int(last - first); p.names >= maxArgs {
				break // too many, as is told at the end
			}
			for n := first; n < last; n++ {
				a.Num = int64(n)
				args = append(args, a)
			}
			a.Num = int64(last)
		}
	case Hex:
		digits, base := text, 10
		if strings.HasPrefix(text, "0x") {
			digits, base = text[2:], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if a.Num = int64(n); err != nil {
			rule = "a number such as 0x81 or 129"
		}
	case Bytes:
		n, ok := parseBytes(text)
		if a.Num = n; !ok {
			rule = "a number of bytes such as 65536, 64KiB or 1.5MiB"
		}
	case Duration:
		d, ok := parseDuration(text)
		if a.Num = int64(d); !ok {
			rule = "a time such as 30s, 1.5ms or 10m"
		}
	case Factor:
		f, err := strconv.ParseFloat(text, 64)
		if a.Num = int64(math.Float64bits(f)); err != nil || !(f >= 0 && f <= maxFactor) || math.Signbit(f) {
			rule = "a factor from 0 to 1000, such as 0.93"
		}
	case Bool:
		switch text {
		case "yes":
			a.Num = 1
		case "no":
		default:
			rule = "yes or no"
		}
	case Word:
		n, known := param.Words.Num(text)
		if a.Num = n; !known {
			u, err := strconv.ParseUint(text, 10, 32)
			if a.Num = int64(u); !param.Words.Open || err != nil {
				p.fault(at, "%.40q is no %s; %s", text, param.Words.Name, suggest.For(text, param.Words.All()))
				return args
			}
		}
	}
	if quoted && rule == "" && param.Type != String {
		rule = "written without quotes"
	}
	if rule != "" {
		p.fault(at, "%s is %.40q, must be %s", param.Name, text, rule)
		return args
	}
	if p.names += a.more() + 1; p.names > maxArgs {
		return args
	}
	return append(args, a)
}
