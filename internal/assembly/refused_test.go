package assembly_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/apitest/refused"
)

// refusals returns, by name, what makes each call of the corpus of refused bodies.
func refusals(t testing.TB) (calls []refused.Call, refuse func(refused.Call)) {
	i := apitest.New(t, "sqlite", apitest.Options{LimitScale: 1e9})
	owner := i.Prepared(t, "ann@example.com")
	link := owner.Link("a", nil).Want(201).Text("data.id")
	template := owner.Call("POST", "/templates", apitest.M{"appId": owner.AppID, "name": "a",
		"baseTemplateId": "android"}).Want(201).Text("data.template.id")
	return refused.Calls(owner.AppID, apitest.Path(link), template), func(c refused.Call) {
		r := httptest.NewRequest(c.Method, "https://api.example/v1"+c.Path, strings.NewReader(c.Body))
		r.Header.Set("Authorization", "Bearer "+owner.Credential)
		r.Header.Set("Idempotency-Key", apitest.NewKey())
		r.Header.Set("Content-Type", c.Type)
		r.Header.Set("If-Match", refused.Revision)
		w := httptest.NewRecorder()
		i.API.ServeHTTP(w, r)
		if w.Code < http.StatusBadRequest || w.Code >= http.StatusInternalServerError || len(c.Body) > 32<<10+600 {
			t.Fatalf("%s: %d bytes are answered with %d %.300s", c.Name, len(c.Body), w.Code, w.Body)
		}
	}
}

// What refusing the worst bodies costs, from request to answer on SQLite. Each should stay
// below 5 ms.
func BenchmarkRefusedBodies(b *testing.B) {
	calls, refuse := refusals(b)
	for _, c := range calls {
		b.Run(strings.ReplaceAll(c.Name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				refuse(c)
			}
		})
	}
}

// Refusing a body is bounded work, whatever it holds. The work is counted in allocations,
// of which each value that is parsed, each member that is looked at and each problem that
// is found needs some.
func TestRefusingABodyIsBoundedWork(t *testing.T) {
	const most = 25000
	calls, refuse := refusals(t)
	for _, c := range calls {
		refuse(c)
		if n := testing.AllocsPerRun(3, func() { refuse(c) }); n > most {
			t.Errorf("%s: %.0f allocations", c.Name, n)
		} else {
			t.Logf("%s: %.0f allocations", c.Name, n)
		}
	}
}
