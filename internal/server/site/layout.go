package site

import (
	"bytes"
	_ "embed"
	"html/template"
	"slices"
)

//go:embed layout.html
var layoutText string

var layout = template.Must(template.New("").Parse(layoutText))

// Content is what one page has of its own.
type Content struct {
	Address, Title string
	Body           template.HTML
	Sections       []Section
	// Source is the address of the Markdown, "" where there is none.
	Source string
}

// Section is a heading of a page.
type Section struct {
	ID, Title string
	// Deep is set for a heading below another one.
	Deep bool
}

// Layout returns a whole page.
func Layout(c Content) []byte {
	var before, after entry
	entries := all()
	if i := slices.IndexFunc(entries, func(e entry) bool { return e.is(c.Address) }); i >= 0 {
		if i > 0 {
			before = entries[i-1]
		}
		if i+1 < len(entries) {
			after = entries[i+1]
		}
	}
	return fill("page", map[string]any{"Content": c, "Groups": groups, "Style": StylePath, "Before": before, "After": after})
}

func fill(name string, data any) []byte {
	var b bytes.Buffer
	if err := layout.ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // the template and its data are parts of this program
	}
	return b.Bytes()
}
