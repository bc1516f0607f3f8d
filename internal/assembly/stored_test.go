package assembly_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/domain"
)

// A call that makes or changes something answers what is read of it afterwards.
func TestAnswersTellWhatIsStored(t *testing.T) {
	document := contractDocument(t)
	i := apitest.New(t, "sqlite", apitest.Options{Domains: domain.Options{Provider: awayDNS{}}})
	owner := i.Prepared(t, "ann@example.com")
	n := &nastyCaller{t: t, api: i.API, credential: owner.Credential, ids: resources(t, i, owner), document: document}
	paths := document["paths"].(map[string]any)
	data := func(w *httptest.ResponseRecorder) string {
		var answer struct{ Data map[string]any }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			return ""
		}
		text, err := json.Marshal(answer.Data, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	compared := 0
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch} {
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			operation := at(document, paths[path], strings.ToLower(method))
			if operation == nil {
				continue
			}
			target, body := n.valid(path, operation)
			w, read := n.answer(n.request(method, target, body)), target
			if method == http.MethodPost {
				read = w.Header().Get("Location")
			}
			if w.Code/100 != 2 || read == "" || method != http.MethodPost && at(document, paths[path], "get") == nil {
				continue
			}
			compared++
			if told, stored := data(w), data(n.answer(n.request(http.MethodGet, read, ""))); told != stored || told == "" || told == "null" {
				t.Errorf("%s %s answers\n%s\nand then one reads\n%s", method, path, told, stored)
			}
		}
	}
	if compared < 30 {
		t.Errorf("only %d answers were compared", compared)
	}
}
