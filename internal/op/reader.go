package op

import (
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

// check checks a body against its schema.
func (p *Pipeline) check(rules *schema.Schema, body any) []fault.Detail {
	return check(p.Log, rules, body)
}

// check checks a body against its schema.
func check(log *slog.Logger, rules *schema.Schema, body any) (details []fault.Detail) {
	if guarded(log, func() error {
		details = rules.Check(body, "")
		return nil
	}) != nil {
		details = []fault.Detail{{Code: fault.ReasonInvalid, Message: "the value cannot be checked"}}
	}
	return details
}

// guarded reads or checks something that a client sent. A panic, which is a mistake in
// this code, does not fail the call: the request is refused, and the cause is logged.
func guarded(log *slog.Logger, check func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			log.Error("panic while a request was checked", "cause", cause, "stack", string(debug.Stack()))
			err = fault.New(fault.InvalidRequest, "The request has a value that cannot be checked.")
		}
	}()
	return check()
}

// Reader returns a function that reads JSON text as the pipeline reads a body
// of type T: for bodies inside bodies, such as the items of a batch, that are
// refused one by one, with the same refusals.
func Reader[T any](p *Pipeline) func(text []byte) (T, error) { return reader[T](p.inner, p.Log) }

// Body returns a function that reads the JSON body of a request as the pipeline
// does, with the same bounds and the same refusals: for calls that are no operations
// of the contract, such as those of apps (completions.md §10).
func Body[T any](log *slog.Logger) func(http.ResponseWriter, *http.Request) (T, error) {
	read := reader[T](schema.ForRequests(), log)
	return func(w http.ResponseWriter, r *http.Request) (value T, err error) {
		body, err := readBody(w, r)
		if err == nil {
			err = requireJSON(r)
		}
		if err != nil {
			return value, err
		}
		if len(body) == 0 {
			return value, errEmptyBody
		}
		return read(body)
	}
}

// reader returns a function that reads JSON text as a T of a registry.
func reader[T any](types *schema.Registry, log *slog.Logger) func(text []byte) (T, error) {
	rules := types.For(reflect.TypeFor[T]())
	return func(text []byte) (value T, err error) {
		parsed, err := parseJSON(text)
		if err != nil {
			return value, err
		}
		if details := check(log, rules, parsed); len(details) > 0 {
			return value, fault.Of(fault.ValidationFailed, details...)
		}
		return value, guarded(log, func() error {
			if err := Unmarshal(text, &value); err != nil {
				return decodeFault(err)
			}
			return nil
		})
	}
}

// Unmarshal decodes JSON text as the pipeline decodes a body, without checking
// it.
func Unmarshal(text []byte, into any) error { return json.Unmarshal(text, into, wholeNumbers) }

// decodeFault turns a body that fits its schema but not its Go type into a
// refusal.
func decodeFault(err error) error {
	path := ""
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		path = string(semantic.JSONPointer)
	}
	return fault.Invalid(path, fault.ReasonInvalid, "the value cannot be read")
}
