package waymark_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// architecture returns docs/architecture.md.
func architecture(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func parse(t *testing.T, name string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// declared returns the names of a file's functions, methods, types, constants and
// variables.
func declared(t *testing.T, name string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, d := range parse(t, name).Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[d.Name.Name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
	return names
}

var place = regexp.MustCompile("`([^`\\s]+\\.go):(\\w+)`")

// Each place that docs/architecture.md names is a declaration in that file.
func TestArchitectureNamesPlaces(t *testing.T) {
	places := place.FindAllStringSubmatch(architecture(t), -1)
	if len(places) == 0 {
		t.Error("docs/architecture.md names no place in the code")
	}
	inFile := map[string]map[string]bool{}
	for _, p := range places {
		file, name := p[1], p[2]
		if inFile[file] == nil {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("docs/architecture.md names %s:%s: %v", file, name, err)
				continue
			}
			inFile[file] = declared(t, file)
		}
		if !inFile[file][name] {
			t.Errorf("docs/architecture.md names %s, which %s does not declare", name, file)
		}
	}
}

// rowOfTable is a row of the table of owners.
var rowOfTable = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `([\\w/]+)` \\|")

// owners returns the owner of each table, as docs/architecture.md has them.
func owners(t *testing.T) map[string]string {
	t.Helper()
	_, section, found := strings.Cut(architecture(t), "\n## Tables and their owners\n")
	if !found {
		t.Fatal("docs/architecture.md has no section with the owners of tables")
	}
	owner := map[string]string{}
	for _, row := range rowOfTable.FindAllStringSubmatch(section, -1) {
		if owner[row[1]] != "" {
			t.Errorf("docs/architecture.md has table %s twice", row[1])
		}
		owner[row[1]] = row[2]
	}
	return owner
}

// The tables with an owner are those that the migrations leave, and the owners are
// packages. (Both engines have the same tables.)
func TestArchitectureNamesOwnersOfTables(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	tables, err := store.All(t.Context(), db, store.Value[string],
		"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	owner := owners(t)
	for _, table := range tables {
		if owner[table] == "" {
			t.Errorf("docs/architecture.md does not say who owns table %s", table)
		}
	}
	for table, name := range owner {
		if !slices.Contains(tables, table) {
			t.Errorf("docs/architecture.md has the owner of %s, which is no table", table)
		}
		if files, err := filepath.Glob(path.Join("internal", name, "*.go")); err != nil || len(files) == 0 {
			t.Errorf("docs/architecture.md has %s owned by %s, which is no package", table, name)
		}
	}
}

var insertion = regexp.MustCompile(`INSERT INTO (\w+)`)

// Only the owner of a table inserts rows.
func TestOwnersInsert(t *testing.T) {
	owner := owners(t)
	err := filepath.WalkDir("internal", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		for _, found := range insertion.FindAllStringSubmatch(string(source), -1) {
			if in := strings.TrimPrefix(path.Dir(name), "internal/"); in != owner[found[1]] {
				t.Errorf("%s inserts into %s, which belongs to %s", name, found[1], owner[found[1]])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// states returns the value of each constant by its name, of the groups whose
// comment begins with "The states" or "The statuses".
func states(t *testing.T, name string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, d := range parse(t, name).Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST ||
			!strings.HasPrefix(group.Doc.Text(), "The states ") &&
				!strings.HasPrefix(group.Doc.Text(), "The statuses ") {
			continue
		}
		for _, s := range group.Specs {
			s := s.(*ast.ValueSpec)
			value, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values[s.Names[0].Name] = value
		}
	}
	return values
}

var (
	diagram = regexp.MustCompile("(?s)```mermaid\nstateDiagram-v2\n    %% states of (\\S+)\n(.*?)```")
	state   = regexp.MustCompile(`state "(\w+)" as (\w+)`)
	arrow   = regexp.MustCompile(`(?m)^ *(\S+) --> (\S+?):?(?: |$)`)
)

// Each diagram has the states that its file declares, and no others.
func TestArchitectureDrawsStates(t *testing.T) {
	page := architecture(t)
	files := []string{
		"internal/delivery/delivery.go", "internal/domain/state.go", "internal/durable/operation.go",
		"internal/publication/publication.go",
	}
	for _, d := range diagram.FindAllStringSubmatch(page, -1) {
		file, drawing := d[1], d[2]
		if i := slices.Index(files, file); i >= 0 {
			files = slices.Delete(files, i, i+1)
		}
		drawn := map[string]string{}
		for _, s := range state.FindAllStringSubmatch(drawing, -1) {
			drawn[s[2]] = s[1]
		}
		if want := states(t, file); len(want) == 0 || !maps.Equal(drawn, want) {
			t.Errorf("docs/architecture.md draws the states %v, but %s declares %v", drawn, file, want)
		}
		for _, a := range arrow.FindAllStringSubmatch(drawing, -1) {
			for _, end := range a[1:] {
				if end != "[*]" && drawn[end] == "" {
					t.Errorf("docs/architecture.md draws an arrow of %s with %s, which is no state", file, end)
				}
			}
		}
	}
	for _, file := range files {
		t.Errorf("docs/architecture.md does not draw the states of %s", file)
	}
	if drawings := strings.Count(page, "```mermaid"); drawings != len(diagram.FindAllString(page, -1)) {
		t.Errorf("docs/architecture.md has %d drawings, and one of them does not say which file has its states",
			drawings)
	}
}
