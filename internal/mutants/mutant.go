package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// The mutators, by the usual names of the field.
const (
	boundary   = "boundary"   // conditional boundary: < to <=
	negation   = "negation"   // conditional negation: < to >=, == to !=, !x to x
	logical    = "logical"    // && to ||
	operand    = "operand"    // a && b to a, b or false
	condition  = "condition"  // what if, for or case asks, to true or false
	arithmetic = "arithmetic" // + to -, << to >>, & to |, -x to x
	literal    = "constant"   // an integer constant, one more or one less
	increment  = "increment"  // ++ to --
	assignment = "assignment" // += to -=
	deletion   = "deletion"   // a statement is left out
	returned   = "return"     // a number to 0, an error to nil, a bool to the other
	extreme    = "minmax"     // min to max
	loop       = "loop"       // break to continue
)

// point is a place in the source that takes another form in one or more mutants:
// an expression, or a statement.
type point struct {
	file       *sourceFile
	start, end int // of its text
	typ        types.Type
	statement  bool
	post       bool // the last part of a for clause, where no if may stand
	mutants    []*mutant
}

// mutant is one change of the source.
type mutant struct {
	id    int // from 1, in the order of the source
	key   key
	line  int
	point *point
	code  string // what stands in the point's place
	shown string // the same as a person would have written it
}

// key tells a mutant from all others of its package, and stays the same while other
// lines change.
type key struct {
	file, function, mutator string
	change                  string // old and new
	line                    string // the text of the line
	occurrence              int    // from 1, of those with the same of all the others
}

func (k key) String() string {
	nth := ""
	if k.occurrence > 1 {
		nth = fmt.Sprintf(" #%d", k.occurrence)
	}
	return strings.Join([]string{k.file, k.function, k.mutator + nth, k.change, k.line}, separator)
}

// separator stands between the parts of a key, of which the last may contain it.
const separator = " :: "

// number gives mutants their numbers and occurrences.
func number(points []*point) (all []*mutant) {
	seen := map[key]int{}
	for _, p := range points {
		for _, m := range p.mutants {
			m.key.occurrence = 0
			seen[m.key]++
			m.key.occurrence = seen[m.key]
			all = append(all, m)
			m.id = len(all)
		}
	}
	return all
}

// diff returns the lines of the mutant's point, as they are and as they would be.
func (m *mutant) diff() (before, after string) {
	p, text := m.point, string(m.point.file.text)
	from := strings.LastIndexByte(text[:p.start], '\n') + 1
	to := len(text)
	if n := strings.IndexByte(text[p.end:], '\n'); n >= 0 {
		to = p.end + n
	}
	shown := m.shown
	if shown == "" {
		shown = "// deleted"
	}
	return oneLine(text[from:to]), oneLine(text[from:p.start] + shown + text[p.end:to])
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// functionName names what a declaration declares, as keys do.
func functionName(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		return receiver(d.Recv.List[0].Type) + "." + d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				return "var " + v.Names[0].Name
			}
		}
	}
	return ""
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}
