package fault

import (
	"fmt"
	"strconv"
	"strings"
)

// Problems collects what is wrong with an input, so that a client learns of all
// of it at once. The zero value is empty. After MaxDetails the rest is left out.
type Problems struct {
	details []Detail
	failure error
}

// Add adds a problem of the part of the input at a path (Pointer).
func (p *Problems) Add(path string, reason Reason, format string, args ...any) {
	p.Include("", Detail{Path: path, Code: reason, Message: fmt.Sprintf(format, args...)})
}

// Include adds problems of a part of the input that stands at a path: their own
// paths begin there.
func (p *Problems) Include(path string, found ...Detail) {
	for _, d := range found[:min(len(found), MaxDetails-len(p.details))] {
		d.Path = path + d.Path
		p.details = append(p.details, d)
	}
}

// Keep adds what a refusal of data says; nil says nothing. Any other error ends
// the check: Details and Refusal then return the first such error.
func (p *Problems) Keep(err error) { p.KeepAt("", err) }

// KeepAt is Keep for a part of the input that stands at a path: the paths of the
// refusal begin there.
func (p *Problems) KeepAt(path string, err error) {
	if err == nil {
		return
	}
	refusal, refused := From(err)
	switch {
	case !refused || refusal.Code != ValidationFailed && refusal.Code != InvalidRequest:
		if p.failure == nil {
			p.failure = err
		}
	case len(refusal.Details) == 0:
		p.Add(path, ReasonInvalid, "%s", refusal.Message)
	default:
		p.Include(path, refusal.Details...)
	}
}

// Any reports whether something is wrong or the check failed.
func (p *Problems) Any() bool { return len(p.details) > 0 || p.failure != nil }

// Details returns what was collected, or the error that ended the check.
func (p *Problems) Details() ([]Detail, error) { return p.details, p.failure }

// Refusal returns the refusal of all that was collected, nil for nothing, or the
// error that ended the check.
func (p *Problems) Refusal() error {
	switch {
	case p.failure != nil:
		return p.failure
	case len(p.details) > 0:
		return Of(ValidationFailed, p.details...)
	}
	return nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the JSON Pointer (RFC 6901) of members, named by strings, and
// items, numbered by ints: Pointer("rules", 0, "id") is /rules/0/id.
func Pointer(segments ...any) string {
	var path []byte
	for _, s := range segments {
		if n, ok := s.(int); ok {
			s = strconv.Itoa(n)
		}
		path = AppendPointer(path, s.(string))
	}
	return string(path)
}

// AppendPointer appends the segment of a member to a JSON Pointer.
func AppendPointer(path []byte, member string) []byte {
	return append(append(path, '/'), pointerEscapes.Replace(member)...)
}
