package assembly_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// walk calls visit for each schema of the document with its place.
func walk(v any, place string, visit func(place string, s map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		if _, typed := v["type"]; typed && !strings.HasSuffix(place, "/properties") && !strings.Contains(place, "/example") {
			visit(place, v)
		}
		for name, inner := range v {
			walk(inner, place+"/"+name, visit)
		}
	case []any:
		for _, inner := range v {
			walk(inner, place, visit)
		}
	}
}

// Every string, array, number and open object says how large it can be, so
// that clients know what to reserve, and no request is unbounded.
func TestEverythingInTheContractIsBounded(t *testing.T) {
	schemas := 0
	walk(contractDocument(t), "", func(place string, s map[string]any) {
		if strings.HasPrefix(place, "/components/securitySchemes") {
			return
		}
		schemas++
		has := func(any ...string) bool {
			return slices.ContainsFunc(any, func(name string) bool { _, ok := s[name]; return ok })
		}
		types, _ := s["type"].([]any)
		if one, ok := s["type"].(string); ok {
			types = []any{one}
		}
		for _, kind := range types {
			switch kind {
			case "string":
				if !has("maxLength", "enum", "const") {
					t.Errorf("%s: a string without maxLength, enum or const", place)
				}
			case "array":
				if !has("maxItems") {
					t.Errorf("%s: an array without maxItems", place)
				}
			case "integer", "number":
				if !has("minimum") || !has("maximum") {
					t.Errorf("%s: a number without minimum and maximum", place)
				}
			case "object":
				if !has("properties", "maxProperties") && s["additionalProperties"] != false {
					t.Errorf("%s: an object of any members without maxProperties", place)
				}
			}
		}
	})
	if schemas < 1000 {
		t.Errorf("only %d schemas were found", schemas)
	}
}

// Every operation says in words what it is, belongs to a group that has a name
// for people, and describes what it answers.
func TestEveryOperationIsDescribed(t *testing.T) {
	document := contractDocument(t)
	groups := map[string]bool{}
	for _, tag := range document["tags"].([]any) {
		tag := tag.(map[string]any)
		groups[tag["name"].(string)] = tag["description"] != ""
	}
	each(document, func(method, path string, operation map[string]any) {
		name := method + " " + path
		if summary, _ := operation["summary"].(string); len(summary) < 8 {
			t.Errorf("%s: summary %q", name, summary)
		}
		if text, _ := operation["description"].(string); !strings.Contains(text, "`"+operation["x-service-permission"].(string)+"`") {
			t.Errorf("%s: the description %q does not tell its permission", name, text)
		}
		if tags, _ := operation["tags"].([]any); len(tags) != 1 || !groups[tags[0].(string)] {
			t.Errorf("%s: tags %v", name, operation["tags"])
		}
		for status, response := range operation["responses"].(map[string]any) {
			response := at(document, response)
			headers := at(document, response, "headers")
			wanted := []string{"X-Request-Id", "Cache-Control", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Policy"}
			switch status {
			case "201", "202":
				wanted = append(wanted, "Location")
			case "401":
				wanted = append(wanted, "WWW-Authenticate")
			case "409":
				wanted = append(wanted, "Location", "Retry-After")
			case "429", "503":
				wanted = append(wanted, "Retry-After")
			}
			for _, header := range wanted {
				if headers[header] == nil {
					t.Errorf("%s: %s has no header %s", name, status, header)
				}
			}
		}
	})
}

// each calls visit for each operation of the contract.
func each(document map[string]any, visit func(method, path string, operation map[string]any)) {
	paths := document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, operation := range paths[path].(map[string]any) {
			visit(strings.ToUpper(method), path, operation.(map[string]any))
		}
	}
}

// Every example is what its schema admits, in the eyes of a judge that is not
// ours.
func TestExamplesAreValid(t *testing.T) {
	document := contractDocument(t)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("contract.json", document); err != nil {
		t.Fatal(err)
	}
	examples := 0
	check := func(name string, content map[string]any, pointer string) {
		if content == nil {
			return
		}
		s, err := compiler.Compile("contract.json#" + pointer + "/content/application~1json/schema")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		examples++
		if err := s.Validate(content["example"]); err != nil {
			text, _ := json.Marshal(content["example"])
			t.Errorf("%s: %s: %v", name, text, err)
		}
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	each(document, func(method, path string, operation map[string]any) {
		pointer := "/paths/" + escape.Replace(path) + "/" + strings.ToLower(method)
		check(method+" "+path, at(document, operation, "requestBody", "content", "application/json"), pointer+"/requestBody")
		for status, response := range operation["responses"].(map[string]any) {
			if status < "300" && !strings.Contains(operation["operationId"].(string), "Download") {
				check(method+" "+path+" "+status, at(document, response, "content", "application/json"), pointer+"/responses/"+status)
			}
		}
	})
	if examples < 100 {
		t.Errorf("only %d examples were checked", examples)
	}
}
