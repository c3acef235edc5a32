package api

import (
	"go/ast"
	"go/doc"
	"go/printer"
	"regexp"
	"strings"
)

var (
	gaps  = regexp.MustCompile(`(\S)[ \t]+`)
	blank = regexp.MustCompile(`\n\s*\n`)
)

// text is the exported API of the package: its declarations without comments and bodies,
// each type followed by what belongs to it. It is in alphabetical order but for the
// members of a declaration, and without alignment, so that one change is one line.
func (s *source) text() string {
	var b strings.Builder
	b.WriteString("package " + s.Name + "\n")
	write := func(n ast.Node) {
		strip(n)
		var one strings.Builder
		if err := (&printer.Config{Mode: printer.TabIndent, Tabwidth: 8}).Fprint(&one, s.fset, n); err != nil {
			panic(err) // it was parsed
		}
		text := blank.ReplaceAllString(one.String(), "\n")
		b.WriteString("\n" + gaps.ReplaceAllString(text, "$1 ") + "\n")
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			write(v.Decl)
		}
	}
	funcs := func(list []*doc.Func) {
		for _, f := range list {
			write(f.Decl)
		}
	}
	values(s.Consts)
	values(s.Vars)
	funcs(s.Funcs)
	for _, t := range s.Types {
		write(t.Decl)
		values(t.Consts)
		values(t.Vars)
		funcs(t.Funcs)
		funcs(t.Methods)
	}
	return b.String()
}

// strip takes comments and bodies away.
func strip(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc, n.Body = nil, nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
}
