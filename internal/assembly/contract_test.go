package assembly_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/internal/apitest/conformance"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/op"
)

var update = flag.Bool("update", false, "rewrite api/openapi.yaml")

const golden = "../../api/openapi.yaml"

func contract(t *testing.T) (*op.Pipeline, []byte) {
	t.Helper()
	s := op.New(op.Options{Log: slog.New(slog.DiscardHandler)})
	assembly.Declare(s, assembly.Options{})
	text, err := s.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return s, text
}

// The contract in the repository is the one that the rows make.
func TestContractIsGolden(t *testing.T) {
	_, text := contract(t)
	if *update {
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(text)
			err = errors.Join(err, z.Close(), os.WriteFile(golden, text, 0o644), os.WriteFile(golden+".gz", packed.Bytes(), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
		return // the file that is built in is the one before
	}
	stored, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, text) || !bytes.Equal(api.Contract(), text) {
		t.Errorf("api/openapi.yaml or openapi.yaml.gz is not what the operations say; run: go test ./internal/assembly -run Golden -update")
	}
}

func TestContractIsValidOpenAPI(t *testing.T) {
	_, text := contract(t)
	if wrong, err := conformance.Validate(text); err != nil || len(wrong) > 0 {
		t.Errorf("%v, %q", err, wrong)
	}
	if !bytes.HasPrefix(text, []byte("openapi: 3.1.0\n")) {
		t.Error("the contract is not OpenAPI 3.1.0")
	}
}

// Each row of the operation table is declared as it stands there, and nothing else
// is.
func TestRowsAreTheTable(t *testing.T) {
	s, _ := contract(t)
	table, err := os.ReadFile("../../api/spec/operations.tsv")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]op.Op{}
	for _, o := range s.Ops() {
		declared[o.ID] = o
	}
	rows := 0
	for line := range strings.Lines(string(table)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 {
			t.Fatalf("row %q has %d columns", line, len(f))
		}
		rows++
		method, path, permission, human, id := f[0], f[1], f[2], f[3] == "H", f[4]
		o, ok := declared[id]
		if !ok {
			t.Errorf("%s is not declared", id)
		} else if o.Method != method || o.Path != path || o.Perm != permission || o.Human != human {
			t.Errorf("%s is declared as %s %s %s human=%v, the table says %s", id, o.Method, o.Path, o.Perm, o.Human,
				line)
		}
		delete(declared, id)
	}
	for id := range declared {
		t.Errorf("%s is not in the table", id)
	}
	if rows != 143 {
		t.Errorf("the table has %d rows, want 143", rows)
	}
}
