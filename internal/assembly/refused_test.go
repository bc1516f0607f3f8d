package assembly_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
)

// What refusing the worst bodies of 32 KiB costs, from request to answer on
// SQLite. Each should stay below 5 ms.
func BenchmarkRefusedBodies(b *testing.B) {
	const size = 32<<10 - 200
	fill := func(format string) string { // as many as fit, numbered where the format asks for it
		var s strings.Builder
		for i := 0; s.Len() < size; i++ {
			if s.Len() > 0 {
				s.WriteByte(',')
			}
			if strings.Contains(format, "%") {
				fmt.Fprintf(&s, format, i)
			} else {
				s.WriteString(format)
			}
		}
		return s.String()
	}
	i := apitest.New(b, "sqlite", apitest.Options{LimitScale: 1e9})
	owner := i.Prepared(b, "ann@example.com")
	link := owner.Link("a", nil).Want(201).Text("data.id")
	links, rules, tags := "/v1/links", "/v1/links/"+apitest.Path(link)+"/routing-rules",
		"/v1/links/"+apitest.Path(link)+"/tags"
	for _, c := range []struct{ name, method, path, body string }{
		{"unknown members", "POST", links, `{` + fill(`"u%d":1`) + `}`},
		{"names like known ones", "POST", links, `{` + fill(`"desktopUr%d":1`) + `}`},
		{"one long name", "POST", links, `{"` + strings.Repeat("x", size) + `":1}`},
		{"one long string", "POST", links, `{"title":"` + strings.Repeat("é", size/2) + `"}`},
		{"control characters", "POST", links, `{"description":"` + strings.Repeat(`\u0007`, size/6) + `"}`},
		{"white space", "POST", links, `{"title":"` + strings.Repeat(`\n`, size/2) + `"}`},
		{"deep parameters", "POST", links, `{"parameters":` + strings.Repeat(`{"a":`, 30) + `1` + strings.Repeat(`}`,
			31)},
		{"many parameters", "POST", links, `{"parameters":{` + fill(`"p%d":1`) + `},"x":1}`},
		{"too many rules", "PUT", rules, `{"rules":[` + fill(`{}`) + `]}`},
		{"wrong rules", "PUT", rules, `{"rules":[` + strings.TrimSuffix(strings.Repeat(`{"`+strings.Repeat("x", 600)+
			`":1},`, 50), ",") + `]}`},
		{"too many tags", "PUT", tags, `{"tagIds":[` + fill(`{}`) + `]}`},
		{"equal tags", "PUT", tags, `{"tagIds":[` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", 600)+`",`,
			50), ",") + `]}`},
		{"arrays in arrays", "PUT", tags, `{"tagIds":[` + fill(`[[]]`) + `]}`},
		{"wrong batch", "POST", "/v1/link-batches", `{"appId":"` + owner.AppID + `","items":[` +
			strings.TrimSuffix(strings.Repeat(`{"action":"create","clientId":"a","input":{`+
				strings.TrimSuffix(strings.Repeat(`"u":1,`, 1), ",")+`}},`, 50), ",") + `]}`},
		{"malformed at the end", "POST", links, `{` + fill(`"u%d":1`)},
		{"numbers", "POST", links, `{"parameters":[` + fill(`1e308`) + `]}`},
	} {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest(c.method, "https://api.example"+c.path, strings.NewReader(c.body))
				r.Header.Set("Authorization", "Bearer "+owner.Credential)
				r.Header.Set("Idempotency-Key", apitest.NewKey())
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("If-Match", `"f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90"`)
				w := httptest.NewRecorder()
				i.API.ServeHTTP(w, r)
				if w.Code < http.StatusBadRequest || w.Code >= http.StatusInternalServerError {
					b.Fatalf("answers %d %.300s", w.Code, w.Body)
				}
			}
		})
	}
}
