package assembly_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// light are the filters with which a list reads little more than what it answers: they
// are the index's, or what they choose from is bounded, or only as large as a list that
// people look through.
var light = []string{
	"getApiKeys status", "getAssets state", "getCampaigns archived", "getDomains detached",
	"getFolders archived", "getImportsImportIdItems format", "getLinks createdFrom", "getLinks createdTo",
	"getLinks order", "getTags archived", "getTemplatePublications state", "getTemplatePublications templateId",
	"getTemplates archived", "getQrCodes linkId", "getAuditEvents from", "getAuditEvents to", "getRequests from",
	"getRequests to",
}

// Each filter of each list is either known to be light or takes turns: while all turns of
// its owner are taken, a call with it is turned away, and one without is answered.
func TestFiltersThatSearchTakeTurns(t *testing.T) {
	document := contractDocument(t)
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		end := owner.Busy(t)
		defer end()
		paths, asked := document["paths"].(map[string]any), 0
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			get := at(document, paths[path], "get")
			parameters, _ := get["parameters"].([]any)
			// Analytics has turns of its own, and a path names what is bounded.
			if get == nil || strings.HasPrefix(path, "/analytics/") || strings.Contains(path, "{") {
				continue
			}
			query, filters := url.Values{}, map[string]string{}
			paged := false
			for _, p := range parameters {
				p := at(document, p)
				name, _ := p["name"].(string)
				switch required, _ := p["required"].(bool); {
				case p["in"] != "query" || name == "limit":
				case name == "cursor":
					paged = true
				case name == "appId" && required:
					query.Set(name, owner.AppID)
				default:
					filters[name] = filterValue(at(document, p, "schema"), name, owner)
				}
			}
			if !paged {
				continue
			}
			owner.Call("GET", path+"?"+query.Encode(), nil).Want(200)
			for name, value := range filters {
				asked++
				with := maps.Clone(query)
				with.Set(name, value)
				answer := owner.Call("GET", path+"?"+with.Encode(), nil)
				if slices.Contains(light, get["operationId"].(string)+" "+name) {
					answer.Want(200)
				} else if answer.Refused(fault.Unavailable); answer.Header.Get("Retry-After") != "1" {
					t.Errorf("%s?%s: retry after %q", path, with.Encode(), answer.Header.Get("Retry-After"))
				}
			}
		}
		if asked < 40 {
			t.Errorf("only %d filters were tried", asked)
		}
		end()
		owner.Call("GET", "/links?q=a&appId="+owner.AppID, nil).Want(200)
	})
}

// filterValue returns a value that a filter's schema accepts.
func filterValue(schema map[string]any, name string, owner *apitest.Client) string {
	values, _ := schema["enum"].([]any)
	switch {
	case name == "appId":
		return owner.AppID
	case len(values) > 0:
		return values[0].(string)
	case schema["type"] == "boolean":
		return "true"
	case schema["type"] == "integer":
		return "200"
	case schema["format"] == "date-time":
		return "2030-01-01T00:00:00Z"
	case schema["format"] == "idn-hostname":
		return owner.Host
	}
	return "a"
}
