package schema_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/waymarkhq/waymark/internal/schema"
)

// The judge is a JSON Schema implementation that is not ours.
func judge(t testing.TB, s *schema.Schema) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return compiled
}

// Check and the judge agree on whether a value is valid, for schemas and values
// of every kind.
func TestVerdictsAreThoseOfTheJudge(t *testing.T) {
	const schemas, values = 3000, 40
	valid, invalid := 0, 0
	for seed := range uint64(schemas) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomSchema(r, 3)
		compiled := judge(t, s)
		for range values {
			v := randomValue(r, s, 4)
			problems := s.Check(v, "")
			err := compiled.Validate(v)
			if (len(problems) == 0) != (err == nil) {
				rules, _ := json.Marshal(s)
				value, _ := json.Marshal(v)
				t.Fatalf("seed %d: %s\n%s\nwe say %v, the judge %v", seed, rules, value, problems, err)
			}
			if err == nil {
				valid++
			} else {
				invalid++
			}
		}
	}
	if valid < schemas*values/10 || invalid < schemas*values/10 {
		t.Errorf("%d values were valid, %d invalid: the test shows too little", valid, invalid)
	}
}

var (
	names = []string{"a", "b", "c", "slug", "x~y", "x/z"}
	texts = []string{"", "a", "ab", "é", "👩‍👩‍👧", "abc", "x y", "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d",
		"2026-11-20T12:00:00Z", "2026-02-30T12:00:00Z", "100"}
	numbers = []float64{-1, 0, 1, 1.5, 2, 100, 1e2, 1 << 53, 1e300}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func maybe[T int | float64](r *rand.Rand, from ...T) *T {
	if r.IntN(2) == 0 {
		return nil
	}
	return schema.Of(pick(r, from))
}

func randomSchema(r *rand.Rand, depth int) *schema.Schema {
	s := &schema.Schema{Nullable: r.IntN(4) == 0}
	kinds := []string{schema.String, schema.Integer, schema.Number, schema.Boolean, "const", "enum", ""}
	if depth > 0 {
		kinds = append(kinds, schema.Array, schema.Object, schema.Object, "anyOf")
	}
	switch kind := pick(r, kinds); kind {
	case schema.String:
		s.Type, s.MinLength, s.MaxLength = kind, maybe(r, 0, 1, 2), maybe(r, 1, 2, 3, 36)
		switch r.IntN(4) {
		case 0:
			s.Pattern = pick(r, []string{"^a", "b$", "^[a-z]*$", "^(a|é)$"})
		case 1:
			s.Format = pick(r, []string{"uuid", "date-time"})
		}
	case schema.Integer, schema.Number:
		s.Type, s.Minimum, s.Maximum = kind, maybe[float64](r, 0, 1, 1.5), maybe[float64](r, 1, 2, 100)
	case schema.Boolean:
		s.Type = kind
	case "const":
		s.Type, s.Const, s.Nullable = schema.String, "a", false
	case "enum":
		s.Type, s.Enum = schema.String, []string{"a", "ab", "é"}
	case schema.Array:
		s.Type, s.Items, s.MinItems, s.MaxItems, s.UniqueItems = kind, randomSchema(r, depth-1), maybe(r, 0, 1, 2),
			maybe(r, 0, 1, 3), r.IntN(3) == 0
	case schema.Object:
		s.Type, s.MaxProperties, s.Closed = kind, maybe(r, 1, 2, 4), r.IntN(2) == 0
		for _, name := range names[:r.IntN(len(names))] {
			s.Properties = append(s.Properties, schema.Property{Name: name, Required: r.IntN(3) == 0,
				Schema: randomSchema(r, depth-1)})
		}
		if !s.Closed && r.IntN(2) == 0 {
			s.Values = randomSchema(r, depth-1)
		}
	case "anyOf":
		s.Nullable = false
		for range 1 + r.IntN(3) {
			s.AnyOf = append(s.AnyOf, randomSchema(r, depth-1))
		}
	}
	return s.Ready()
}

// randomValue is likely, but not sure, to be valid.
func randomValue(r *rand.Rand, s *schema.Schema, depth int) any {
	if s.AnyOf != nil {
		return randomValue(r, pick(r, s.AnyOf), depth)
	}
	kind := s.Type
	if r.IntN(6) == 0 {
		kind = pick(r, []string{"null", schema.String, schema.Number, schema.Boolean, schema.Array, schema.Object})
	}
	switch kind {
	case schema.String:
		if s.Enum != nil && r.IntN(2) == 0 {
			return pick(r, s.Enum)
		}
		return pick(r, texts)
	case schema.Integer, schema.Number:
		return pick(r, numbers)
	case schema.Boolean:
		return r.IntN(2) == 0
	case schema.Array:
		items := []any{}
		for range r.IntN(4) {
			item := s.Items
			if item == nil || depth == 0 {
				item = &schema.Schema{}
			}
			items = append(items, randomValue(r, item, depth-1))
		}
		return items
	case schema.Object:
		object := map[string]any{}
		for _, p := range s.Properties {
			if depth > 0 && r.IntN(4) > 0 {
				object[p.Name] = randomValue(r, p.Schema, depth-1)
			}
		}
		if r.IntN(3) == 0 {
			object[pick(r, names)] = pick(r, texts)
		}
		return object
	}
	return nil
}

// Every type of field makes the schema that the judge understands as we do.
func TestTypesAreWhatTheJudgeUnderstands(t *testing.T) {
	registry := schema.ForRequests()
	s := registry.For(typeOf[everything]())
	document := map[string]any{"$ref": "#/components/schemas/Everything",
		"components": map[string]any{"schemas": schema.Merge(registry, schema.ForAnswers())}}
	text, err := json.Marshal(document, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	var parsed any
	if err := json.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	sample := s.Sample(true)
	if problems := s.Check(sample, ""); len(problems) > 0 {
		t.Fatalf("the sample %v has problems %v", sample, problems)
	}
	for name := range sample.(map[string]any) {
		for i, nasty := range []any{nil, true, 0.0, -1.0, 1.5, 1e300, "", "text", []any{}, []any{nil}, []any{"a", "a"},
			[]any{map[string]any{}}, map[string]any{}, map[string]any{"a": []any{}}} {
			v := map[string]any{}
			for other, value := range sample.(map[string]any) {
				v[other] = value
			}
			v[name] = nasty
			if problems, err := s.Check(v, ""), compiled.Validate(v); (len(problems) == 0) != (err == nil) {
				t.Errorf("%s = %v (%d): we say %v, the judge %v", name, nasty, i, problems, err)
			}
			delete(v, name)
			if problems, err := s.Check(v, ""), compiled.Validate(v); (len(problems) == 0) != (err == nil) {
				t.Errorf("without %s: we say %v, the judge %v", name, problems, err)
			}
		}
	}
}
