package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// finder walks through a package and collects its mutation points.
type finder struct {
	src      *source
	counts   map[types.Object]bool // constants that count something, see countingConstants
	points   map[place]*point
	file     *sourceFile
	function string
	stack    []ast.Node        // the parents of what is visited
	skipped  map[ast.Node]bool // parts that must stay what they are
}

// place is where a point is.
type place struct {
	file       *sourceFile
	start, end int
	statement  bool
}

// find returns the mutation points of a package in the order of the source.
func find(src *source) []*point {
	f := &finder{src: src, counts: countingConstants(src), points: map[place]*point{}, skipped: map[ast.Node]bool{}}
	for _, file := range src.files {
		if file.generated {
			continue
		}
		f.file = file
		for _, d := range file.tree.Decls {
			f.function = functionName(d)
			ast.Inspect(d, f.visit)
		}
	}
	var all []*point
	for _, p := range f.points {
		all = append(all, p)
	}
	order := map[*sourceFile]int{}
	for i, file := range src.files {
		order[file] = i
	}
	slices.SortFunc(all, func(a, b *point) int { // the outer before the inner
		return cmp.Or(order[a.file]-order[b.file], a.start-b.start, b.end-a.end, outerFirst(a)-outerFirst(b))
	})
	return all
}

func outerFirst(p *point) int {
	if p.statement {
		return 0
	}
	return 1
}

// visit is called with nil when all parts of a node have been visited.
func (f *finder) visit(n ast.Node) (deeper bool) {
	if n == nil {
		f.stack = f.stack[:len(f.stack)-1]
		return true
	}
	if f.skipped[n] {
		return false
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		deeper = n.Tok == token.VAR
	case *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.FuncType, *ast.MapType, *ast.ChanType:
	case ast.Expr:
		deeper = f.expression(n)
	case ast.Stmt:
		f.statement(n)
		deeper = true
	default:
		deeper = true
	}
	if deeper {
		f.stack = append(f.stack, n)
	}
	return deeper
}

// signature returns the type of the innermost function that is being visited.
func (f *finder) signature() *types.Signature {
	for _, n := range slices.Backward(f.stack) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return f.src.info.TypeOf(n).(*types.Signature)
		case *ast.FuncDecl:
			return f.src.info.Defs[n.Name].Type().(*types.Signature)
		}
	}
	return nil
}

// change is what a mutator does at one place.
type change struct {
	mutator  string
	at       token.Pos // what is changed
	from, to string
	code     string // what the node becomes
	shown    string // if that is not the code
}

// add notes a change of a node, unless the node becomes the same by another one. typ is
// what the node is used as.
func (f *finder) add(n ast.Node, typ types.Type, c change) {
	_, statement := n.(ast.Stmt)
	at := place{f.file, f.src.offset(n.Pos()), f.src.offset(n.End()), statement}
	p := f.points[at]
	if p == nil {
		p = &point{file: f.file, start: at.start, end: at.end, typ: typ, statement: statement}
	}
	if c.shown == "" {
		c.shown = c.code
	}
	if c.code == f.text(n) || slices.ContainsFunc(p.mutants, func(m *mutant) bool { return m.code == c.code }) {
		return
	}
	f.points[at] = p
	where := f.src.fset.Position(c.at)
	p.mutants = append(p.mutants, &mutant{
		key: key{
			file: f.file.name, function: f.function, mutator: c.mutator,
			change: oneLine(c.from) + " → " + oneLine(c.to), line: f.lineAt(where.Offset),
		},
		line: where.Line, point: p, code: c.code, shown: c.shown,
	})
}

// lineAt returns the text of the line with that offset.
func (f *finder) lineAt(offset int) string {
	text := string(f.file.text)
	from := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return oneLine(line)
}

func (f *finder) text(n ast.Node) string { return f.src.textOf(f.file, n) }
