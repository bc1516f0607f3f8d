package op

import (
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
)

// Checker returns a function that reads JSON text as the pipeline reads a body
// of type T: for bodies inside bodies, such as the items of a batch, that are
// refused one by one. The details tell what breaks the schema; a text that is
// no JSON is an error.
func Checker[T any](s *Service) func(text []byte) (T, []fault.Detail, error) {
	t := reflect.TypeFor[T]()
	schema := s.registry.Schema(t, true, t.Name())
	return func(text []byte) (value T, details []fault.Detail, err error) {
		parsed, err := parseJSON(text)
		if err != nil {
			return value, nil, err
		}
		if details := s.validate(schema, parsed, ""); len(details) > 0 {
			return value, sortDetails(details), nil
		}
		if err := json.Unmarshal(text, &value); err != nil {
			refusal, _ := fault.From(decodeFault(err))
			return value, refusal.Details, nil
		}
		return value, nil, nil
	}
}
