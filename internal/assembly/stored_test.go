package assembly_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/domain"
)

// A call that creates or changes something answers with the same data as a read that follows.
func TestAnswersTellWhatIsStored(t *testing.T) {
	document := contractDocument(t)
	i := apitest.New(t, "sqlite", apitest.Options{Domains: domain.Options{Provider: awayDNS{}}})
	owner := i.Prepared(t, "ann@example.com")
	n := &nastyCaller{t: t, api: i.API, credential: owner.Credential, ids: resources(t, i, owner), document: document}
	paths := document["paths"].(map[string]any)
	compared := 0
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch} {
		for _, template := range slices.Sorted(maps.Keys(paths)) {
			operation := at(document, paths[template], strings.ToLower(method))
			if operation == nil {
				continue
			}
			target, body := n.valid(template, operation)
			w := n.answer(n.request(method, target, body))
			told, isOne := dataOf(t, w).(map[string]any)
			if w.Code/100 != 2 || !isOne {
				continue
			}
			for _, hasSecret := range []string{"key", "webhook"} {
				if resource, ok := told[hasSecret].(map[string]any); ok {
					told = resource
				}
			}
			id := told["id"]
			if method == http.MethodPost && id == nil || template == "/link-batches" {
				continue // a preview or a validation; only the items of a batch can be read
			}
			delete(told, "valid") // of an import, once it is validated
			reads := []string{target, fmt.Sprint(target, "/", id), path.Dir(target)}
			if location := w.Header().Get("Location"); location != "" {
				reads = append(reads, location)
			}
			var stored map[string]any
			for _, from := range reads {
				if stored == nil {
					stored = n.read(from, id)
				}
			}
			compared++
			if !reflect.DeepEqual(told, stored) {
				t.Errorf("%s %s answers\n%v\nand then one reads\n%v", method, template, told, stored)
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d answers were compared", compared)
	}
}

// read reads a resource with an id, or without one, from its path or from that of a list. It returns nil where there is none.
func (n *nastyCaller) read(from string, id any) map[string]any {
	found := dataOf(n.t, n.answer(n.request(http.MethodGet, from, "")))
	list, isList := found.([]any)
	if !isList {
		list = []any{found}
	}
	for _, element := range list {
		if resource, ok := element.(map[string]any); ok && resource["id"] == id {
			return resource
		}
	}
	return nil
}

// dataOf returns the data of an answer, or nil when there is none.
func dataOf(t *testing.T, w *httptest.ResponseRecorder) any {
	t.Helper()
	var answer struct {
		Data any `json:"data"`
	}
	if w.Code/100 == 2 && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
	}
	return answer.Data
}
