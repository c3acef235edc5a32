package main

import (
	"go/ast"
	"go/token"
	"go/types"
)

// assignments says what an assignment operator becomes.
var assignments = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN, token.REM_ASSIGN: token.MUL_ASSIGN,
	token.SHL_ASSIGN: token.SHR_ASSIGN, token.SHR_ASSIGN: token.SHL_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
	token.XOR_ASSIGN: token.AND_ASSIGN, token.AND_NOT_ASSIGN: token.AND_ASSIGN,
}

// statement finds what may become of a statement, and of what it asks or returns.
func (f *finder) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.IfStmt:
		f.condition(s.Cond, "true", "false")
	case *ast.ForStmt:
		f.condition(s.Cond, "false") // true is a loop without an end
	case *ast.SwitchStmt:
		if s.Tag == nil {
			for _, c := range s.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					f.condition(e, "true", "false")
				}
			}
		}
	case *ast.ReturnStmt:
		f.results(s)
	case *ast.IncDecStmt:
		f.increment(s)
	case *ast.AssignStmt:
		f.assignment(s)
	case *ast.BranchStmt:
		f.branch(s)
	}
	for _, list := range f.lists(s) {
		for i, s := range list {
			if f.deletable(s, i == len(list)-1) {
				f.add(s, nil, change{mutator: deletion, at: s.Pos(), from: "statement", to: "nothing"})
			}
		}
	}
}

// lists returns the statements that a statement is a list of.
func (f *finder) lists(s ast.Stmt) [][]ast.Stmt {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return [][]ast.Stmt{s.List}
	case *ast.CaseClause:
		return [][]ast.Stmt{s.Body}
	case *ast.CommClause:
		return [][]ast.Stmt{s.Body}
	}
	return nil
}

// deletable reports whether a statement may be left out. A function with results
// may need the panic at the end of a list.
func (f *finder) deletable(s ast.Stmt, last bool) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return true
		}
		id, ok := call.Fun.(*ast.Ident)
		b, _ := f.src.info.Uses[id].(*types.Builtin)
		return !ok || b == nil || b.Name() != "panic" || !last || f.signature().Results().Len() == 0
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return false
		}
		for _, e := range s.Lhs {
			if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
				return true
			}
		}
		return false // it is there for the compiler
	case *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		return true
	}
	return false
}

func (f *finder) results(s *ast.ReturnStmt) {
	want := f.signature().Results()
	if want.Len() != len(s.Results) {
		return // none are named here, or a call returns them all
	}
	for i, e := range s.Results {
		f.result(e, want.At(i).Type())
	}
}

func (f *finder) increment(s *ast.IncDecStmt) {
	to := map[token.Token]token.Token{token.INC: token.DEC, token.DEC: token.INC}[s.Tok]
	f.add(s, nil, change{mutator: increment, at: s.TokPos, from: s.Tok.String(), to: to.String(), code: f.text(s.X) + to.String()})
	f.markPost(s)
}

func (f *finder) assignment(s *ast.AssignStmt) {
	to, ok := assignments[s.Tok]
	if !ok || isString(f.src.info.TypeOf(s.Lhs[0])) {
		return
	}
	f.add(s, nil, change{
		mutator: assignment, at: s.TokPos, from: s.Tok.String(), to: to.String(),
		code: f.text(s.Lhs[0]) + " " + to.String() + " " + f.text(s.Rhs[0]),
	})
	f.markPost(s)
}

// markPost notes that a point is the last part of a for clause, or the first part of
// an if or switch.
func (f *finder) markPost(s ast.Stmt) {
	clause := false
	switch parent := f.stack[len(f.stack)-1].(type) {
	case *ast.ForStmt:
		clause = parent.Post == s || parent.Init == s
	case *ast.IfStmt:
		clause = parent.Init == s
	case *ast.SwitchStmt:
		clause = parent.Init == s
	}
	if p := f.points[place{f.file, f.src.offset(s.Pos()), f.src.offset(s.End()), true}]; p != nil {
		p.post = clause
	}
}

// branch swaps break and continue where both belong to a loop. A loop without a
// condition may be what a function with results ends in: no break is put there.
func (f *finder) branch(s *ast.BranchStmt) {
	to := map[token.Token]token.Token{token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK}[s.Tok]
	if to == token.ILLEGAL {
		return
	}
	target := f.target(s)
	if l, ok := target.(*ast.ForStmt); target == nil || ok && l.Cond == nil && to == token.BREAK && f.signature().Results().Len() > 0 {
		return
	}
	code := to.String()
	if s.Label != nil {
		code += " " + s.Label.Name
	}
	f.add(s, nil, change{mutator: loop, at: s.Pos(), from: s.Tok.String(), to: to.String(), code: code})
}

// target returns the loop that a break or continue belongs to, nil if a switch or
// select does.
func (f *finder) target(s *ast.BranchStmt) ast.Stmt {
	for i := len(f.stack) - 1; i >= 0; i-- {
		switch n := f.stack[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if s.Label == nil {
				return n.(ast.Stmt)
			}
			if l, ok := f.stack[i-1].(*ast.LabeledStmt); ok && l.Label.Name == s.Label.Name {
				return n.(ast.Stmt)
			}
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if s.Label == nil && s.Tok == token.BREAK {
				return nil
			}
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		}
	}
	return nil
}
