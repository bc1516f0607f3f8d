package op

import (
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
)

// Checker returns a function that reads JSON text as the pipeline reads a body
// of type T: for bodies inside bodies, such as the items of a batch, that are
// refused one by one, with the same refusals.
func Checker[T any](s *Service) func(text []byte) (T, error) {
	t := reflect.TypeFor[T]()
	rules := s.inner.For(t)
	return func(text []byte) (value T, err error) {
		parsed, err := parseJSON(text)
		if err != nil {
			return value, err
		}
		if details := rules.Check(parsed, ""); len(details) > 0 {
			return value, fault.Of(fault.ValidationFailed, details...)
		}
		if err := json.Unmarshal(text, &value, wholeNumbers); err != nil {
			return value, decodeFault(err)
		}
		return value, nil
	}
}
