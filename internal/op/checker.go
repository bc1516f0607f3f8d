package op

import (
	"reflect"

	"github.com/go-json-experiment/json"
)

// Checker returns a function that reads JSON text as the pipeline reads a body
// of type T: for bodies inside bodies, such as the items of a batch, that are
// refused one by one, with the same refusals.
func Checker[T any](s *Service) func(text []byte) (T, error) {
	t := reflect.TypeFor[T]()
	schema := s.registry.Schema(t, true, t.Name())
	return func(text []byte) (value T, err error) {
		parsed, err := parseJSON(text)
		if err != nil {
			return value, err
		}
		if details := s.validate(schema, parsed, ""); len(details) > 0 {
			return value, invalid(details)
		}
		if err := json.Unmarshal(text, &value); err != nil {
			return value, decodeFault(err)
		}
		return value, nil
	}
}
