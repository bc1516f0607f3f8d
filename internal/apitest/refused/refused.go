// Package refused has the bodies whose refusal costs most: tests bound the work, and the
// benchmark measures the time.
package refused

import (
	"fmt"
	"strings"
)

// Call is a call with a body that is refused.
type Call struct {
	Name, Method string
	// Path is relative to /v1.
	Path string
	// Type is the media type of Body.
	Type, Body string
}

// size leaves room for what stands around the bulk of a body of 32 KiB.
const size = 32<<10 - 400

// Revision is an If-Match that all calls carry.
const Revision = `"f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90"`

// fill returns as many members or items as fit, numbered where the format asks for it.
func fill(format string) string {
	var s strings.Builder
	for i := 0; ; i++ {
		one := format
		if strings.Contains(format, "%") {
			one = fmt.Sprintf(format, i)
		}
		if s.Len()+len(one) >= size {
			return s.String()
		}
		if s.Len() > 0 {
			s.WriteByte(',')
		}
		s.WriteString(one)
	}
}

// fifty returns fifty items, about as large as fit.
func fifty(item string) string { return strings.Repeat(item+",", 49) + item }

// Calls returns the calls for an app, and a link and a template of it, whose ids are
// escaped for paths.
func Calls(app, link, template string) []Call {
	long := strings.Repeat("x", 600)
	links, rules, tags := "/links", "/links/"+link+"/routing-rules", "/links/"+link+"/tags"
	draft, preview, publish := "/templates/"+template+"/draft", "/templates/"+template+"/preview",
		"/templates/"+template+"/publish"
	calls := []Call{
		{Name: "unknown members", Path: links, Body: `{` + fill(`"u%d":1`) + `}`},
		{Name: "names like known ones", Path: links, Body: `{` + fill(`"desktopUr%d":1`) + `}`},
		{Name: "one long name", Path: links, Body: `{"` + strings.Repeat("x", size) + `":1}`},
		{Name: "one long string", Path: links, Body: `{"title":"` + strings.Repeat("é", size/2) + `"}`},
		{Name: "control characters", Path: links, Body: `{"description":"` + strings.Repeat(`\u0007`, size/6) + `"}`},
		{Name: "white space", Path: links, Body: `{"title":"` + strings.Repeat(`\n`, size/2) + `"}`},
		{Name: "deep parameters", Path: links, Body: `{"parameters":` + strings.Repeat(`{"a":`, 30) + `1` +
			strings.Repeat(`}`, 31)},
		{Name: "many parameters", Path: links, Body: `{"parameters":{` + fill(`"p%d":1`) + `},"x":1}`},
		{Name: "malformed at the end", Path: links, Body: `{` + fill(`"u%d":1`)},
		{Name: "numbers", Path: links, Body: `{"parameters":[` + fill(`1e308`) + `]}`},
		{Name: "too many rules", Method: "PUT", Path: rules, Body: `{"rules":[` + fill(`{}`) + `]}`},
		{Name: "wrong rules", Method: "PUT", Path: rules, Body: `{"rules":[` + fifty(`{"`+long+`":1}`) + `]}`},
		{Name: "too many tags", Method: "PUT", Path: tags, Body: `{"tagIds":[` + fill(`{}`) + `]}`},
		{Name: "equal tags", Method: "PUT", Path: tags, Body: `{"tagIds":[` + fifty(`"`+long+`"`) + `]}`},
		{Name: "arrays in arrays", Method: "PUT", Path: tags, Body: `{"tagIds":[` + fill(`[[]]`) + `]}`},
		{Name: "wrong batch", Path: "/link-batches", Body: `{"appId":"` + app + `","items":[` +
			fifty(`{"action":"create","clientId":"a","input":{"u":1}}`) + `]}`},
		{Name: "unlike inputs of a batch", Path: "/link-batches", Body: `{"appId":"` + app + `","items":[` +
			fifty(`{"action":"create","clientId":"a","input":{"desktopUr":"`+strings.Repeat("x", 500)+`"}}`) + `]}`},
		{Name: "too many events", Path: "/webhooks", Body: `{"appId":"` + app + `","events":[` + fill(`"e%d"`) + `]}`},
		{Name: "equal events", Path: "/webhooks", Body: `{"appId":"` + app + `","url":"https://example.com/","events":[` +
			strings.Repeat(`"link.created",`, 99) + `"link.created"]}`},
		{Name: "unlike events", Path: "/webhooks", Body: `{"appId":"` + app + `","url":"https://example.com/","events":[` +
			strings.Repeat(`"`+strings.Repeat("link.create", 25)+`",`, 99) + `"x"]}`},
		{Name: "too many lines", Path: "/imports", Body: `{"appId":"` + app + `","format":"csv","content":"slug\n` +
			strings.Repeat(`a\n`, 7000) + `"}`},
		{Name: "too many cells", Path: "/imports", Body: `{"appId":"` + app + `","format":"csv","content":"slug\n` +
			strings.Repeat(`,`, 23000) + `"}`},
		{Name: "too many objects", Path: "/imports", Body: `{"appId":"` + app + `","format":"json","content":"[` +
			strings.Repeat(`{},`, 7000) + `{}]"}`},
		{Name: "unknown mappings", Path: "/imports", Body: `{"appId":"` + app + `","format":"csv","content":"slug\na",` +
			`"mapping":{` + fill(`"m%d":"a"`) + `}}`},
		{Name: "template of unknown members", Path: "/templates", Body: `{"config":{` + fill(`"u%d":1`) + `}}`},
		{Name: "draft of variables", Method: "PUT", Path: draft, Body: `{"config":{"variables":[` +
			fill(`{"key":"K%d"}`) + `]}}`},
		{Name: "draft of labels", Method: "PUT", Path: draft, Body: `{"config":{"content":{"actionLabels":{` +
			fill(`"l%d":""`) + `}}}}`},
		{Name: "draft of references", Method: "PUT", Path: draft, Body: `{"config":{"content":{"supportingText":"` +
			strings.Repeat("{{a}}", size/5) + `"}}}`},
		{Name: "preview of values", Path: preview, Body: `{"templateData":{` + fill(`"v%d":[]`) + `}}`},
		{Name: "preview of a long value", Path: preview, Body: `{"templateData":{"v":"` + strings.Repeat("{{v}}", size/5) +
			`"}}`},
		{Name: "wrong targets", Path: publish, Body: `{"targets":[` + fifty(`{"scope":"`+long+`"}`) + `]}`},
	}
	for i := range calls {
		calls[i].Type = "application/json"
		if calls[i].Method == "" {
			calls[i].Method = "POST"
		}
	}
	return append(calls, uploads(app)...)
}

// uploads are as large as a JSON body, as most of the time of larger ones is their way here.
func uploads(app string) []Call {
	const boundary = "b"
	body := func(parts ...string) string {
		return "--" + boundary + "\r\n" + strings.Join(parts, "\r\n--"+boundary+"\r\n") + "\r\n--" + boundary + "--\r\n"
	}
	part := func(name, content string) string {
		return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + content
	}
	many := strings.Split(strings.Repeat(part("x", "")+"\n\n", 400), "\n\n")
	calls := []Call{
		{Name: "upload of a text", Body: body(part("appId", app), part("file", strings.Repeat("x", size)))},
		{Name: "upload of many parts", Body: body(many[:400]...)},
		{Name: "upload with a long head", Body: body("Content-Disposition: form-data; name=\"file\"\r\nX: " +
			strings.Repeat("x", size) + "\r\n\r\n")},
	}
	for i := range calls {
		calls[i].Method, calls[i].Path, calls[i].Type = "POST", "/assets", "multipart/form-data; boundary="+boundary
	}
	return calls
}
