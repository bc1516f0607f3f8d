package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
)

// What make build set stands in the line; nothing in it is ever empty.
func TestVersionText(t *testing.T) {
	t.Cleanup(func() { version, commit = "", "" })
	if got, want := versionText(), fmt.Sprintf("waymark dev, commit unknown, schema %d",
		store.NewestSchema); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	version, commit = "v1.2.3", "0123456789ab"
	if got, want := versionText(), fmt.Sprintf("waymark v1.2.3, commit 0123456789ab, schema %d",
		store.NewestSchema); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The help of the program, and that of no command, says what is built in.
func TestHelpSaysWhatIsBuiltIn(t *testing.T) {
	help := func(args ...string) string {
		t.Helper()
		parser, err := newParser(t.Context(), &configFile{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		parser.Stdout, parser.Exit = &out, func(int) {}
		parser.Parse(append(args, "--help")) // the command line goes on where the program would have ended
		return out.String()
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	table, err := os.ReadFile("../../api/spec/operations.tsv")
	if err != nil {
		t.Fatal(err)
	}
	operations := bytes.Count(table, []byte("\n"))
	_, paragraph, found := strings.Cut(help(), "\nBuilt in: ")
	if !found {
		t.Fatalf("no paragraph in\n%s", help())
	}
	paragraph = strings.Join(strings.Fields(paragraph), " ")
	for _, part := range []string{
		fmt.Sprintf("schema %d;", store.NewestSchema), "databases sqlite and postgres;",
		"engines of events segments, database, clickhouse;", fmt.Sprintf("%d operations of the API;", operations),
		fmt.Sprintf("%d pages of documentation;", len(pages)),
		runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
	} {
		if !strings.Contains(paragraph, part) {
			t.Errorf("%q is not in %q", part, paragraph)
		}
	}
	if strings.Contains(help("serve"), "Built in: ") {
		t.Error("the help of serve has the paragraph, too")
	}
}
