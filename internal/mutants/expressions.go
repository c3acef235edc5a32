package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// swaps says what an operator becomes, by mutator. One operator may have several.
var swaps = map[token.Token][]struct {
	mutator string
	to      token.Token
}{
	token.LSS:     {{boundary, token.LEQ}, {negation, token.GEQ}},
	token.LEQ:     {{boundary, token.LSS}, {negation, token.GTR}},
	token.GTR:     {{boundary, token.GEQ}, {negation, token.LEQ}},
	token.GEQ:     {{boundary, token.GTR}, {negation, token.LSS}},
	token.EQL:     {{negation, token.NEQ}},
	token.NEQ:     {{negation, token.EQL}},
	token.LAND:    {{logical, token.LOR}},
	token.LOR:     {{logical, token.LAND}},
	token.ADD:     {{arithmetic, token.SUB}},
	token.SUB:     {{arithmetic, token.ADD}},
	token.MUL:     {{arithmetic, token.QUO}},
	token.QUO:     {{arithmetic, token.MUL}},
	token.REM:     {{arithmetic, token.MUL}},
	token.SHL:     {{arithmetic, token.SHR}},
	token.SHR:     {{arithmetic, token.SHL}},
	token.AND:     {{arithmetic, token.OR}},
	token.OR:      {{arithmetic, token.AND}},
	token.XOR:     {{arithmetic, token.AND}},
	token.AND_NOT: {{arithmetic, token.AND}},
}

// expression finds what may become of an expression, and reports whether its parts are
// points of their own.
func (f *finder) expression(e ast.Expr) (deeper bool) {
	tv := f.src.info.Types[e]
	switch {
	case tv.IsType():
		return false
	case tv.Value != nil: // its parts must stay constant
		f.constant(e, tv)
		return false
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		f.binary(e)
	case *ast.UnaryExpr:
		f.unary(e)
	case *ast.CallExpr:
		f.call(e)
	case *ast.CompositeLit:
		f.skipIndices(e)
	}
	return true
}

func (f *finder) binary(e *ast.BinaryExpr) {
	typ := f.typeOf(e)
	if isString(typ) || f.recovers(e) {
		return
	}
	x, y := f.text(e.X), f.text(e.Y)
	if e.Op == token.LAND || e.Op == token.LOR {
		f.operands(e, x, y, typ)
		if f.isConstant(e.X) || f.isConstant(e.Y) {
			return // to swap && and || is to drop an operand
		}
	}
	for _, s := range swaps[e.Op] {
		f.add(e, typ, change{
			mutator: s.mutator, at: e.OpPos, from: e.Op.String(), to: s.to.String(),
			code:  "(" + x + ") " + s.to.String() + " (" + y + ")",
			shown: x + " " + s.to.String() + " " + y,
		})
	}
}

// operands replaces the operands of && and ||, each by true and by false. A constant one
// says how the program was built; dropping it changes nothing.
func (f *finder) operands(e *ast.BinaryExpr, x, y string, typ types.Type) {
	neutral, other := "true", "false"
	if e.Op == token.LOR {
		neutral, other = "false", "true"
	}
	if !f.isConstant(e.X) {
		f.add(e, typ, change{mutator: operand, at: e.X.Pos(), from: x, to: neutral, code: y})
	}
	if !f.isConstant(e.Y) {
		f.add(e, typ, change{mutator: operand, at: e.Y.Pos(), from: y, to: neutral, code: x})
	}
	if f.isOperand() {
		return // the whole is replaced as an operand of what it is part of
	}
	f.add(e, typ, change{mutator: operand, at: e.OpPos, from: x + " " + e.Op.String() + " " + y, to: other, code: other})
}

// isOperand reports whether what is visited is an operand of && or ||.
func (f *finder) isOperand() bool {
	for _, n := range slices.Backward(f.stack) {
		if _, paren := n.(*ast.ParenExpr); paren {
			continue
		}
		b, ok := n.(*ast.BinaryExpr)
		return ok && (b.Op == token.LAND || b.Op == token.LOR)
	}
	return false
}

func (f *finder) unary(e *ast.UnaryExpr) {
	mutator := arithmetic
	switch e.Op {
	case token.NOT:
		mutator = negation
	case token.SUB, token.XOR:
	default:
		return
	}
	x := f.text(e.X)
	f.add(e, f.typeOf(e), change{mutator: mutator, at: e.OpPos, from: e.Op.String() + x, to: x, code: x})
}

func (f *finder) call(e *ast.CallExpr) {
	name, ok := ast.Unparen(e.Fun).(*ast.Ident)
	if !ok {
		return
	}
	if _, builtin := f.src.info.Uses[name].(*types.Builtin); !builtin {
		return
	}
	other := map[string]string{"min": "max", "max": "min"}[name.Name]
	switch {
	case other != "" && len(e.Args) > 1:
		code := other + strings.TrimPrefix(f.text(e), name.Name)
		f.add(e, f.typeOf(e), change{mutator: extreme, at: e.Pos(), from: name.Name, to: other, code: code})
	case name.Name == "make" && len(e.Args) == 3:
		f.skipped[e.Args[2]] = true // a capacity is no more than a hint
	case name.Name == "make" && len(e.Args) == 2:
		if _, isMap := f.src.info.TypeOf(e).Underlying().(*types.Map); isMap {
			f.skipped[e.Args[1]] = true
		}
	}
}

// skipIndices leaves out the indices of array and slice literals: they must be constant.
func (f *finder) skipIndices(e *ast.CompositeLit) {
	switch f.src.info.TypeOf(e).Underlying().(type) {
	case *types.Array, *types.Slice:
		for _, elt := range e.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				f.skipped[kv.Key] = true
			}
		}
	}
}

// condition makes what a statement asks true and false.
func (f *finder) condition(e ast.Expr, values ...string) {
	if e == nil || f.isConstant(e) || f.recovers(e) {
		return
	}
	for _, v := range values {
		f.add(e, f.typeOf(e), change{mutator: condition, at: e.Pos(), from: f.text(e), to: v, code: v})
	}
}

// result changes what a function returns.
func (f *finder) result(e ast.Expr, typ types.Type) {
	from, value := f.text(e), f.src.info.Types[e].Value
	change := change{mutator: returned, at: e.Pos(), from: from}
	basic, _ := typ.Underlying().(*types.Basic)
	switch {
	case types.Identical(typ, types.Universe.Lookup("error").Type()):
		change.code = "nil"
	case basic == nil:
		return
	case basic.Info()&types.IsBoolean != 0:
		if f.recovers(e) || f.negates(e) {
			return
		}
		change.code = "!(" + from + ")"
		if value != nil {
			change.code = map[bool]string{true: "false", false: "true"}[constant.BoolVal(value)]
		}
	case basic.Info()&types.IsNumeric != 0:
		if value != nil && constant.Sign(value) == 0 {
			return // the mutants of constants do more
		}
		change.code = "0"
	default:
		return
	}
	change.to = change.code
	f.add(e, typ, change)
}

// negates reports whether a mutant of the expression itself negates it.
func (f *finder) negates(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return e.Op != token.LAND && e.Op != token.LOR
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	}
	return false
}

// recovers reports whether the expression calls recover, which works in its own
// function only.
func (f *finder) recovers(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if b, ok := f.src.info.Uses[id].(*types.Builtin); ok && b.Name() == "recover" {
				found = true
			}
		}
		return !found
	})
	return found
}

func (f *finder) isConstant(e ast.Expr) bool { return f.src.info.Types[e].Value != nil }

// typeOf returns the type that a value of the expression has.
func (f *finder) typeOf(e ast.Expr) types.Type { return types.Default(f.src.info.TypeOf(e)) }

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}
