package waymark_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// texts returns what stands in quotes in the code of the program, parts that are added up as one.
func texts(t *testing.T) (all []string) {
	t.Helper()
	for _, folder := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			ast.Inspect(parse(t, name), func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				text, whole := textOf(e)
				if whole {
					all = append(all, text)
				}
				return !whole
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// textOf returns the text of an expression that is one.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		before, ok := textOf(e.X)
		after, too := textOf(e.Y)
		return before + after, e.Op == token.ADD && ok && too
	}
	return "", false
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// message is what the first column of a table quotes.
var message = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// Each message that the page about troubleshooting explains is one of the program: what stands
// between the marks for what differs is in one text of the code, in that order.
func TestMessagesAreOfTheProgram(t *testing.T) {
	known := texts(t)
	messages := message.FindAllStringSubmatch(readPage(t, "docs/troubleshooting.md"), -1)
	if len(messages) < 50 {
		t.Errorf("the page has %d messages", len(messages))
	}
	for _, m := range messages {
		var parts []string
		for part := range strings.SplitSeq(m[1], "…") {
			parts = append(parts, regexp.QuoteMeta(part))
		}
		says := regexp.MustCompile(strings.Join(parts, `.*?`))
		found := false
		for _, text := range known {
			found = found || says.MatchString(text)
		}
		if !found {
			t.Errorf("docs/troubleshooting.md quotes %q, which the program does not say", m[1])
		}
	}
}

var (
	metricText = regexp.MustCompile(`^waymark_[a-z_]+$`)
	metricName = regexp.MustCompile(`\bwaymark_[a-z][a-z_]*[a-z]\b`)
	// notMetrics are other names that begin like one.
	notMetrics = map[string]bool{"waymark_token": true, "waymark_link": true}
)

// Metrics that the pages name are there, and each metric stands on a page.
func TestPagesNameMetrics(t *testing.T) {
	names, begun := map[string]bool{}, []string{} // begun are those whose end is added
	for _, text := range texts(t) {
		switch {
		case !metricText.MatchString(text) || notMetrics[text]:
		case strings.HasSuffix(text, "_"):
			begun = append(begun, text)
		default:
			names[text] = true
		}
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d metrics, %v", len(names), err)
	}
	named := map[string]bool{}
	for _, page := range pages {
		for _, name := range metricName.FindAllString(readPage(t, page), -1) {
			named[name] = true
			is := names[name] || notMetrics[name]
			for _, beginning := range begun {
				is = is || strings.HasPrefix(name, beginning)
			}
			if !is {
				t.Errorf("%s names the metric %s, which the code does not have", page, name)
			}
		}
	}
	for name := range names {
		if !named[name] {
			t.Errorf("no page names the metric %s", name)
		}
	}
}
