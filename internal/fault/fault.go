// Package fault is the one form in which a refusal travels from where it is
// found to the client: a status, a machine code, a message for a person, and
// what the client needs to act on it. Every other error is an internal one,
// whose cause is logged and never sent (api-v1.md, Errors; completions.md §1).
package fault

import (
	"errors"
	"fmt"
	"net/http"
)

// Code is a machine code of the error envelope.
type Code string

// The codes of the contract. Their anchors on the error pages are the same
// words with hyphens.
const (
	InvalidRequest         Code = "invalid_request"
	Unauthenticated        Code = "unauthenticated"
	InsufficientPermission Code = "insufficient_permission"
	NotFound               Code = "not_found"
	MethodNotAllowed       Code = "method_not_allowed"
	IdempotencyConflict    Code = "idempotency_conflict"
	OperationInProgress    Code = "operation_in_progress"
	SecretNotReplayable    Code = "secret_not_replayable"
	ResourceConflict       Code = "resource_conflict"
	RevisionConflict       Code = "revision_conflict"
	PayloadTooLarge        Code = "payload_too_large"
	UnsupportedMediaType   Code = "unsupported_media_type"
	ValidationFailed       Code = "validation_failed"
	PreconditionRequired   Code = "precondition_required"
	RateLimited            Code = "rate_limited"
	Internal               Code = "internal_error"
	Unavailable            Code = "service_unavailable"
)

// Codes lists every code with its HTTP status, in the order of the contract.
var Codes = []struct {
	Code   Code
	Status int
}{
	{InvalidRequest, http.StatusBadRequest},
	{Unauthenticated, http.StatusUnauthorized},
	{InsufficientPermission, http.StatusForbidden},
	{NotFound, http.StatusNotFound},
	{MethodNotAllowed, http.StatusMethodNotAllowed},
	{IdempotencyConflict, http.StatusConflict},
	{OperationInProgress, http.StatusConflict},
	{SecretNotReplayable, http.StatusConflict},
	{ResourceConflict, http.StatusConflict},
	{RevisionConflict, http.StatusPreconditionFailed},
	{PayloadTooLarge, http.StatusRequestEntityTooLarge},
	{UnsupportedMediaType, http.StatusUnsupportedMediaType},
	{ValidationFailed, http.StatusUnprocessableEntity},
	{PreconditionRequired, http.StatusPreconditionRequired},
	{RateLimited, http.StatusTooManyRequests},
	{Internal, http.StatusInternalServerError},
	{Unavailable, http.StatusServiceUnavailable},
}

// Dependency counts resources of one type that stand in the way of a removal.
type Dependency struct {
	Type  string   `json:"type"`
	Count int      `json:"count"`
	IDs   []string `json:"ids" maxItems:"10" maxLength:"500"`
	// AvailableAt is when time will have removed all of them, "" for never.
	AvailableAt string `json:"availableAt,omitempty" format:"date-time" doc:"From when on these do not stand in the way any more; absent when they stay until they are removed."`
}

// SchemaName implements schema.Named.
func (Dependency) SchemaName() string { return "ErrorDependency" }

// Error is a refusal. Its message and details are written for the client and
// must carry nothing that the caller may not see.
type Error struct {
	Code    Code
	Message string
	Details []Detail
	// ResourceID is set on idempotency_conflict and secret_not_replayable.
	ResourceID string
	// Location of the resource, on secret_not_replayable.
	Location     string
	Dependencies []Dependency
	// RetryAfter in seconds; 0 means no header. A bound that refuses with Unavailable sets it;
	// where a part failed, the pipeline does, and logs the cause.
	RetryAfter int
}

// Error returns the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Status returns the HTTP status of the error's code.
func (e *Error) Status() int { return e.Code.Status() }

// Status returns the HTTP status of c.
func (c Code) Status() int {
	for _, row := range Codes {
		if row.Code == c {
			return row.Status
		}
	}
	return http.StatusInternalServerError
}

// New returns a refusal with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Missing is the refusal of a resource that does not exist or that the caller
// does not reach: both look the same.
func Missing() *Error { return New(NotFound, "The resource does not exist or is not accessible.") }

// Invalid is the 422 refusal of one field of the body.
func Invalid(path string, reason Reason, format string, args ...any) *Error {
	return Of(ValidationFailed, Detail{Path: path, Code: reason, Message: fmt.Sprintf(format, args...)})
}

// UnknownReference is the 422 refusal of an id in a body that does not belong
// to the app. An id of another app is answered like one that does not exist.
func UnknownReference(path string) *Error {
	return Invalid(path, ReasonUnknownReference, "there is no such resource in this app")
}

// InvalidQuery is the 400 refusal of one query parameter.
func InvalidQuery(name string, reason Reason, format string, args ...any) *Error {
	return Of(InvalidRequest, Detail{Path: "query." + name, Code: reason, Message: fmt.Sprintf(format, args...)})
}

// InvalidHeader is the 400 refusal of one header.
func InvalidHeader(name string, reason Reason, format string, args ...any) *Error {
	return Of(InvalidRequest, Detail{Path: "header." + name, Code: reason, Message: fmt.Sprintf(format, args...)})
}

// Stale is the refusal of an If-Match that is not the current revision.
func Stale() *Error {
	return New(RevisionConflict, "The revision in If-Match is not the current one. Read the resource again and "+
		"reconcile.")
}

// From returns err as a refusal. ok is false when err is not a refusal; the
// returned Error is then the internal one that clients may see.
func From(err error) (refusal *Error, ok bool) {
	if errors.As(err, &refusal) {
		return refusal, true
	}
	return New(Internal, "The service failed to process the request. Quote the request id when asking for help."), false
}

// Is reports whether err is a refusal with a code.
func Is(err error, code Code) bool {
	refusal, refused := From(err)
	return refused && refusal.Code == code
}

// Wrap adds the operation and its arguments to an error on its way up:
// defer fault.Wrap(&err, "link.Create(%q)", slug).
func Wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, *err)...)
	}
}
