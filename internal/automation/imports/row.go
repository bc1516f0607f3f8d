package imports

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
)

// row is one link as the content has it: values by field, and the problems of
// what could not be read.
type row struct {
	values   map[string]jsontext.Value
	problems fault.Problems
}

// wrong adds what is wrong with a field. The path is where the field is, or
// would be, in the item's input.
func (r *row) wrong(field string, code fault.Reason, format string, args ...any) {
	r.problems.Add(place(field), code, format, args...)
}

// place is where a field is in an item's input.
func place(field string) string { return "/" + strings.ReplaceAll(field, ".", "/") }

// take removes a field that is not part of the link and returns its text, ""
// for null.
func (r *row) take(field string) (value string, given bool) {
	v := r.values[field]
	delete(r.values, field)
	if v == nil || v.Kind() == 'n' {
		return "", false
	}
	if json.Unmarshal(v, &value) != nil {
		r.wrong(field, fault.ReasonWrongType, "must be a string")
		return "", false
	}
	return value, true
}

var clientID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// clientID returns the clientId of the n-th row.
func (r *row) clientID(n int) string {
	id, given := r.take("clientId")
	if given && clientID.MatchString(id) {
		return id
	}
	if given {
		r.wrong("clientId", fault.ReasonInvalid, "%s is not 1 to 100 letters, digits, dots, hyphens and underscores",
			quote(id))
	}
	return "row-" + strconv.Itoa(n+1)
}

// input returns the fields of the link, of which the caller has taken the
// clientId. A row without domain gets the default domain of the app, if there
// is one. A row without store pages gets none: the defaults of the app would
// send visitors of an imported web page to a store.
func (r *row) input(defaultDomain *string) jsontext.Value {
	r.address("url", true)
	r.address("url.path", false)
	if defaultDomain != nil {
		r.complete("domain", *defaultDomain)
	}
	r.complete("playStoreUrl", nil)
	r.complete("appStoreUrl", nil)
	if v, given := r.values["behavior"]; given {
		var text string
		if json.Unmarshal(v, &text) == nil && behaviors[text] != "" {
			r.values["behavior"] = asJSON(behaviors[text])
		}
	}
	r.forget("lifecycle", "clicks") // an export tells them, a new link has none
	all := map[string]any{}
	for field, value := range r.values {
		whole, part, dotted := strings.Cut(field, ".")
		if !dotted {
			all[field] = value
			continue
		}
		object, _ := all[whole].(map[string]jsontext.Value)
		if object == nil {
			object = map[string]jsontext.Value{}
			all[whole] = object
		}
		object[part] = value
	}
	return asJSON(all)
}

// address gives the link the domain, prefix and slug of an address, as far as
// the row does not give them itself. The scheme may be missing; what starts
// with a slash is a path.
func (r *row) address(field string, host bool) {
	text, given := r.take(field)
	if !given {
		return
	}
	switch {
	case !host && strings.HasPrefix(text, "/"):
		text = "https://path" + text // two slashes do not make a host
	case !strings.Contains(text, "://") && !strings.HasPrefix(text, "/"):
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || host && u.Hostname() == "" || u.User != nil || u.Scheme != "" && u.Scheme != "https" &&
		u.Scheme != "http" {
		r.wrong(field, fault.ReasonInvalidURL, "%s is not the address of a link, such as https://go.example.com/spring",
			quote(text))
		return
	}
	if u.RawQuery != "" || u.Fragment != "" {
		r.wrong(field, fault.ReasonInvalidURL, "%s has a query or a fragment; the address of a link has neither",
			quote(text))
		return
	}
	path := strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/")
	if path == "" || strings.Contains(strings.ToLower(u.RawPath), "%2f") || !utf8.ValidString(path+u.Hostname()) {
		r.wrong(field, fault.ReasonInvalidURL, "%s has no path that can be a prefix and a slug; url is the address "+
			"of the link itself, its destination is desktopUrl", quote(text))
		return
	}
	end := strings.LastIndexByte(path, '/')
	r.complete("slug", path[end+1:])
	if end > 0 {
		r.complete("prefix", path[:end])
	}
	if host {
		r.complete("domain", u.Hostname())
	}
}

// complete sets a field unless the row gives it.
func (r *row) complete(field string, value any) {
	if _, given := r.values[field]; !given {
		r.values[field] = asJSON(value)
	}
}

// forget takes a member out of a field that is an object.
func (r *row) forget(field, member string) {
	var object map[string]jsontext.Value
	if json.Unmarshal(r.values[field], &object) == nil && object[member] != nil {
		delete(object, member)
		r.values[field] = asJSON(object)
	}
}

// asJSON returns a value as JSON. Every value that was read can be written as
// JSON.
func asJSON(value any) jsontext.Value {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return text
}
