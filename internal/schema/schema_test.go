package schema_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/text"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// everything has a field of each kind.
type everything struct {
	Name  text.Line               `json:"name" maxLength:"10" example:"Ada"`
	About opt.Null[text.Block]    `json:"about,omitzero" maxLength:"20"`
	Kind  string                  `json:"kind" enum:"tag,folder"`
	Color opt.Opt[string]         `json:"color,omitzero" pattern:"^#[0-9a-f]{6}$" example:"#1a2b3c"`
	ID    string                  `json:"id" format:"uuid"`
	At    opt.Null[clock.Instant] `json:"at,omitzero" format:"date-time"`
	Size  opt.Opt[int64]          `json:"size,omitzero" minimum:"64" maximum:"2048"`
	Count int64                   `json:"count"`
	On    *bool                   `json:"on"`
	Tags  []string                `json:"tags" minItems:"1" maxItems:"3" maxLength:"5" uniqueItems:"true"`
	Inner inner                   `json:"inner"`
	Other opt.Null[inner]         `json:"other,omitzero"`
	Many  []inner                 `json:"many" maxItems:"2"`
	Open  map[string]int64        `json:"open" maxProperties:"2"`
	Embedded
}

type inner struct {
	Link opt.Opt[string] `json:"link,omitzero" maxLength:"5" aliases:"target,longUrl"`
	Slug string          `json:"slug" maxLength:"5" example:"a"`
}

// Embedded stands where it is embedded.
type Embedded struct {
	Last opt.Opt[string] `json:"last,omitzero" maxLength:"3" example:"end"`
}

func check(t *testing.T, body string) []fault.Detail {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	return schema.ForRequests().For(typeOf[everything]()).Check(v, "")
}

const valid = `{"name":"Ada","kind":"tag","id":"0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d","count":1,"on":null,"tags":["a"],"inner":{"slug":"a"},"many":[],"open":{}}`

// with is the valid body with members put into it.
func with(members string) string { return strings.TrimSuffix(valid, "}") + "," + members + "}" }

func instead(member, value string) string {
	var v map[string]any
	json.Unmarshal([]byte(valid), &v)
	var other any
	json.Unmarshal([]byte(value), &other)
	v[member] = other
	b, _ := json.Marshal(v)
	return string(b)
}

func TestProblems(t *testing.T) {
	if problems := check(t, valid); len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	for _, c := range []struct {
		body, path string
		code       fault.Reason
		message    string
	}{
		{`[]`, "", "wrong_type", "must be an object, not an array"},
		{`null`, "", "wrong_type", "must be an object, not null"},
		{instead("name", `" a\n b "`), "", "", ""},
		{instead("name", `"  1234567890  "`), "", "", ""},
		{instead("name", `"12345678901"`), "/name", "too_long", "must have at most 10 characters"},
		{instead("name", `"éééééééééé"`), "", "", ""},
		{instead("name", `""`), "/name", "invalid_text", "the text has no visible character"},
		{instead("name", `"\u200b"`), "/name", "invalid_text", "the text has no visible character"},
		{instead("name", `"a\u0007"`), "/name", "invalid_text", "the text contains a control character"},
		{instead("name", `1`), "/name", "wrong_type", "must be a string, not a number"},
		{with(`"about":"a\n\tb"`), "", "", ""},
		{with(`"about":""`), "", "", ""},
		{with(`"about":null`), "", "", ""},
		{with(`"about":true`), "/about", "wrong_type", "must be a string or null, not true or false"},
		{with(`"about":"\u202e"`), "/about", "invalid_text",
			"the text contains a character that overrides the direction of writing"},
		{instead("kind", `"tags"`), "/kind", "not_one_of", "must be one of tag, folder; did you mean tag?"},
		{instead("kind", `"campaign"`), "/kind", "not_one_of", "must be one of tag, folder"},
		{with(`"color":"red"`), "/color", "invalid_format", "must have the form ^#[0-9a-f]{6}$"},
		{with(`"color":null`), "/color", "wrong_type", "must be a string, not null"},
		{instead("id", `"0198C9A2-7F3E-7C11-9D52-0A6F6E1B2C3D"`), "", "", ""},
		{instead("id", `"1"`), "/id", "invalid_format", "must be a UUID such as 0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"},
		{with(`"at":"2026-11-20t12:00:60z"`), "", "", ""},
		{with(`"at":"tomorrow"`), "/at", "invalid_format", "must be an RFC 3339 instant such as 2026-11-20T12:00:00Z"},
		{with(`"size":64`), "", "", ""},
		{with(`"size":2048.0`), "", "", ""},
		{with(`"size":1e2`), "", "", ""},
		{with(`"size":63`), "/size", "out_of_range", "must be from 64 to 2048"},
		{with(`"size":2049`), "/size", "out_of_range", "must be from 64 to 2048"},
		{with(`"size":64.5`), "/size", "wrong_type", "must be a whole number"},
		{with(`"size":"64"`), "/size", "wrong_type", "must be a whole number, not a string"},
		{instead("count", `-1`), "/count", "out_of_range", "must be at least 0"},
		{instead("count", `9007199254740991`), "", "", ""},
		{instead("count", `9007199254740992`), "/count", "out_of_range", "must be from 0 to 9007199254740991"},
		{instead("tags", `[]`), "/tags", "too_few", "must not be empty"},
		{instead("tags", `["a","b","c","d"]`), "/tags", "too_many", "must have at most 3 items, not 4"},
		{instead("tags", `["a","b","a"]`), "/tags/2", "duplicate", "is the same as item 0"},
		{instead("tags", `["a","123456"]`), "/tags/1", "too_long", "must have at most 5 characters"},
		{instead("tags", `[{}]`), "/tags/0", "wrong_type", "must be a string, not an object"},
		{instead("inner", `{}`), "/inner/slug", "required", "the field is required"},
		{instead("inner", `null`), "/inner", "wrong_type", "must be an object, not null"},
		{with(`"other":null`), "", "", ""},
		{with(`"other":{"slug":""}`), "", "", ""},
		{with(`"other":{"slug":5}`), "/other/slug", "wrong_type", "must be a string, not a number"},
		{instead("many", `[{"slug":"a"},{"slug":"a"},{"slug":"a"}]`), "/many", "too_many",
			"must have at most 2 items, not 3"},
		{instead("open", `{"x~y/z":"a"}`), "/open/x~0y~1z", "wrong_type", "must be a whole number, not a string"},
		{instead("open", `{"a":1,"b":2,"c":3}`), "/open", "too_many", "must have at most 2 members, not 3"},
		{with(`"last":"ends"`), "/last", "too_long", "must have at most 3 characters"},
		{with(`"Name":"a"`), "/Name", "unknown_field", "the field is unknown; did you mean name?"},
		{with(`"colour":"a"`), "/colour", "unknown_field", "the field is unknown; did you mean color?"},
		{instead("inner", `{"slug":"a","target":"b"}`), "/inner/target", "unknown_field",
			"the field is unknown; did you mean link?"},
		{instead("inner", `{"slug":"a","long_url":"b"}`), "/inner/long_url", "unknown_field",
			"the field is unknown; known are link, slug"},
		{with(`"a/b":1`), "/a~1b", "unknown_field", "the field is unknown; known are name, about, kind, color, id, " +
			"at, size, count, on, tags, inner, other, many, open, last"},
	} {
		problems := check(t, c.body)
		if c.code == "" {
			if len(problems) > 0 {
				t.Errorf("%s: %v", c.body, problems)
			}
			continue
		}
		want := fault.Detail{Path: c.path, Code: c.code, Message: c.message}
		if len(problems) != 1 || problems[0] != want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.body, problems, want)
		}
	}
}

// Every problem is told at once, in the order of the schema and then of names.
func TestProblemsAreOrderedAndBounded(t *testing.T) {
	paths := func(problems []fault.Detail) (all []string) {
		for _, p := range problems {
			all = append(all, p.Path)
		}
		return all
	}
	got := paths(check(t, `{"zoo":1,"name":1,"ant":1,"kind":2,"inner":{"slug":1,"x":1}}`))
	want := []string{"/name", "/kind", "/id", "/count", "/on", "/tags", "/inner/slug", "/inner/x", "/many", "/open",
		"/ant", "/zoo"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, unknown := range []int{41, 42, 43, 5000} {
		body := map[string]any{}
		for i := range unknown {
			body["u"+strconv.Itoa(i)] = nil
		}
		b, _ := json.Marshal(body)
		missing := 9
		if n := len(check(t, string(b))); n != min(unknown+missing, 50) {
			t.Errorf("%d unknown and %d missing members make %d problems", unknown, missing, n)
		}
	}
}

// An array or object that is too long costs nothing more.
func TestMembersBeyondABoundAreNotLookedAt(t *testing.T) {
	looked := &schema.Schema{Type: schema.Array, MaxItems: schema.Of(3), Items: &schema.Schema{Type: schema.String}}
	if problems := looked.Ready().Check([]any{1.0, 2.0, 3.0, 4.0}, ""); len(problems) != 1 ||
		problems[0].Code != fault.ReasonTooMany {
		t.Errorf("%v", problems)
	}
	if problems := looked.Check([]any{1.0, 2.0, 3.0}, ""); len(problems) != 3 {
		t.Errorf("%v", problems)
	}
}

type named struct {
	A string `json:"a"`
}

func (named) SchemaName() string { return "Chosen" }

type embeds struct {
	named
	B string `json:"b"`
}

type claims struct {
	C string `json:"c"`
}

func (claims) SchemaName() string { return "Chosen" }

type holds struct {
	Both named `json:"both"`
}

type generic[T any] struct {
	A T `json:"a"`
}

// A name is a type's own: never that of an embedded type, never one that another
// has.
func TestNames(t *testing.T) {
	r := schema.ForAnswers()
	r.For(typeOf[embeds]())
	r.For(typeOf[named]())
	r.For(typeOf[named]())
	if names := slices.Sorted(maps.Keys(schema.Merge(schema.ForRequests(), r))); !slices.Equal(names,
		[]string{"Chosen", "Embeds"}) {
		t.Errorf("the schemas are called %v", names)
	}
	for name, refused := range map[string]func(){
		"a name that another type has":     func() { r.For(typeOf[claims]()) },
		"a name of a schema made by hand":  func() { r.Name("Embeds", &schema.Schema{Type: schema.String}) },
		"a generic type without a name":    func() { r.For(typeOf[generic[int]]()) },
		"two names that Input makes alike": func() { merged(typeOf[named](), "ChosenInput") },
	} {
		if cause := panicOf(refused); !strings.HasPrefix(fmt.Sprint(cause), "schema: ") {
			t.Errorf("%s: %v", name, cause)
		}
	}
}

func panicOf(f func()) (cause any) {
	defer func() { cause = recover() }()
	f()
	return nil
}

// merged returns the schemas of a type on both sides, and of one more in requests.
func merged(t reflect.Type, more string) map[string]*schema.Schema {
	requests, answers := schema.ForRequests(), schema.ForAnswers()
	requests.For(t)
	answers.For(t)
	requests.Name(more, &schema.Schema{Type: schema.String})
	return schema.Merge(requests, answers)
}

// A type on both sides has a closed schema for requests and an open one for
// answers, and all that refers to it in requests refers to the closed one.
func TestOneTypeOnBothSides(t *testing.T) {
	all := merged(typeOf[holds](), "Other")
	text, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"Chosen":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}},` +
		`"ChosenInput":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}},"additionalProperties":false},` +
		`"Holds":{"type":"object","required":["both"],"properties":{"both":{"$ref":"#/components/schemas/Chosen"}}},` +
		`"HoldsInput":{"type":"object","required":["both"],"properties":{"both":{"$ref":"#/components/schemas/ChosenInput"}},"additionalProperties":false},` +
		`"Other":{"type":"string"}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	extra := map[string]any{"both": map[string]any{"a": "", "more": true}}
	if problems := all["HoldsInput"].Check(extra, ""); len(problems) != 1 || problems[0].Path != "/both/more" {
		t.Errorf("requests: %v", problems)
	}
	if problems := all["Holds"].Check(extra, ""); len(problems) != 0 {
		t.Errorf("answers: %v", problems)
	}
}

// The admitted values of a whole number are numbers in the contract, too.
func TestEnumOfNumbers(t *testing.T) {
	type status struct {
		Status opt.Opt[int64] `json:"status,omitzero" enum:"302,307" minimum:"302" maximum:"307" default:"302"`
	}
	s := schema.ForRequests().For(typeOf[status]()).Resolve()
	text, err := json.Marshal(s.Properties[0].Schema)
	if err != nil || !strings.Contains(string(text), `"enum":[302,307]`) {
		t.Errorf("%s, %v", text, err)
	}
	for value, ok := range map[any]bool{302.0: true, 307.0: true, 303.0: false, 301.0: false, 302.5: false, "302": false} {
		if found := s.Check(map[string]any{"status": value}, ""); (len(found) == 0) != ok {
			t.Errorf("%v: %v", value, found)
		}
	}
}
