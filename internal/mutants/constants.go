package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// constant finds what may become of a constant expression that is part of no other: its
// integers are one more or one less, its operators others.
func (f *finder) constant(e ast.Expr, tv types.TypeAndValue) {
	typ := types.Default(tv.Type)
	basic, ok := typ.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsNumeric == 0 {
		return
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ArrayType, *ast.StructType, *ast.FuncLit:
			return false
		case *ast.SelectorExpr: // a constant of another package
			return false
		case *ast.BasicLit:
			if n.Kind == token.INT {
				v := constant.MakeFromLiteral(n.Value, n.Kind, 0)
				for _, d := range []int64{1, -1} {
					to := constant.BinaryOp(v, token.ADD, constant.MakeInt64(d))
					f.within(e, n, typ, change{mutator: literal, at: n.Pos(), from: n.Value, to: to.String()},
						"("+to.ExactString()+")", to.ExactString())
				}
			}
		case *ast.Ident:
			if f.counts[f.src.info.Uses[n]] {
				for _, d := range []string{" + 1", " - 1"} {
					f.within(e, n, typ, change{mutator: literal, at: n.Pos(), from: n.Name, to: n.Name + d}, "("+n.Name+d+")", "("+n.Name+d+")")
				}
			}
		case *ast.BinaryExpr:
			x, y := f.text(n.X), f.text(n.Y)
			for _, s := range swaps[n.Op] {
				to := x + " " + s.to.String() + " " + y
				f.within(e, n, typ, change{mutator: s.mutator, at: n.OpPos, from: n.Op.String(), to: s.to.String()},
					"("+x+") "+s.to.String()+" ("+y+")", to)
			}
		}
		return true
	})
}

// within adds a change of e that is one of its part: to code, shown so.
func (f *finder) within(e ast.Expr, part ast.Node, typ types.Type, c change, code, shown string) {
	text, start := f.text(e), f.src.offset(e.Pos())
	from, end := f.src.offset(part.Pos())-start, f.src.offset(part.End())-start
	c.code = text[:from] + "(" + code + ")" + text[end:]
	c.shown = text[:from] + shown + text[end:]
	f.add(e, typ, c)
}

// countingConstants returns the package's integer constants that say how much or how
// many. Those made with iota, or of a type of the package, are names.
func countingConstants(src *source) map[types.Object]bool {
	found := map[types.Object]bool{}
	for _, file := range src.files {
		ast.Inspect(file.tree, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				return true
			}
			iota := false // a line without values repeats those before
			for _, spec := range d.Specs {
				spec := spec.(*ast.ValueSpec)
				if len(spec.Values) > 0 {
					iota = usesIota(src, spec)
				}
				for _, name := range spec.Names {
					if c, ok := src.info.Defs[name].(*types.Const); ok && !iota && counts(src, c) {
						found[c] = true
					}
				}
			}
			return true
		})
	}
	return found
}

func counts(src *source, c *types.Const) bool {
	if named, ok := c.Type().(*types.Named); ok && named.Obj().Pkg() == src.pkg {
		return false
	}
	basic, ok := c.Type().Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

func usesIota(src *source, spec *ast.ValueSpec) (found bool) {
	ast.Inspect(spec, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && src.info.Uses[id] == types.Universe.Lookup("iota") {
			found = true
		}
		return !found
	})
	return found
}
