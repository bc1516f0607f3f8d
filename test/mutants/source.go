package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// All packages are named by their folder below this one.
const (
	folder   = "internal/"
	internal = "github.com/waymarkhq/waymark/" + folder
)

// source is a package that mutants are drawn from.
type source struct {
	name, title string // automation/batches, batches
	texts       map[string]string
	info        *types.Info
	imports     types.Importer
}

// sources returns packages by their names.
func sources(ctx context.Context, names []string) (map[string]*source, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-deps", "-export", "-json=ImportPath,Name,Export,GoFiles",
		"./internal/...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports, found := map[string]string{}, map[string]*source{}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		return os.Open(exports[name])
	})
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Name, Export string
			GoFiles                  []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		name := strings.TrimPrefix(p.ImportPath, internal)
		if !slices.Contains(names, name) {
			continue
		}
		s := &source{name: name, title: p.Name, texts: map[string]string{}, imports: imports}
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(path.Join(folder, name, file))
			if err != nil {
				return nil, err
			}
			s.texts[path.Join(folder, name, file)] = string(text)
		}
		found[name] = s
	}
}

// check compiles the package with other texts of some of its files, as far as types go.
func (s *source) check(other map[string]string) (fset *token.FileSet, files []*ast.File, info *types.Info,
	err error) {
	fset = token.NewFileSet()
	info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	texts := map[string]string{path.Join(folder, s.name, helperFile): s.helper()}
	for _, from := range []map[string]string{s.texts, other} {
		for name, text := range from {
			texts[name] = text
		}
	}
	for _, name := range sorted(texts) {
		f, err := parser.ParseFile(fset, name, texts[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, nil, err
		}
		files = append(files, f)
	}
	_, err = (&types.Config{Importer: s.imports}).Check(internal+s.name, fset, files, info)
	return fset, files, info, err
}

// mutants returns every mutant of the package.
func (s *source) mutants() (all []mutant, err error) {
	fset, files, info, err := s.check(nil)
	if err != nil {
		return nil, err
	}
	s.info = info
	for _, f := range files {
		file := fset.File(f.Pos())
		if text, ours := s.texts[file.Name()]; ours && !ast.IsGenerated(f) {
			found := &finder{pkg: s, file: file, text: text}
			ast.Walk(found, f)
			all = append(all, found.mutants...)
		}
	}
	return all, nil
}

// compiles reports whether the package is a program with an edit of a file.
func (s *source) compiles(file string, e edit) bool {
	_, _, _, err := s.check(map[string]string{file: applied(s.texts[file], []edit{e})})
	return err == nil
}

// applied returns a text with edits, which do not overlap.
func applied(text string, edits []edit) string {
	edits = slices.SortedFunc(slices.Values(edits), func(a, b edit) int { return b.start - a.start })
	for _, e := range edits {
		text = text[:e.start] + e.text + text[e.end:]
	}
	return text
}
