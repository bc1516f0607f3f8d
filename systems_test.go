package waymark_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// source is what go list says of a package.
type source struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Error           *struct{ Err string }
}

// checked are packages by their paths, with their types.
type checked struct {
	packages map[string]*types.Package
	paths    map[string]string // what an import of the package that is being read means
}

// Import implements types.Importer.
func (c *checked) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if meant, ok := c.paths[path]; ok {
		path = meant
	}
	if p := c.packages[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("there is no package %s", path)
}

// The program can be compiled for the systems that it is released for besides Linux. The types of all
// that it consists of are read; to compile it would take minutes.
func TestOtherSystems(t *testing.T) {
	for _, system := range []string{"darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,GoFiles,ImportMap,Error", "./cmd/waymark")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: go list: %v", system, err)
		}
		all, ours := &checked{packages: map[string]*types.Package{}}, 0
		// Each package comes after those that it imports.
		for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p source
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			own := strings.HasPrefix(p.ImportPath, module)
			if own {
				ours++
			}
			if p.Error != nil {
				t.Fatalf("%s: %s: %s", system, p.ImportPath, p.Error.Err)
			}
			for _, mistake := range all.check(t, &p, own) {
				t.Errorf("%s: %v", system, mistake)
			}
		}
		if ours < 50 {
			t.Errorf("%s: %d packages of ours", system, ours)
		}
	}
}

// check reads the types of a package, also those inside of functions where it is our own. It returns
// the mistakes in our own.
func (c *checked) check(t *testing.T, p *source, own bool) (mistakes []error) {
	t.Helper()
	if p.ImportPath == "unsafe" {
		return nil
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	c.paths = p.ImportMap
	config := types.Config{Importer: c, IgnoreFuncBodies: !own, Sizes: types.SizesFor("gc", "amd64"), Error: func(err error) {
		if own {
			mistakes = append(mistakes, err)
		}
	}}
	c.packages[p.ImportPath], _ = config.Check(p.ImportPath, files, parsed, nil)
	return mistakes
}
