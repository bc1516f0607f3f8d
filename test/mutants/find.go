package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// finder collects the mutants of a file while it is walked.
type finder struct {
	pkg      *source
	file     *token.File
	text     string
	function string
	above    []ast.Node // from the file to the node that is visited
	mutants  []mutant
}

// Visit implements ast.Visitor.
func (f *finder) Visit(n ast.Node) ast.Visitor {
	if n == nil {
		f.above = f.above[:len(f.above)-1]
		return nil
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		f.function = n.Name.Name
	case *ast.GenDecl:
		if len(f.above) == 1 {
			f.function = n.Tok.String()
		}
	case *ast.ImportSpec:
		return nil
	case *ast.CallExpr:
		if f.onlySays(n) {
			return nil
		}
	}
	f.comparison(n)
	f.condition(n)
	f.constant(n)
	f.query(n)
	f.statement(n)
	f.unreturned(n)
	f.arguments(n)
	f.above = append(f.above, n)
	return f
}

// onlySays reports whether a call makes a message, a line of the log or the
// description of a metric.
func (f *finder) onlySays(call *ast.CallExpr) bool {
	callee := f.callee(call)
	if callee == nil || callee.Pkg() == nil {
		return false
	}
	switch from := callee.Pkg().Path(); from {
	case "fmt", "errors", "log/slog", "go.uber.org/zap", internal + "fault":
		return true
	default:
		return (strings.HasSuffix(from, "/prometheus") || strings.HasSuffix(from, "/promauto")) && strings.HasPrefix(callee.Name(), "New")
	}
}

// callee returns the function that is called, or nil.
func (f *finder) callee(call *ast.CallExpr) types.Object {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.pkg.info.Uses[fun]
	case *ast.SelectorExpr:
		return f.pkg.info.Uses[fun.Sel]
	}
	return nil
}

// isError reports whether an expression is of type error.
func (f *finder) isError(e ast.Expr) bool {
	t := f.pkg.info.TypeOf(e)
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// source returns the text of a node.
func (f *finder) source(n ast.Node) string {
	return f.text[f.file.Offset(n.Pos()):f.file.Offset(n.End())]
}

// instead returns the edit that has other text in the place of a node.
func (f *finder) instead(n ast.Node, text string) edit {
	return edit{f.file.Offset(n.Pos()), f.file.Offset(n.End()), text}
}

// add adds a mutant. to is how its text is told.
func (f *finder) add(kind string, made, switched edit, to string) {
	on, _, _ := strings.Cut(f.text[strings.LastIndexByte(f.text[:made.start], '\n')+1:], "\n")
	m := mutant{Kind: kind, File: f.file.Name(), Line: f.file.Line(f.file.Pos(made.start)), Function: f.function,
		On: strings.TrimSpace(on), From: oneLine(f.text[made.start:made.end]), To: oneLine(to),
		made: made, switched: switched}
	if i := slices.IndexFunc(equivalents, m.is); i >= 0 {
		m.Verdict, m.By = equivalent, equivalents[i].reason
	}
	f.mutants = append(f.mutants, m)
}

// addCondition adds a mutant of a condition.
func (f *finder) addCondition(kind string, n ast.Expr, text, to string) {
	either := fmt.Sprintf("(mutantIsOn(%[1]s) && (%[2]s) || !mutantIsOn(%[1]s) && (%[3]s))", itsID, text, f.source(n))
	f.add(kind, f.instead(n, text), f.instead(n, either), to)
}

// addValue adds a mutant of a value of a type.
func (f *finder) addValue(kind string, n ast.Expr, of types.Type, text, to string) {
	f.add(kind, f.instead(n, text), f.instead(n, f.either(n, of, text)), to)
}

// either returns an expression that is a node's, or another.
func (f *finder) either(n ast.Expr, of types.Type, text string) string {
	name := types.TypeString(types.Default(of), func(p *types.Package) string {
		if p.Path() == internal+f.pkg.name {
			return ""
		}
		return p.Name()
	})
	return fmt.Sprintf("mutantOr[%s](%s, %s, %s)", name, itsID, text, f.source(n))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
