package waymark_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// calls reports whether a call is one of a function of a package.
func calls(call *ast.CallExpr, pkg, name string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != name {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// bubbles returns the functions of test files that run something in a bubble of
// testing/synctest.
func bubbles(files []*ast.File) map[string]bool {
	found := map[string]bool{}
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && calls(call, "synctest", "Test") {
					found[f.Name.Name] = true
				}
				return true
			})
		}
	}
	return found
}

// TestSleeps finds time.Sleep in tests outside the bubbles of testing/synctest,
// whose time is not real. Elsewhere a sleep is too long on a fast machine and too
// short on a slow one: storetest.Eventually waits until something holds.
func TestSleeps(t *testing.T) {
	set := token.NewFileSet()
	packages := map[string][]*ast.File{}
	if err := filepath.WalkDir("internal", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		packages[path.Dir(name)] = append(packages[path.Dir(name)], file)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, files := range packages {
		inBubble := bubbles(files)
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if calls(call, "time", "Sleep") {
					t.Errorf("%s sleeps outside a bubble of testing/synctest", set.Position(call.Pos()))
				}
				f, named := call.Fun.(*ast.Ident)
				return !calls(call, "synctest", "Test") && !(named && inBubble[f.Name])
			})
		}
	}
}
