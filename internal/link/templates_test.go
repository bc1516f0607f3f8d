package link_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// newTemplate makes a template with one version whose variables are these, and
// returns its id.
func newTemplate(owner *apitest.Client, base string, variables ...M) string {
	config := M{}
	if len(variables) > 0 {
		config["variables"] = variables
	}
	id := owner.Call("POST", "/templates", M{"appId": owner.AppID, "name": "T", "baseTemplateId": base,
		"config": config}).Want(201).Text("data.template.id")
	owner.Call("POST", "/templates/"+id+"/versions", M{}).Want(201)
	return id
}

func custom(id string) M { return M{"mode": "custom", "templateId": id, "version": 1} }

// indexed returns how many links the index has for a template.
func indexed(t *testing.T, i *apitest.Installation, template string) int {
	t.Helper()
	n, err := store.One(t.Context(), i.DB, store.Value[int], "SELECT COUNT(*) FROM link_template WHERE template_id = ?",
		template)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A selection is read and replaced by operations of its own; what is effective comes
// from the link, its domain, its app or the product.
func TestSelection(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		a, b := newTemplate(owner, "android"), newTemplate(owner, "android")
		ios := newTemplate(owner, "ios")
		link := owner.Link("a", nil).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		official := `{"mode":"official","templateId":null,"version":null}`
		chosen := func(id string) string { return `{"mode":"custom","templateId":"` + id + `","version":1}` }
		r := owner.Call("GET", path+"/template-selection", nil).Want(200).
			Has("data.selection", `{"android":null,"ios":null,"recovery":null}`).
			Has("data.bindingRevisions", `{"android":null,"ios":null,"recovery":null}`).
			Has("data.effective", `{"android":`+official+`,"ios":`+official+`,"recovery":`+official+`}`)
		if r.Revision() != link.Revision() {
			t.Error("the selection has another revision than the link")
		}
		set := func(selection any) *apitest.Response {
			return owner.Call("PUT", path+"/template-selection", M{"selection": selection},
				apitest.IfMatch(owner.Call("GET", path, nil).Revision()))
		}
		first := set(M{"android": custom(a), "ios": custom(ios)}).Want(200).Has("data.effective.android", chosen(a)).
			Has("data.selection.recovery", "null")
		if first.Revision() != owner.Call("GET", path, nil).Revision() || first.Revision() == link.Revision() {
			t.Error("the link has no new revision, or another one")
		}
		owner.Call("GET", path+"/history", nil).Want(200).Has("data.0.action", `"template_selection_replaced"`)
		second := set(M{"android": custom(b), "ios": custom(ios), "recovery": M{"mode": "inherit"}}).Want(200).
			Has("data.bindingRevisions.ios", first.Value("data.bindingRevisions.ios"))
		if second.Value("data.bindingRevisions.android") == first.Value("data.bindingRevisions.android") {
			t.Error("the changed binding kept its revision")
		}
		if indexed(t, i, a) != 0 || indexed(t, i, b) != 1 || indexed(t, i, ios) != 1 {
			t.Error("the index of templates is not that of the selection")
		}
		// It can be sent back as it was read.
		set(jsontext.Value(second.Value("data.selection"))).Want(200).
			Has("data.bindingRevisions", second.Value("data.bindingRevisions"))
		set(M{}).Want(200).Has("data.selection", `{"android":null,"ios":null,"recovery":null}`)
		if indexed(t, i, b) != 0 {
			t.Error("what was taken back is indexed")
		}

		owner.Call("POST", "/templates/"+b+"/versions", M{}).Want(201) // which is no version of another template
		foreign := newTemplate(eve, "android")
		for _, c := range []struct {
			android M
			path    string
		}{
			{M{"mode": "custom"}, "/templateId"}, {M{"mode": "custom", "templateId": a}, "/version"},
			{M{"mode": "custom", "templateId": a, "version": 2}, "/version"}, {custom(ios), "/templateId"},
			{custom(foreign), "/templateId"}, {custom("x"), "/templateId"},
			{M{"mode": "inherit", "templateId": a}, "/templateId"}, {M{"mode": "official", "version": 1}, "/version"},
		} {
			set(M{"android": c.android}).Refused(fault.ValidationFailed, "/selection/android"+c.path)
		}
		owner.Call("PUT", path+"/template-selection", M{"selection": M{}}).Refused(fault.PreconditionRequired)
		owner.Call("PUT", path+"/template-selection", M{"selection": M{}}, apitest.IfMatch(first.Revision())).
			Refused(fault.RevisionConflict)
		eve.Call("GET", path+"/template-selection", nil).Refused(fault.NotFound)

		// The defaults of the domain come before those of the app.
		domain := "/domains/" + owner.Call("GET", "/domains?appId="+owner.AppID, nil).Text("data.0.id")
		app := "/apps/" + owner.AppID
		for _, holder := range []string{app, domain} {
			id, before := map[string]string{app: a, domain: b}[holder], owner.Call("GET", holder, nil).Revision()
			owner.Call("PUT", holder+"/template-defaults", M{"defaults": M{"android": custom(id)}},
				apitest.IfMatch(before)).Want(200)
			owner.Call("PUT", holder+"/template-defaults", M{"defaults": M{}}, apitest.IfMatch(before)).Refused(fault.RevisionConflict)
			owner.Call("GET", path+"/template-selection", nil).Want(200).Has("data.effective.android", chosen(id)).
				Has("data.selection.android", "null")
		}
		set(M{"android": M{"mode": "official"}}).Want(200).Has("data.effective.android", official)
	})
}

// A template that was archived stays where it was chosen, and is chosen nowhere else.
func TestArchivedTemplate(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		id := newTemplate(owner, "android")
		r := owner.Link("a", M{"templateSelection": M{"android": custom(id)}}).Want(201)
		path := "/links/" + apitest.Path(r.Text("data.id"))
		owner.Call("POST", "/templates/"+id+"/versions", M{}).Want(201)
		template := owner.Call("GET", "/templates/"+id, nil).Want(200).Text("data.revision")
		owner.Call("PATCH", "/templates/"+id, M{"archived": true}, apitest.IfMatch(template)).Want(200)
		owner.Link("b", M{"templateSelection": M{"android": custom(id)}}).
			Refused(fault.ValidationFailed, "/templateSelection/android/templateId")
		patch := func(selection M) *apitest.Response {
			return owner.Call("PATCH", path, M{"templateSelection": selection},
				apitest.IfMatch(owner.Call("GET", path, nil).Revision()))
		}
		patch(M{"android": custom(id)}).Want(200)
		patch(M{"android": M{"mode": "custom", "templateId": id, "version": 2}}).
			Refused(fault.ValidationFailed, "/templateSelection/android/templateId")
		patch(M{"android": nil}).Want(200)
		patch(M{"android": custom(id)}).Refused(fault.ValidationFailed, "/templateSelection/android/templateId")
	})
}

// Whatever makes or changes a link keeps the index of templates, and the versions that
// it names are available.
func TestTemplateIndex(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		id := newTemplate(owner, "android")
		want := func(n int) {
			t.Helper()
			if got := indexed(t, i, id); got != n {
				t.Errorf("%d links are indexed, want %d", got, n)
			}
		}
		selection := M{"android": custom(id)}
		link := owner.Link("a", M{"templateSelection": selection}).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		want(1)
		owner.Call("GET", "/templates/"+id+"/availability", nil).Want(200).Has("data.versions.0.availability", `"available"`)
		revisions := owner.Call("GET", path+"/template-selection", nil).Value("data.bindingRevisions.android")
		copied := owner.Call("POST", path+"/duplicate", M{"slug": "copy"}).Want(201).
			Has("data.templateSelection", link.Value("data.templateSelection"))
		other := "/links/" + apitest.Path(copied.Text("data.id"))
		if owner.Call("GET", other+"/template-selection", nil).Value("data.bindingRevisions.android") == revisions {
			t.Error("the copy has the binding of its original")
		}
		want(2)
		owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{{"clientId": "a", "action": "create",
			"input": M{"appId": owner.AppID, "domain": owner.Host, "slug": "batch", "templateSelection": selection}}}}).Want(202)
		i.Settle(t)
		want(3)
		link = owner.Call("PATCH", path, M{"title": "T"}, apitest.IfMatch(link.Revision())).Want(200)
		want(3)
		link = owner.Call("PATCH", path, M{"templateSelection": M{"android": nil}}, apitest.IfMatch(link.Revision())).Want(200)
		want(2)
		owner.Call("PATCH", path, M{"templateSelection": selection}, apitest.IfMatch(link.Revision())).Want(200)
		owner.Call("DELETE", other, nil, apitest.IfMatch(copied.Revision())).Want(204)
		want(2)
	})
}

// The values of a link fit the variables of what it chose, and of what it inherits.
func TestTemplateData(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		shop := newTemplate(owner, "android", M{"key": "city", "required": true, "maxLength": 5},
			M{"key": "size", "type": "number"})
		phone := newTemplate(owner, "ios", M{"key": "city"}, M{"key": "open", "type": "boolean", "required": true})
		n := 0
		create := func(selection, data M) *apitest.Response {
			n++
			return owner.Link(fmt.Sprint("t", n), M{"templateSelection": selection, "templateData": data})
		}
		android := M{"android": custom(shop)}
		create(android, M{"city": "Porto", "size": 4.5}).Want(201).Has("data.templateData", `{"city":"Porto","size":4.5}`)
		for _, c := range []struct {
			selection, data M
			paths           []string
		}{
			{android, M{}, []string{"/templateData/city"}},
			{android, M{"city": "Lisbon"}, []string{"/templateData/city"}},
			{android, M{"city": 1, "size": "4", "color": "red"},
				[]string{"/templateData/city", "/templateData/size", "/templateData/color"}},
			{M{}, M{"city": "Porto"}, []string{"/templateData/city"}},
			{M{"android": custom(shop), "ios": custom(phone)}, M{"city": "Porto"}, []string{"/templateData/open"}},
			{android, M{"city": strings.Repeat("x", 8192)}, []string{"/templateData"}},
		} {
			create(c.selection, c.data).Refused(fault.ValidationFailed, c.paths...)
			owner.Call("POST", "/links/validate", M{"appId": owner.AppID, "domain": owner.Host, "slug": "v",
				"templateSelection": c.selection, "templateData": c.data}).Want(200).Has("data.valid", "false").
				Has("data.issues.0.path", `"`+c.paths[0]+`"`)
		}
		create(M{"android": custom(shop), "ios": custom(phone)}, M{"city": "Porto", "open": true, "size": 1}).Want(201)

		// What is inherited is known, and required of nobody.
		app := "/apps/" + owner.AppID
		owner.Call("PUT", app+"/template-defaults", M{"defaults": M{"android": custom(shop), "ios": custom(phone)}},
			apitest.IfMatch(owner.Call("GET", app, nil).Revision())).Want(200)
		link := create(M{}, M{"size": 1}).Want(201)
		create(M{}, M{"size": "1"}).Refused(fault.ValidationFailed, "/templateData/size")
		create(M{"android": M{"mode": "official"}}, M{"size": 1}).Refused(fault.ValidationFailed, "/templateData/size")

		// A selection that the values do not fit is refused; both are changed together.
		path := "/links/" + apitest.Path(link.Text("data.id"))
		owner.Call("PUT", path+"/template-selection", M{"selection": android}, apitest.IfMatch(link.Revision())).
			Refused(fault.ResourceConflict)
		owner.Call("PATCH", path, M{"templateSelection": android}, apitest.IfMatch(link.Revision())).
			Refused(fault.ValidationFailed, "/templateData/city")
		r := owner.Call("PATCH", path, M{"templateSelection": android, "templateData": M{"city": "Faro", "size": 2}},
			apitest.IfMatch(link.Revision())).Want(200)
		// Values whose variables are gone stay until they are sent again.
		r = owner.Call("PUT", path+"/template-selection", M{"selection": M{"android": M{"mode": "official"},
			"ios": M{"mode": "official"}}}, apitest.IfMatch(r.Revision())).Want(200)
		owner.Call("PATCH", path, M{"title": "T"}, apitest.IfMatch(r.Revision())).Want(200).
			Has("data.templateData", `{"city":"Faro","size":2}`)
	})
}
