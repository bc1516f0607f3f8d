package imports_test

import (
	"encoding/csv"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/apitest"
)

var update = flag.Bool("update", false, "write the links that come of the sample files")

const docs = "../../../docs/"

// The mappings of the documentation, run against files laid out as the products
// lay them out: testdata has what each comes to. HOST stands for the domain.
func TestMappings(t *testing.T) {
	samples, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		for n, sample := range samples {
			name, format, _ := strings.Cut(filepath.Base(sample), ".")
			if format != "csv" && format != "json" {
				continue
			}
			owner := i.Prepared(t, "owner"+string(rune('a'+n))+"@example.com")
			setDestinations(owner)
			var mapping M
			if err := json.Unmarshal(file(t, docs+"mappings/"+name+".json"), &mapping); err != nil {
				t.Fatal(err)
			}
			content := strings.ReplaceAll(string(file(t, sample)), "HOST", owner.Host)
			created := owner.Call("POST", "/imports", M{"appId": owner.AppID, "format": format, "content": content,
				"mapping": mapping}).Want(201)
			validated := validate(owner, created).Want(200)
			commit(owner, validated).Want(202)
			i.Settle(t)
			if got := items(owner, created); strings.Count(string(got.Body),
				`"state":"succeeded"`) != int(count(validated, "data.total")) {
				t.Errorf("%s: %s", name, got.Body)
			}
			got := strings.ReplaceAll(links(t, owner), owner.Host, "HOST")
			want := "testdata/" + name + ".links"
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(file(t, want)) {
				t.Errorf("%s gives the links\n%s", name, got)
			}
		}
	})
}

// links returns all of the app's links without what is new each time.
func links(t *testing.T, c *apitest.Client) string {
	t.Helper()
	var all []map[string]jsontext.Value
	if err := json.Unmarshal([]byte(c.Call("GET", "/links?order=createdAt:asc&appId="+c.AppID, nil).Want(200).
		Value("data")), &all); err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		for _, name := range []string{"id", "appId", "revision", "createdAt", "updatedAt", "publication"} {
			delete(l, name)
		}
	}
	slices.SortFunc(all, func(a, b map[string]jsontext.Value) int {
		return strings.Compare(string(a["url"]),
			string(b["url"]))
	})
	text, err := json.Marshal(all, json.Deterministic(true), jsontext.WithIndent(" "))
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The documentation shows the very mappings.
func TestDocumentedMappings(t *testing.T) {
	text := string(file(t, docs+"importing.md"))
	all, err := filepath.Glob(docs + "mappings/*.json")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, name := range all {
		if !strings.Contains(text, "```json\n"+string(file(t, name))+"```\n") {
			t.Errorf("importing.md does not show %s as it is", name)
		}
	}
}

// The documented script cuts a table into files that imports take, and loses
// nothing.
func TestDocumentedSplit(t *testing.T) {
	_, script, found := strings.Cut(string(file(t, docs+"importing.md")), "```sh\nLC_ALL=C awk")
	script, _, closed := strings.Cut(script, "\n```")
	if !found || !closed {
		t.Fatal("importing.md shows no such script")
	}
	long := strings.Repeat("é", 500)
	table := [][]string{{"slug", "title"}}
	for n := range 130 {
		title := "plain"
		switch n % 3 {
		case 1:
			title = "line\n\"break\", and more\n"
		case 2:
			title = long
		}
		table = append(table, []string{"s" + string(rune('a'+n%26)), title})
	}
	dir := t.TempDir()
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(table); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "large.csv"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("sh", "-c", "LC_ALL=C awk"+script)
	run.Dir = dir
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	parts, err := filepath.Glob(filepath.Join(dir, "part-*.csv"))
	if err != nil || len(parts) < 3 {
		t.Fatal(parts, err)
	}
	got := [][]string{table[0]}
	for _, part := range parts {
		content := file(t, part)
		rows, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
		if err != nil || len(content) > 24_000 || len(rows) > 51 || !slices.Equal(rows[0], table[0]) {
			t.Errorf("%s has %d bytes and %d rows: %v", part, len(content), len(rows), err)
		}
		got = append(got, rows[1:]...)
	}
	if !slices.EqualFunc(got, table, slices.Equal) {
		t.Error("the parts together are not the table")
	}
}
