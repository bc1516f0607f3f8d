package imports

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/csvtable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/utm"
)

// What can be imported is what createLinks takes: a field that a link gets must
// get a line in the table.
func TestFields(t *testing.T) {
	want := []string{"clientId", "url", "url.path"}
	add := func(of reflect.Type, before string) {
		for _, f := range reflect.VisibleFields(of) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "appId" {
				want = append(want, before+name)
			}
		}
	}
	add(reflect.TypeFor[link.CreateLink](), "")
	add(reflect.TypeFor[utm.SetUTM](), "utm.")
	add(reflect.TypeFor[link.SetLifecycle](), "lifecycle.")
	slices.Sort(want)
	if got := sorted(fields); !slices.Equal(got, want) {
		t.Errorf("fields are\n%v, want\n%v", got, want)
	}
}

// withoutStores returns an input without its store pages, which must be none.
func withoutStores(t *testing.T, input jsontext.Value) string {
	t.Helper()
	var all map[string]jsontext.Value
	if err := json.Unmarshal(input, &all); err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{"playStoreUrl", "appStoreUrl"} {
		if string(all[store]) != "null" {
			t.Errorf("%s is %s, want null", store, all[store])
		}
		delete(all, store)
	}
	return string(asJSON(all))
}

// Where an address comes from, and what of it.
func TestAddress(t *testing.T) {
	for _, c := range []struct{ field, value, input string }{
		{"url", "https://go.example.com/a", `{"domain":"go.example.com","slug":"a"}`},
		{"url", "go.example.com/a/b/c", `{"domain":"go.example.com","prefix":"a/b","slug":"c"}`},
		{"url", "http://GO.example.com:8080/a/", `{"domain":"GO.example.com","slug":"a"}`},
		{"url", "https://bücher.example/%C3%A9", `{"domain":"bücher.example","slug":"é"}`},
		{"url.path", "https://old.example/a/b", `{"domain":"default.example","prefix":"a","slug":"b"}`},
		{"url.path", "/a/b", `{"domain":"default.example","prefix":"a","slug":"b"}`},
		{"url.path", "//a/b", `{"domain":"default.example","prefix":"/a","slug":"b"}`}, // two slashes do not make a host
		{"url.path", "old.example/b", `{"domain":"default.example","slug":"b"}`},
		{"slug", "a/b", `{"domain":"default.example","slug":"a/b"}`},
	} {
		r := row{values: map[string]jsontext.Value{c.field: asJSON(c.value)}}
		domain := "default.example"
		if got := withoutStores(t, r.input(&domain)); got != c.input || r.problems.Any() {
			t.Errorf("%s %s: %s %v, want %s", c.field, c.value, got, r.problems.Refusal(), c.input)
		}
	}
	for _, value := range []string{"", "https://go.example.com", "go.example.com/", "/", "https:///a",
		"ftp://go.example.com/a", "https://u@go.example.com/a",
		"https://go.example.com/a?b", "https://go.example.com/a#b", "https://go.example.com/a%2Fb",
		"https://go.example.com/%zz", "https://go.example.com/%ff", "/a"} {
		r := row{values: map[string]jsontext.Value{"url": asJSON(value)}}
		got := withoutStores(t, r.input(nil))
		if found, err := r.problems.Details(); err != nil || got != "{}" || len(found) != 1 || found[0].Path != "/url" {
			t.Errorf("url %q: %s %v, %v", value, got, found, err)
		}
	}
	// What the row says itself comes first.
	r := row{values: map[string]jsontext.Value{"url": asJSON("https://go.example.com/a/b"), "slug": asJSON("c"),
		"domain": asJSON("x.example")}}
	if got := withoutStores(t, r.input(nil)); got != `{"domain":"x.example","prefix":"a","slug":"c"}` {
		t.Error(got)
	}
}

// Whatever is uploaded is refused in words or gives inputs that are JSON
// objects of known fields, one per row.
func FuzzRead(f *testing.F) {
	f.Add("csv", "slug,webOnly\na,true\n", "", "")
	f.Add("csv", "a,b\r\n\"https://h.example/x\",\"{\"\"k\"\":1}\"\r\n", "a", "url")
	f.Add("csv", "a,b\n1,2\n", "b", "lifecycle.maxClicks")
	f.Add("csv", "url\nhttps://h.example/%00\n", "", "")
	f.Add("json", `[{"slug":"a","utm.source":"b","parameters":{"x":[1e400]}}]`, "", "")
	f.Add("json", `[{"link":"h/a","t":null}]`, "link", "url.path")
	f.Fuzz(func(t *testing.T, format, content, column, field string) {
		b := CreateImport{Format: format, Content: content}
		if column != "" {
			b.Mapping = opt.OptOf(Mapping{column: {Field: field}, "webOnly": {Value: jsontext.Value("true")}})
		}
		rows, _, err := read(&b)
		if err != nil {
			refusal, ok := fault.From(err)
			if !ok || refusal.Code != fault.ValidationFailed || len(refusal.Details) == 0 ||
				len(refusal.Details) > fault.MaxDetails {
				t.Fatalf("%q is refused with %v", content, err)
			}
			return
		}
		if len(rows) == 0 || len(rows) > 50 {
			t.Fatalf("%q gives %d rows", content, len(rows))
		}
		for n := range rows {
			id, input := rows[n].clientID(n), rows[n].input(nil)
			var members map[string]jsontext.Value
			if err := json.Unmarshal(input, &members); err != nil || !clientID.MatchString(id) {
				t.Fatalf("%q gives %q %s: %v", content, id, input, err)
			}
			for name := range members {
				if _, known := fields[name]; !known {
					t.Errorf("%q gives the field %q", content, name)
				}
			}
			unread, err := rows[n].problems.Details()
			if err != nil {
				t.Fatalf("%q: %v", content, err)
			}
			for _, d := range unread {
				if d.Path == "" || d.Code == "" || d.Message == "" || !utf8.ValidString(d.Message) {
					t.Errorf("%q: %#v", content, d)
				}
			}
		}
		if format == "json" {
			return
		}
		if _, table, err := csvtable.Read(content, 50); err != nil || len(table) != len(rows) {
			t.Errorf("%q has %d rows, %d were read", content, len(table), len(rows))
		}
	})
}
