package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/client"
	"github.com/waymarkhq/waymark/internal/csvtable"
)

// For every operation that needs a revision there is one that reads it, from the same resource.
func TestSourcesOfRevisions(t *testing.T) {
	n := 0
	for _, o := range api.Operations() {
		if !o.NeedsRevision {
			continue
		}
		n++
		read := readerOf(&o)
		if read == nil || !strings.HasPrefix(o.Path, read.Path) {
			t.Errorf("%s: no operation reads its revision", o.ID)
			continue
		}
		if !read.Tagged && read.Data.Items.Member("revision") == nil {
			t.Errorf("%s: rows of %s have no revision", o.ID, read.ID)
		}
	}
	if n < 30 {
		t.Errorf("%d operations need a revision", n)
	}
}

// The flags of every operation can be made, and no two have one name.
func TestFlagsOfEveryOperation(t *testing.T) {
	for _, o := range api.Operations() {
		words := completeCall([]string{o.ID, "--"})
		if !slices.Contains(words, "--context") {
			t.Errorf("%s: flags %q", o.ID, words)
		}
		for _, p := range o.Parameters {
			if !slices.Contains(words, "--"+flagName(p.Name)) {
				t.Errorf("%s has no flag for %s", o.ID, p.Name)
			}
		}
		for flag, has := range map[string]bool{"--field": o.Body != nil && !o.Upload, "--if-match": o.TakesRevision,
			"--idempotency-key": o.Mutates(), "--all": o.Paged, "--out": len(o.Files) > 0, "--file": o.Upload} {
			if slices.Contains(words, flag) != has {
				t.Errorf("%s has %s: %t", o.ID, flag, !has)
			}
		}
		slices.Sort(words)
		if len(slices.Compact(slices.Clone(words))) != len(words) {
			t.Errorf("%s: two flags have one name: %q", o.ID, words)
		}
	}
}

// Fields have the types of the contract; what the contract does not know goes to the server as text.
func TestFields(t *testing.T) {
	o, err := findOperation("createlinks") // in any case
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		fields []string
		json   string
		want   string
	}{
		{[]string{"slug=a", "title=12"}, "", `{"appId":"app_1","slug":"a","title":"12"}`},
		{[]string{"appId=app_2"}, "", `{"appId":"app_2"}`},
		{[]string{"webOnly=true", "lifecycle.maxClicks=5"}, "", `{"appId":"app_1","lifecycle":{"maxClicks":5},"webOnly":true}`},
		{[]string{"webOnly=perhaps"}, "", `{"appId":"app_1","webOnly":"perhaps"}`},
		{[]string{"utm.source=a=b", "utm.medium="}, "", `{"appId":"app_1","utm":{"medium":"","source":"a=b"}}`},
		{[]string{`parameters:={"n":12345678901234567890}`, "title:=null"}, "", `{"appId":"app_1","parameters":{"n":12345678901234567890},"title":null}`},
		{[]string{"slug=b"}, `{"slug":"a","utm":{"source":"x"}}`, `{"appId":"app_1","slug":"b","utm":{"source":"x"}}`},
		{[]string{"nothing.like=this"}, "", `{"appId":"app_1","nothing":{"like":"this"}}`},
	} {
		made, err := body(o.Body, &bodyFlags{Field: test.fields, JSON: test.json}, place{App: "app_1"})
		if err != nil {
			t.Errorf("%q: %v", test.fields, err)
			continue
		}
		if got, err := encode(made); err != nil || got != test.want {
			t.Errorf("%q: %s, %v; want %s", test.fields, got, err, test.want)
		}
	}
	for _, wrong := range []string{"null", "[]", `{"a":1} {"b":2}`, "{", ""} {
		if _, err := body(o.Body, &bodyFlags{JSON: "@" + filepath.Join(t.TempDir(), "none")}, place{}); ExitCode(err) != exitUsage {
			t.Errorf("a file that is not there: %v", err)
		}
		name := filepath.Join(t.TempDir(), "body.json")
		if err := os.WriteFile(name, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if made, err := body(o.Body, &bodyFlags{JSON: "@" + name}, place{App: "app_1"}); ExitCode(err) != exitUsage {
			t.Errorf("--json %q: %v, %v", wrong, made, err)
		}
	}
	for _, wrong := range []string{"slug", "=a", "parameters=x", "slug:=x", "slug:=1 2", "title.a=b\x00"} {
		_, err := body(o.Body, &bodyFlags{Field: []string{wrong}, JSON: `{"title":"t"}`}, place{})
		if ExitCode(err) != exitUsage {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if _, err := body(o.Body, &bodyFlags{Field: []string{"slug=a", "slug=b"}}, place{}); ExitCode(err) != exitUsage {
		t.Errorf("a field that is given twice: %v", err)
	}
	keys, err := findOperation("createApiKeys")
	if err != nil {
		t.Fatal(err)
	}
	made, err := body(keys.Body, &bodyFlags{Field: []string{"permissions=links:read", "permissions=links:create"}}, place{})
	if got, _ := encode(made); err != nil || got != `{"permissions":["links:read","links:create"]}` {
		t.Errorf("a list: %s, %v", got, err)
	}
}

// A message names rows of the file, not of a part of it, and each field.
func TestExplainedItems(t *testing.T) {
	e := &client.Error{Message: "whole", Details: []client.Detail{{Path: "/slug", Message: "item 2 of this import has the same address"},
		{Path: "/utm/source", Message: "item 9 of this import, item 0 of this import"}}}
	const want = "slug: row 52 has the same address; utm.source: item 9 of this import, item 0 of this import"
	if got := explainItem(e, []int{51, 52, 53}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := explainItem(&client.Error{Message: "item 1 of this import"}, []int{51}); got != "row 51" {
		t.Errorf("%q", got)
	}
	if got := span([]int{7}) + ", " + span([]int{7, 8, 11}); got != "row 7, rows 7 to 11" {
		t.Errorf("%q", got)
	}
}

// Columns are lined up as a terminal shows them, whatever the letters.
func TestTable(t *testing.T) {
	var tab table
	tab.add("title", "state")
	tab.add("日本語", "active")
	tab.add("e\u0301té", "")
	tab.add("", "archived")
	var out strings.Builder
	if err := tab.write(&out); err != nil {
		t.Fatal(err)
	}
	const want = "title   state\n日本語  active\ne\u0301té     \n        archived\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// Help tells which fields a call cannot do without, and which the context gives.
func TestRequiredFieldsInHelp(t *testing.T) {
	o, err := findOperation("createTags")
	if err != nil {
		t.Fatal(err)
	}
	help := explain(o)
	for _, want := range []string{"appId (string) from the context by default", "name (string) required", "archived (boolean)"} {
		if !strings.Contains(help, "\n  "+want+"\n") {
			t.Errorf("help lacks %q:\n%s", want, help)
		}
	}
}

// Exit codes tell the class of an error.
func TestExitCodes(t *testing.T) {
	for status, want := range map[int]int{400: 6, 401: 3, 403: 3, 404: 4, 405: 6, 409: 5, 412: 5, 413: 6, 415: 6, 422: 6, 428: 5, 429: 7, 500: 8, 502: 8, 503: 8} {
		if got := ExitCode(fmt.Errorf("call: %w", &client.Error{Status: status})); got != want {
			t.Errorf("%d: exit code %d, want %d", status, got, want)
		}
	}
	for want, err := range map[int]error{0: nil, 1: errors.New("x"), 2: usage("x"), 8: &client.LostError{}} {
		if got := ExitCode(err); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
	}
}

// Each product is recognised by its files, which have links of it alone.
func TestProducts(t *testing.T) {
	samples, err := filepath.Glob("../automation/imports/testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, sample := range samples {
		if filepath.Ext(sample) == ".links" {
			continue
		}
		n++
		content, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		f, err := readLinks(sample, content)
		if err != nil {
			t.Error(err)
			continue
		}
		want := strings.TrimSuffix(filepath.Base(sample), filepath.Ext(sample))
		if m, got, err := chooseMapping("", f.columns); err != nil || got != want || m["webOnly"] == nil && products()[want]["webOnly"] != nil {
			t.Errorf("%s is a file of %q, %v", sample, got, err)
		}
		if _, got, err := chooseMapping(want, f.columns); err != nil || got != want {
			t.Errorf("%s, named: %q, %v", sample, got, err)
		}
	}
	if n != len(products())-1 { // but Waymark's own
		t.Errorf("%d samples of %d products", n, len(products()))
	}
	if _, _, err := chooseMapping("short.io", []string{"link"}); err == nil || !strings.Contains(err.Error(), "originalURL") {
		t.Errorf("a file of another product: %v", err)
	}
	if _, _, err := chooseMapping("bitley", nil); err == nil || !strings.Contains(err.Error(), "did you mean bitly?") {
		t.Errorf("a misspelt product: %v", err)
	}
}

// A part has at most 50 rows, 24,000 bytes and a request of 32 KiB; every row is in one part, in
// its order, or too large.
func TestParts(t *testing.T) {
	m := mapping{"slug": "slug", "url": "desktopUrl", "title": "title"}
	for _, test := range []struct {
		name   string
		format string
		title  func(int) string
		rows   int
		parts  int
		large  []int
	}{
		{"small rows", "csv", func(int) string { return "t" }, 101, 3, nil},
		{"exactly full", "csv", func(int) string { return "t" }, 100, 2, nil},
		{"small objects", "json", func(int) string { return "t" }, 51, 2, nil},
		{"long rows", "csv", func(int) string { return strings.Repeat("x", 5000) }, 8, 2, nil},
		{"rows that double as JSON", "csv", func(int) string { return strings.Repeat(`"`, 2000) }, 9, 3, nil},
		{"objects that double as JSON", "json", func(int) string { return strings.Repeat(`"`, 2000) }, 9, 3, nil},
		{"too large", "csv", func(i int) string { return strings.Repeat("x", i*8000) }, 4, 2, []int{3, 4}},
		{"too large as JSON", "csv", func(i int) string { return strings.Repeat(`"`, i*3500) }, 3, 2, []int{3}},
	} {
		f := &linkFile{format: test.format, columns: []string{"slug", "url", "title", "other"}}
		for i := range test.rows {
			row := linkRow{i + 1, map[string]any{}}
			for column, text := range map[string]string{"slug": fmt.Sprint("s", i), "url": "http://a.example/", "title": test.title(i + 1), "other": "x"} {
				if row.values[column] = any(text); test.format == "csv" {
					row.values[column] = csvtable.Cell{Text: text}
				}
			}
			f.rows = append(f.rows, row)
		}
		parts, large := f.parts(m, true)
		if len(parts) != test.parts || !slices.Equal(large, test.large) {
			t.Errorf("%s: %d parts, %v are too large; want %d and %v", test.name, len(parts), large, test.parts, test.large)
		}
		var rows []int
		for _, p := range parts {
			rows = append(rows, p.rows...)
			request := asText(map[string]any{"appId": strings.Repeat("x", 40), "format": test.format, "mapping": m, "content": p.content})
			if len(p.rows) > 50 || len(p.content) > 24_000 || len(request) > 32<<10 {
				t.Errorf("%s: a part of %d rows, %d bytes, in a request of %d", test.name, len(p.rows), len(p.content), len(request))
			}
			if strings.Contains(p.content, "other") || strings.Contains(p.content, "http://") || strings.Count(p.content, "https://a.example/") != len(p.rows) {
				t.Errorf("%s: %.300s", test.name, p.content)
			}
		}
		rows = append(rows, large...)
		slices.Sort(rows)
		if len(rows) != test.rows || rows[0] != 1 || rows[len(rows)-1] != test.rows {
			t.Errorf("%s: rows %v", test.name, rows)
		}
	}
}

// Values are written as the API takes them; what is not understood stays.
func TestValues(t *testing.T) {
	for _, test := range []struct{ field, from, want string }{
		{"lifecycle.expiresAt", "1767225600", "2026-01-01T00:00:00Z"},
		{"lifecycle.expiresAt", "1767225600000", "2026-01-01T00:00:00Z"},
		{"lifecycle.expiresAt", "2026-01-01", "2026-01-01T00:00:00Z"},
		{"lifecycle.expiresAt", "2026-01-01 10:20:30", "2026-01-01T10:20:30Z"},
		{"lifecycle.expiresAt", "2026-01-01T10:20:30.5+02:00", "2026-01-01T08:20:30.5Z"},
		{"lifecycle.startsAt", "soon", "soon"},
		{"webOnly", "Yes", "true"}, {"webOnly", "0", "false"}, {"lifecycle.archived", "TRUE", "true"}, {"webOnly", "2", "2"},
		{"desktopUrl", " http://a.example/", "https://a.example/"}, {"desktopUrl", "https://a.example/", "https://a.example/"},
		{"title", "http://a.example/", "http://a.example/"}, {"title", "1767225600", "1767225600"},
	} {
		if got := asField(test.field, test.from, true); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.field, test.from, got, test.want)
		}
	}
	if got := asField("desktopUrl", "http://a.example/", false); got != "http://a.example/" {
		t.Errorf("http without --https: %q", got)
	}
	f := &linkFile{format: "json", columns: []string{"a", "w", "e", "n"}}
	row := linkRow{1, map[string]any{"a": "", "w": "yes", "e": json.Number("1767225600"), "n": nil}}
	converted := f.convert(row, mapping{"a": "title", "w": "webOnly", "e": "lifecycle.expiresAt", "n": "title"}, f.columns, false)
	if got := asText(converted.values); got != `{"e":"2026-01-01T00:00:00Z","w":true}` {
		t.Errorf("an object: %s", got)
	}
}

// A file is a table, a list, or an answer with one list.
func TestFilesOfLinks(t *testing.T) {
	for content, want := range map[string]int{
		"slug,url\na,b\nc,d\n": 2, "\ufeffslug,url\r\na,b\r\n": 1, `[{"a":1},{"b":2}]`: 2, "\ufeff\n [{\"a\":1}]": 1,
		`{"links":[{"a":1}],"pagination":{"next":""}}`: 1,
	} {
		if f, err := readLinks("x", []byte(content)); err != nil || len(f.rows) != want {
			t.Errorf("%q: %v", content, err)
		}
	}
	for _, content := range []string{"", "slug,url\n", "[]", "[1]", `{"a":1}`, `{"a":[{}],"b":[{}]}`, `[{"a":1}`, "a,a\n1,2\n", "a;b\n\"1"} {
		if f, err := readLinks("x", []byte(content)); err == nil {
			t.Errorf("%q: %+v", content, f)
		}
	}
	f, err := readLinks("x", []byte(`[{"link":"https://bit.ly/a","custom_bitlinks":["https://go.example.com/a"]}]`))
	if err != nil || f.rows[0].values["link"] != "https://go.example.com/a" {
		t.Errorf("a link on a domain of its owner: %+v, %v", f, err)
	}
}

// The journal says after a crash what it said before, also when its last line was cut off; keys
// follow from the run, the part and the attempt.
func TestJournal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "links.csv.import")
	j, resumed, err := openJournal(name, "digest")
	if err != nil || resumed {
		t.Fatalf("%v, resumed: %t", err, resumed)
	}
	if err := j.keep(partState{Part: 1, ID: "import-1", State: "validated", Revision: "r1"}); err != nil {
		t.Fatal(err)
	}
	if err := j.keep(partState{Part: 1, ID: "import-1", State: "succeeded", Items: []reportItem{{Row: 51}}}); err != nil {
		t.Fatal(err)
	}
	key := j.key(j.part(0), "create")
	if err := j.leave(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"part":2,"id":"imp`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	again, resumed, err := openJournal(name, "digest")
	if err != nil || !resumed {
		t.Fatalf("%v, resumed: %t", err, resumed)
	}
	if p := again.part(1); !p.over() || p.Items[0].Row != 51 || again.part(2).ID != "" {
		t.Errorf("%+v, %+v", p, again.part(2))
	}
	if again.key(again.part(0), "create") != key {
		t.Error("another key for the same step")
	}
	for _, other := range []string{again.key(again.part(0), "commit"), again.key(again.part(1), "create"), again.key(partState{Attempt: 1}, "create")} {
		if other == key {
			t.Error("the same key for another step")
		}
	}
	if !strings.HasPrefix(key[14:], "4") || !strings.ContainsRune("89ab", rune(key[19])) {
		t.Errorf("%s is no UUID v4", key)
	}
	// What follows the line that was cut off is read.
	if err := again.keep(partState{Part: 2, ID: "import-2", State: "validated"}); err != nil {
		t.Fatal(err)
	}
	again.leave()
	third, _, err := openJournal(name, "digest")
	if err != nil || third.part(2).ID != "import-2" {
		t.Errorf("%+v, %v", third.part(2), err)
	}
	third.leave()
	// A run that ended while it began the journal left nothing to go on with.
	for _, begun := range []string{"", `{"run":"5f0`} {
		early := filepath.Join(t.TempDir(), "early")
		if err := os.WriteFile(early, []byte(begun), 0o600); err != nil {
			t.Fatal(err)
		}
		j, resumed, err := openJournal(early, "digest")
		if err != nil || resumed {
			t.Fatalf("%q: %v, resumed: %t", begun, err, resumed)
		}
		j.leave()
		if j, resumed, err = openJournal(early, "digest"); err != nil || !resumed {
			t.Fatalf("after %q: %v, resumed: %t", begun, err, resumed)
		}
		j.leave()
	}
	// Another import takes the place of one that made no link, and no other's.
	other, resumed, err := openJournal(name, "another")
	if err != nil || resumed || other.part(2).ID != "" {
		t.Fatalf("after an import that was only tried: %v, resumed: %t", err, resumed)
	}
	if err := other.keep(partState{Part: 1, Committed: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openJournal(name, "another"); err == nil || !strings.Contains(err.Error(), "another command imports this file") {
		t.Errorf("the journal of an import under way: %v", err)
	}
	other.leave()
	if _, _, err := openJournal(name, "digest"); err == nil || !strings.Contains(err.Error(), "another import") {
		t.Errorf("the journal of another import: %v", err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	fresh, _, err := openJournal(name, "digest")
	if err != nil || fresh.key(fresh.part(0), "create") == key {
		t.Errorf("a new import has the keys of an old one: %v", err)
	}
	if err := fresh.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the journal of a finished import is there: %v", err)
	}
}

// A list that failed before its first row shows nothing; one that failed later is closed.
func TestListThatFailed(t *testing.T) {
	for rows, want := range map[int]string{0: "", 1: "[\n  {}\n]\n"} {
		var out strings.Builder
		w, err := (&shape{Output: "json"}).writer(&out, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range rows {
			if err := w.row(json.RawMessage("{}")); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.end(errors.New("no answer")); err == nil || out.String() != want {
			t.Errorf("after %d rows: %v, %q", rows, err, out.String())
		}
	}
}

// A column that no row has is refused.
func TestColumns(t *testing.T) {
	_, all := columnsOf(linkSchema())
	for name, known := range map[string]bool{"slug": true, "lifecycle": true, "lifecycle.archived": true, "parameters.size": true,
		"titel": false, "lifecycle.end": false, "life": false} {
		_, err := (&shape{Output: "csv", Columns: []string{name}}).writer(nil, nil, all)
		if known != (err == nil) || !known && ExitCode(err) != exitUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Text of owners cannot command a terminal.
func TestTablesAreHarmless(t *testing.T) {
	if got := shorten("a\x1b[2Jb\u202ec\nd"); got != "a [2Jb c d" {
		t.Errorf("%q", got)
	}
	if got := shorten(strings.Repeat("ä", 61)); got != strings.Repeat("ä", 59)+"…" {
		t.Errorf("%q", got)
	}
	if got := shorten(strings.Repeat("ä", 60)); got != strings.Repeat("ä", 60) {
		t.Errorf("%q", got)
	}
}

// The credential of a context goes to its own server alone.
func TestCredentialStaysWithItsServer(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("WAYMARK_TOKEN", "")
	all, err := loadContexts()
	if err != nil {
		t.Fatal(err)
	}
	all.Contexts["a"], all.Current = place{Server: "https://a.example", Token: "secret-a"}, "a"
	if err := all.save(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(all.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if p, err := (&target{}).place(); err != nil || p.Token != "secret-a" {
		t.Errorf("the context: %+v, %v", p, err)
	}
	if p, err := (&target{Server: "https://b.example"}).place(); err == nil {
		t.Errorf("another server gets %+v", p)
	}
	t.Setenv("WAYMARK_TOKEN", "secret-b")
	if p, err := (&target{Server: "https://b.example"}).place(); err != nil || p.Token != "secret-b" || p.Server != "https://b.example" {
		t.Errorf("another server: %+v, %v", p, err)
	}
	if _, err := (&target{Server: "https://b.example", Context: "a"}).place(); ExitCode(err) != exitUsage {
		t.Errorf("a server and a context: %v", err)
	}
	if _, err := (&target{Context: "b"}).place(); ExitCode(err) != exitUsage {
		t.Errorf("a context that is not there: %v", err)
	}
}
