package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

var (
	otherBound = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ,
		token.GEQ: token.GTR}
	opposite = map[token.Token]token.Token{token.LSS: token.GEQ, token.LEQ: token.GTR, token.GTR: token.LEQ,
		token.GEQ: token.LSS, token.EQL: token.NEQ, token.NEQ: token.EQL}
)

// comparison changes the bound of a comparison, or negates it.
func (f *finder) comparison(n ast.Node) {
	c, ok := n.(*ast.BinaryExpr)
	if !ok || f.isError(c.X) {
		return
	}
	for kind, other := range map[string]map[token.Token]token.Token{"bound": otherBound, "negation": opposite} {
		if to, ok := other[c.Op]; ok {
			changed := f.source(c.X) + " " + to.String() + " " + f.source(c.Y)
			f.addCondition(kind, c, changed, changed)
		}
	}
}

// condition leaves one side of && or || out, or what an if does.
func (f *finder) condition(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, side := range []ast.Expr{n.X, n.Y} {
			switch n.Op {
			case token.LAND:
				f.addCondition("condition", side, "(true || "+f.source(side)+")", "true in "+f.source(n))
			case token.LOR:
				f.addCondition("condition", side, "(false && "+f.source(side)+")", "false in "+f.source(n))
			}
		}
	case *ast.IfStmt:
		if c, ok := n.Cond.(*ast.BinaryExpr); ok && (c.Op == token.LAND || c.Op == token.LOR || f.isError(c.X)) {
			return
		}
		f.addCondition("condition", n.Cond, "(false && ("+f.source(n.Cond)+"))", "false")
	}
}

// constant adds and subtracts one. Of a duration the number changes, of another
// constant (1 << 20) the whole.
func (f *finder) constant(n ast.Node) {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.INT || strings.HasPrefix(literal.Value, "0o") || f.besideError() {
		return
	}
	var whole ast.Expr = literal
	for _, parent := range slices.Backward(f.above) {
		outer, ok := parent.(ast.Expr)
		if !ok {
			break
		}
		if call, ok := outer.(*ast.CallExpr); ok && f.isNoDecision(call) {
			return
		}
		if f.pkg.info.Types[outer].Value != nil {
			whole = outer
		}
	}
	value := f.pkg.info.Types[whole]
	if value.Value == nil || strings.Contains(f.source(whole), "iota") {
		return
	}
	if whole == ast.Expr(literal) || value.Type.String() == "time.Duration" {
		if v, err := strconv.ParseInt(literal.Value, 0, 64); err == nil {
			for _, to := range []int64{v - 1, v + 1} {
				text := strconv.FormatInt(to, 10)
				f.addValue("constant", literal, f.pkg.info.TypeOf(literal), text, text)
			}
		}
		return
	}
	if value.Value.Kind() == constant.Int && f.isFirst(whole, literal) {
		for _, by := range []string{" - 1", " + 1"} {
			f.addValue("constant", whole, value.Type, "("+f.source(whole)+by+")", f.source(whole)+by)
		}
	}
}

// besideError reports whether the node that is visited is returned beside an error that is
// not nil: nobody looks at it.
func (f *finder) besideError() bool {
	var returned ast.Expr
	for _, n := range slices.Backward(f.above) {
		switch n := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			returned = n.Results[len(n.Results)-1]
			if f.pkg.info.Types[returned].IsNil() || !f.isError(returned) {
				return false
			}
			switch e := returned.(type) {
			case *ast.CallExpr:
				return f.onlySays(e)
			case *ast.Ident:
				if of := f.pkg.info.Uses[e]; of.Parent() == of.Pkg().Scope() {
					return true
				}
			}
		case *ast.IfStmt:
			c, ok := n.Cond.(*ast.BinaryExpr)
			if ok && returned != nil && c.Op == token.NEQ && f.source(c.X) == f.source(returned) &&
				n.Body.Pos() < returned.Pos() && returned.End() < n.Body.End() {
				return true
			}
		}
	}
	return false
}

// isFirst reports whether a literal is the first number of a constant.
func (f *finder) isFirst(whole ast.Expr, literal *ast.BasicLit) bool {
	var first *ast.BasicLit
	ast.Inspect(whole, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && first == nil {
			first = l
		}
		return first == nil
	})
	return first == literal
}

// isNoDecision reports whether the numbers among a call's arguments are hints of
// size, or bases and sizes of numbers.
func (f *finder) isNoDecision(call *ast.CallExpr) bool {
	callee := f.callee(call)
	return callee != nil && (callee.Name() == "make" || callee.Name() == "Grow" ||
		callee.Pkg() != nil && callee.Pkg().Path() == "strconv")
}

// statement leaves out a call that is a statement of its own, or has its error looked
// at and nothing else.
func (f *finder) statement(n ast.Node) {
	switch s := n.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		// What is not registered is missing in the contract.
		if !ok || f.onlySays(call) || strings.HasPrefix(strings.ToLower(f.function), "register") {
			return
		}
		// Without one half of a pair of Lock and Unlock, every program ends or stands.
		if callee := f.callee(call); callee != nil && (callee.Name() == "panic" ||
			callee.Pkg() != nil && callee.Pkg().Path() == "sync" && strings.HasSuffix(callee.Name(), "ock")) {
			return
		}
	case *ast.IfStmt:
		set, ok := s.Init.(*ast.AssignStmt)
		if !ok || s.Else != nil || len(set.Rhs) != 1 || len(s.Body.List) != 1 {
			return
		}
		call, isCall := set.Rhs[0].(*ast.CallExpr)
		if _, returns := s.Body.List[0].(*ast.ReturnStmt); !returns || !isCall || !f.isError(call) {
			return
		}
	default:
		return
	}
	f.add("statement", f.instead(n, "if false { "+f.source(n)+" }"),
		f.instead(n, "if !mutantIsOn("+itsID+") { "+f.source(n)+" }"), "nothing")
}

// unreturned returns nil in place of an error.
func (f *finder) unreturned(n ast.Node) {
	r, ok := n.(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 || !f.returnsError() {
		return
	}
	last, made := r.Results[len(r.Results)-1], "nil"
	if f.pkg.info.Types[last].IsNil() {
		return
	}
	if call, ok := last.(*ast.CallExpr); ok && !f.onlySays(call) {
		if !f.isError(call) {
			return // it returns more
		}
		made = "func() error { _ = " + f.source(last) + "; return nil }()"
	}
	either := "mutantOr[error](" + itsID + ", nil, " + f.source(last) + ")"
	f.add("error", f.instead(last, made), f.instead(last, either), "nil")
}

// returnsError reports whether the last result of the function around is an error.
func (f *finder) returnsError() bool {
	for _, n := range slices.Backward(f.above) {
		var signature *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			signature = n.Type
		case *ast.FuncLit:
			signature = n.Type
		default:
			continue
		}
		results := signature.Results
		return results != nil && f.isError(results.List[len(results.List)-1].Type)
	}
	return false
}

// arguments exchanges two neighbours of one type.
func (f *finder) arguments(n ast.Node) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return
	}
	symmetric := []string{"max", "min", "Equal", "EqualFold"}
	if callee := f.callee(call); callee != nil && slices.Contains(symmetric, callee.Name()) {
		return
	}
	signature, _ := f.pkg.info.TypeOf(call.Fun).(*types.Signature)
	for i := range len(call.Args) - 1 {
		if signature != nil && signature.Variadic() && i+2 == signature.Params().Len() {
			continue // what a query says, and its first argument
		}
		a, b := call.Args[i], call.Args[i+1]
		first, second := f.source(a), f.source(b)
		of := f.pkg.info.TypeOf(a)
		if first == second || !types.Identical(of, f.pkg.info.TypeOf(b)) {
			continue
		}
		both := edit{start: f.file.Offset(a.Pos()), end: f.file.Offset(b.End())}
		made, switched := both, both
		made.text = second + ", " + first
		switched.text = f.either(a, of, second) + ", " + f.either(b, of, first)
		f.add("arguments", made, switched, made.text)
	}
}
