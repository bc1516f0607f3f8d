package fault

import (
	"fmt"
	"strings"
)

// Detail points at one part of the request that was refused. Path is a JSON
// Pointer into the body, "query.<name>" or "header.<name>".
type Detail struct {
	Path    string `json:"path" maxLength:"65536" doc:"A JSON Pointer into the body, query.<name> or header.<name>."`
	Code    Reason `json:"code"`
	Message string `json:"message" maxLength:"65536" doc:"What is wrong and what is allowed, for a person."`
}

// SchemaName implements schema.Named.
func (Detail) SchemaName() string { return "ErrorDetail" }

// Reason is the machine code of a Detail.
type Reason string

// The reasons, for bodies, queries and headers alike.
const (
	ReasonRequired          Reason = "required"
	ReasonUnknownField      Reason = "unknown_field"
	ReasonRepeated          Reason = "repeated"
	ReasonWrongType         Reason = "wrong_type"
	ReasonNotOneOf          Reason = "not_one_of"
	ReasonInvalidFormat     Reason = "invalid_format"
	ReasonInvalidText       Reason = "invalid_text"
	ReasonInvalidURL        Reason = "invalid_url"
	ReasonTooShort          Reason = "too_short"
	ReasonTooLong           Reason = "too_long"
	ReasonTooFew            Reason = "too_few"
	ReasonTooMany           Reason = "too_many"
	ReasonTooLarge          Reason = "too_large"
	ReasonOutOfRange        Reason = "out_of_range"
	ReasonDuplicate         Reason = "duplicate"
	ReasonUnknownReference  Reason = "unknown_reference"
	ReasonUnknownColumn     Reason = "unknown_column"
	ReasonUnknownPermission Reason = "unknown_permission"
	ReasonWidening          Reason = "widening"
	ReasonTaken             Reason = "taken"
	ReasonReserved          Reason = "reserved"
	ReasonNotAllowed        Reason = "not_allowed"
	ReasonRedirectLoop      Reason = "redirect_loop"
	ReasonUnreadable        Reason = "unreadable"
	ReasonUnsupportedType   Reason = "unsupported_type"
	ReasonTypeMismatch      Reason = "type_mismatch"
	ReasonUndecodable       Reason = "undecodable"
	ReasonLowContrast       Reason = "low_contrast"
	ReasonInvalid           Reason = "invalid"
)

// BreaksShape reports whether the reason is about members and types: one is
// unknown, is missing, or has another type. Other reasons are about values.
func (r Reason) BreaksShape() bool {
	return r == ReasonUnknownField || r == ReasonRequired || r == ReasonWrongType
}

// Reasons explains every reason.
var Reasons = []struct {
	Code Reason
	Text string
}{
	{ReasonRequired, "The field, parameter, header or part must be sent."},
	{ReasonUnknownField, "The operation does not know the field or parameter. The message names the one that may be " +
		"meant."},
	{ReasonRepeated, "The parameter, header or part was sent more than once."},
	{ReasonWrongType, "The JSON type is not the field's, or the field must not be null."},
	{ReasonNotOneOf, "The value is not among those that the field admits."},
	{ReasonInvalidFormat, "The text has not the form that the field wants, such as a UUID or an instant."},
	{ReasonInvalidText, "The text has no visible character, or one that is not allowed."},
	{ReasonInvalidURL, "The value is not a URL that the field admits."},
	{ReasonTooShort, "The text has too few characters."},
	{ReasonTooLong, "The text has too many characters."},
	{ReasonTooFew, "There are too few items or rows."},
	{ReasonTooMany, "There are too many items, members or rows."},
	{ReasonTooLarge, "The value takes more bytes, levels or pixels than the field admits."},
	{ReasonOutOfRange, "The number or instant is outside the admitted range."},
	{ReasonDuplicate, "The value occurs twice where each may occur once."},
	{ReasonUnknownReference, "The app has no such resource, or the caller does not reach it."},
	{ReasonUnknownColumn, "The content of the import has no such column."},
	{ReasonUnknownPermission, "There is no such permission, or API keys cannot hold it."},
	{ReasonWidening, "The change would give the key more than it has. Issue a new key instead."},
	{ReasonTaken, "Another resource has this name or address."},
	{ReasonReserved, "The name or address is reserved."},
	{ReasonNotAllowed, "The value is not allowed here. The message says why."},
	{ReasonRedirectLoop, "The destination leads back to the link."},
	{ReasonUnreadable, "The file or content cannot be read."},
	{ReasonUnsupportedType, "The file is declared as a type that is not accepted."},
	{ReasonTypeMismatch, "The file is not what it is declared to be."},
	{ReasonUndecodable, "The image is damaged or incomplete."},
	{ReasonLowContrast, "The colour can hardly be told from the one beside it. The message names both ratios."},
	{ReasonInvalid, "The value breaks another rule, which the message tells."},
}

// MaxDetails is how many details a refusal has at most.
const MaxDetails = 50

// Of returns the refusal with a code that lists details, at most MaxDetails. Its
// message is the first of them, and how many more there are.
func Of(code Code, details ...Detail) *Error {
	details = details[:min(len(details), MaxDetails)]
	e := &Error{Code: code, Message: "The request has invalid data.", Details: details}
	if len(details) == 0 {
		return e
	}
	first := details[0]
	where := first.Path
	if where == "" {
		where = "The body"
	}
	const longest = 200 // characters: a path can be as long as the body
	if r := []rune(where); len(r) > longest {
		where = string(r[:longest]) + "…"
	}
	e.Message = where + ": " + strings.TrimSuffix(first.Message, ".")
	if more := len(details) - 1; more > 0 {
		e.Message += fmt.Sprintf(" (and %d more)", more)
	}
	if !strings.HasSuffix(e.Message, "?") {
		e.Message += "."
	}
	return e
}
