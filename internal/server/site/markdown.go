package site

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// repository is where links lead that leave the folder docs.
const repository = "https://github.com/waymarkhq/waymark/blob/main/"

var markdown = goldmark.New(
	// Alignment would need styles in the page, which its policy forbids.
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// scrolling gives what is wide a bar of its own, which keys reach as well, so that the page stays
// as wide as the window.
var scrolling = strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>",
	"<pre>", `<pre tabindex="0">`)

// longestWhole is how much code stays in one line: names and short commands are not broken at
// their hyphens.
const longestWhole = 32

// convert returns the HTML of a page and its headings below the title. Links between pages
// become links of the site, links out of the folder docs lead to the repository.
func convert(source []byte) (body template.HTML, sections []Section) {
	tree := parse(source)
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(onSite(string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(onSite(string(n.Destination)))
		case *ast.CodeSpan:
			if len(n.FirstChild().(*ast.Text).Value(source)) <= longestWhole {
				n.SetAttributeString("class", []byte("whole"))
			}
		case *ast.Heading:
			if n.Level > 1 {
				id := idOf(n)
				sections = append(sections, Section{ID: id, Title: plain(n, source), Deep: n.Level > 2})
				n.AppendChild(n, anchor(id))
				return ast.WalkSkipChildren, nil
			}
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	if err == nil {
		err = markdown.Renderer().Render(&b, source, tree)
	}
	if err != nil {
		panic(err) // the pages are part of this program
	}
	return template.HTML(scrolling.Replace(b.String())), sections
}

func parse(source []byte) ast.Node {
	return markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
}

// onSite returns where a link of a Markdown page leads on the site.
func onSite(link string) string {
	switch {
	case strings.Contains(link, "://"), strings.HasPrefix(link, "#"), strings.HasPrefix(link, "mailto:"):
		return link
	case strings.HasPrefix(link, "../"):
		return repository + strings.TrimPrefix(link, "../")
	}
	name, anchor, found := strings.Cut(link, "#")
	if found {
		anchor = "#" + anchor
	}
	return Root + strings.TrimSuffix(name, ".md") + anchor
}

func idOf(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	return string(id.([]byte)) // the parser gives one to each heading
}

// anchor is a link from a heading to itself, for those who want to send it to somebody.
func anchor(id string) ast.Node {
	link := ast.NewLink()
	link.Destination = []byte("#" + id)
	link.SetAttributeString("class", []byte("anchor"))
	link.SetAttributeString("title", []byte("Link to this section"))
	link.AppendChild(link, ast.NewString([]byte("#")))
	return link
}

// plain returns the words of a heading.
func plain(h *ast.Heading, source []byte) string {
	return strings.ReplaceAll(string(h.Lines().Value(source)), "`", "")
}

// ids are the anchors of a page's headings. They are those that GitHub makes, so that a link
// works there as well.
type ids map[string]bool

// Generate implements parser.IDs.
func (i ids) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, string(heading))
	unique := id
	for n := 1; i[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	i[unique] = true
	return []byte(unique)
}

// Put implements parser.IDs.
func (i ids) Put(id []byte) { i[string(id)] = true }
