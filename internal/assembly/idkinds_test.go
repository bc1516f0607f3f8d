package assembly_test

import (
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/store"
)

// An id in an answer is one of the kind that its member names.
func TestIDsAreOfTheirKind(t *testing.T) {
	r := allReads(t)
	seen := map[string]int{}
	kinds := map[string]string{"appId": "app", "linkId": "link", "domainId": "domain", "templateId": "template",
		"webhookId": "webhook", "campaignId": "campaign", "operationId": "operation"}
	var look func(target string, value any)
	look = func(target string, value any) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				look(target, v)
			}
		case map[string]any:
			for member, v := range value {
				id, isText := v.(string)
				if kind := kinds[member]; kind != "" && isText {
					seen[member]++
					known, err := store.Exists(t.Context(), r.i.DB, "SELECT 1 FROM "+kind+" WHERE id = ?", id)
					if err != nil {
						t.Fatal(err)
					}
					if !known {
						t.Errorf("GET %s: %s is %q, which no %s has", target, member, id, kind)
					}
				}
				look(target, v)
			}
		}
	}
	for _, target := range r.targets {
		var document map[string]any
		if json.Unmarshal(r.answer(r.request(http.MethodGet, target, "")).Body.Bytes(), &document) == nil { // CSV and images have no ids
			look(target, document["data"])
		}
	}
	for member := range kinds {
		if seen[member] == 0 {
			t.Errorf("no answer has a %s", member)
		}
	}
}
