package opt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestThreeStates(t *testing.T) {
	type body struct {
		A Opt[string]  `json:"a,omitzero"`
		B Null[string] `json:"b,omitzero"`
	}
	for text, want := range map[string]body{
		`{}`:               {},
		`{"a":"x"}`:        {A: OptOf("x")},
		`{"b":null}`:       {B: Null[string]{Set: true}},
		`{"a":"","b":"y"}`: {A: OptOf(""), B: NullOf("y")},
	} {
		var got body
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if back, err := json.Marshal(got); err != nil || string(back) != text {
			t.Errorf("%s comes back as %s, %v", text, back, err)
		}
	}
	kept, value := "old", "new"
	current := &kept
	Null[string]{}.Apply(&current)
	if current != &kept {
		t.Error("an absent field changed the value")
	}
	NullOf(value).Apply(&current)
	if current == nil || *current != "new" {
		t.Error("a value was not applied")
	}
	Null[string]{Set: true}.Apply(&current)
	if current != nil {
		t.Error("null did not clear the value")
	}
	if OptOf(3).Or(4) != 3 || (Opt[int]{}).Or(4) != 4 {
		t.Error("Or")
	}
}

// What a column holds comes back as it was.
func TestColumn(t *testing.T) {
	for _, want := range []Null[string]{{}, NullOf(""), NullOf("a \"b\"\u2028")} {
		column, err := want.Column()
		if err != nil {
			t.Fatal(err)
		}
		var text *string
		if s, ok := column.(string); ok {
			text = &s
		}
		var got Null[string]
		if err := got.SetColumn(text); err != nil || got != want {
			t.Errorf("%+v comes back as %+v, %v", want, got, err)
		}
	}
}

// An encoder's options hold inside a field too.
func TestOptionsReachTheValue(t *testing.T) {
	value := struct {
		A Opt[map[string]int]  `json:"a"`
		B Null[map[string]int] `json:"b"`
	}{OptOf(map[string]int{}), NullOf(map[string]int{})}
	want := `{"a":{`
	for n := range 20 {
		value.A.Value[fmt.Sprintf("%02d", n)], value.B.Value[fmt.Sprintf("%02d", n)] = n, n
		want += fmt.Sprintf(`"%02d":%d,`, n, n)
	}
	want = strings.TrimSuffix(want, ",") + "}"
	want += `,"b":` + strings.TrimPrefix(want, `{"a":`) + "}"
	if got, err := json.Marshal(value, json.Deterministic(true)); err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
