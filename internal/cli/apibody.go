package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/waymarkhq/waymark/api"
)

// maxBody bounds the JSON of a body, in bytes. The server takes less.
const maxBody = 1 << 20

// body makes the body of --json and --field. Numbers stay as they are written.
func body(s *api.Schema, flags *bodyFlags, p place) (map[string]any, error) {
	made := map[string]any{}
	if flags.JSON != "" {
		text, err := readJSON(flags.JSON)
		if err != nil {
			return nil, err
		}
		if err := decode(text, &made); err != nil && !json.Valid(text) {
			return nil, usage(fmt.Sprintf("--json is not valid JSON: %v", err))
		} else if err != nil || made == nil {
			return nil, usage("--json is not an object, such as {\"name\": \"Sales\"}")
		}
	}
	given := map[string]bool{}
	for _, field := range flags.Field {
		if err := setField(made, s, field, given); err != nil {
			return nil, err
		}
	}
	for _, m := range s.Members {
		if told := fromContext[m.Name]; told != nil && m.Required && made[m.Name] == nil && told(p) != "" {
			made[m.Name] = told(p)
		}
	}
	return made, nil
}

// readJSON returns the text of --json.
func readJSON(from string) ([]byte, error) {
	name, isFile := strings.CutPrefix(from, "@")
	switch {
	case from == "-":
		return bounded(os.Stdin, "the standard input", maxBody)
	case isFile:
		return readBounded(name, maxBody)
	}
	return []byte(from), nil
}

// readBounded returns a file that the command line names, of at most so many bytes.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, usage(err.Error())
	}
	defer f.Close()
	return bounded(f, name, most)
}

func bounded(r io.Reader, name string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, most)
	}
	return text, nil
}

// setField sets one --field of a body. given has the names that came before: only a list is given item by item.
func setField(made map[string]any, s *api.Schema, field string, given map[string]bool) error {
	name, value, found := strings.Cut(field, "=")
	if !found || name == "" {
		return usage(fmt.Sprintf("--field %q is not NAME=VALUE", field))
	}
	name, raw := strings.CutSuffix(name, ":")
	again := given[name]
	given[name] = true
	parts := strings.Split(name, ".")
	for _, part := range parts[:len(parts)-1] {
		s = s.Member(part)
		inner, ok := made[part].(map[string]any)
		if made[part] != nil && !ok {
			return usage(fmt.Sprintf("--field %q: %s is not an object", field, part))
		}
		if !ok {
			inner = map[string]any{}
			made[part] = inner
		}
		made = inner
	}
	last := parts[len(parts)-1]
	s = s.Member(last)
	if s == nil {
		s = &api.Schema{} // the server says what is wrong with the name
	}
	if s.Type == "array" && !raw {
		item, err := fieldValue(s.Items, field, value)
		if err != nil {
			return err
		}
		list, _ := made[last].([]any)
		made[last] = append(list, item)
		return nil
	}
	if again {
		return usage(fmt.Sprintf("--field %s is given twice", name))
	}
	v, err := fieldValue(s, field, value)
	if raw {
		err = decode([]byte(value), &v)
	}
	if err != nil {
		return usage(fmt.Sprintf("--field %q: %s is not JSON", field, value))
	}
	made[last] = v
	return nil
}

// fieldValue returns a value of the type that the schema names; what has another form is sent as
// text, so that the server says what it wants.
func fieldValue(s *api.Schema, field, value string) (v any, err error) {
	if s == nil || s.Type == "string" || s.Type == "" {
		return value, nil
	}
	if !json.Valid([]byte(value)) {
		if s.Type == "object" || s.Type == "array" {
			return nil, usage(fmt.Sprintf("--field %q: %s is not JSON", field, value))
		}
		return value, nil
	}
	err = decode([]byte(value), &v)
	return v, err
}
