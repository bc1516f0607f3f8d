package waymark_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// testOnly packages may import anything and are imported by tests alone.
var testOnly = []string{"csvtable/csvtest", "visitor/visitortest", "store/storetest", "store/storetest/withpostgres",
	"dnsprovider/dnstest", "dnslookup/dnstest", "certificate/pebbletest",
	"eventstore/enginetest", "tracing/tracingtest", "eventstore/clickhouse/clickhousetest", "apitest", "apitest/conformance", "apitest/refused"}

const (
	module   = "github.com/waymarkhq/waymark/"
	internal = module + "internal/"
)

// floors returns the floor of each package that the map in CONTRIBUTING.md draws, from 1 for
// the lowest line. The order of packages is written down there alone: a package
// imports only from lines below its own.
func floors(t *testing.T) map[string]int {
	t.Helper()
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, drawing, found := strings.Cut(string(page), "```text\ncmd/waymark")
	drawing, _, ended := strings.Cut("cmd/waymark"+drawing, "\n```\n")
	if !found || !ended {
		t.Fatal("CONTRIBUTING.md has no map of packages that begins with cmd/waymark")
	}
	lines := strings.Split(drawing, "\n")
	floor := map[string]int{}
	for i, line := range lines {
		names, _, described := strings.Cut(line, "#")
		if !described {
			t.Errorf("the map's line %q does not say what its packages are for", line)
		}
		for _, name := range strings.Fields(names) {
			if floor[name] != 0 {
				t.Errorf("%s is on the map twice", name)
			}
			floor[name] = len(lines) - i
		}
	}
	return floor
}

// TestFloors holds the imports against the map. A package that is not drawn lives
// in the folder of one that is, which alone imports it.
func TestFloors(t *testing.T) {
	floor, forTests := floors(t), map[string]bool{}
	for _, name := range testOnly {
		forTests[name] = true
	}
	// drawn returns the package on the map that a package belongs to, "" for none.
	drawn := func(name string) string {
		for name != "." && floor[name] == 0 {
			name = path.Dir(name)
		}
		return strings.TrimPrefix(name, ".")
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Doc", "./internal/...", "./cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Doc string
			Imports         []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, internal), module)
		seen[name] = true
		if forTests[name] {
			continue
		}
		own := drawn(name)
		if own == "" {
			t.Errorf("%s is not on the map in CONTRIBUTING.md: draw it on the line that it belongs to", name)
		}
		for _, imported := range p.Imports {
			other, ok := strings.CutPrefix(imported, internal)
			if !ok {
				continue
			}
			switch owner := drawn(other); {
			case forTests[other]:
				t.Errorf("%s imports %s, which is for tests", name, other)
			case owner != "" && floor[other] == 0 && owner != own:
				t.Errorf("%s imports %s, which is for %s alone", name, other, owner)
			case own != "" && floor[other] != 0 && floor[other] >= floor[own]:
				t.Errorf("%s imports %s, which the map does not draw below it", name, other)
			}
		}
	}
	for name := range floor {
		if !seen[name] {
			t.Errorf("%s is on the map but not in the tree", name)
		}
	}
	for _, name := range testOnly {
		if !seen[name] {
			t.Errorf("%s is for tests but not in the tree", name)
		}
	}
}
