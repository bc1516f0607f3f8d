package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

var (
	// sqlCondition is one condition of a query, which ends where andThen begins.
	sqlCondition = regexp.MustCompile(`\b(?:AND|WHERE)\s+([\w.]+\s+` +
		`(?:(?:=|<>|<=|>=|<|>)\s+(?:\?|'[^']*'|\d+|[a-z_.]+)|IS (?:NOT )?NULL|(?:NOT )?IN \([^()]*\)))`)
	andThen  = regexp.MustCompile("^\\s*(?:[`\")]|(?:AND|OR|ORDER|GROUP|LIMIT|RETURNING|UNION|ON)\\b)")
	sqlBound = regexp.MustCompile(`([\w.]+\)?)\s(<=|>=|<|>)\s+(?:\?|CAST|\(|[a-z])`)
)

// query leaves a condition or the row lock of a query out, or changes the bound of a condition, whose
// argument stays.
func (f *finder) query(n ast.Node) {
	if part, ok := n.(*ast.SelectorExpr); ok && (part.Sel.Name == "LockRow" || part.Sel.Name == "SkipLocked") {
		f.addValue("query", part, types.Typ[types.String], `""`, "nothing")
	}
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	if _, tag := f.above[len(f.above)-1].(*ast.Field); tag {
		return
	}
	text, at := literal.Value, f.file.Offset(literal.Pos())
	quote := text[:1]
	// The switch stands where the condition does, so that those of one query are compiled together.
	change := func(kind string, start, end int, instead, to string) {
		either := quote + " + mutantOr(" + itsID + ", " + quote + instead + quote + ", " + quote + text[start:end] + quote + ") + " + quote
		f.add(kind, edit{at + start, at + end, instead}, edit{at + start, at + end, either}, to)
	}
	for _, place := range sqlCondition.FindAllStringSubmatchIndex(text, -1) {
		if start, end := place[2], place[3]; andThen.MatchString(text[end:]) {
			change("query", start, end, "(1 = 1 OR "+text[start:end]+")", "nothing")
		}
	}
	if !strings.Contains(text, "?") {
		return
	}
	for _, place := range sqlBound.FindAllStringSubmatchIndex(text, -1) {
		start, end := place[4], place[5]
		to := text[place[2]:start] + map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[text[start:end]]
		change("bound", place[2], end, to, to+" …")
	}
}
