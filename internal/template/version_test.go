package template_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

func TestDraft(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := made(owner, "android", design("One", nil))
		path := pathOf(r)
		draft := owner.Call("GET", path+"/draft", nil).Want(200).Has("data", r.Value("data.draft")).
			Has("data.templateId", r.Value("data.template.id"))
		put := func(config any, with ...apitest.With) *apitest.Response {
			return owner.Call("PUT", path+"/draft", M{"config": config}, with...)
		}
		put(M{}).Refused(fault.PreconditionRequired)
		put(M{}, apitest.IfMatch(r.Revision())).Refused(fault.RevisionConflict)
		match := apitest.IfMatch(draft.Revision())
		owner.Call("PUT", path+"/draft", M{}, match).Refused(fault.ValidationFailed, "/config")
		for at, config := range map[string]M{
			"/appearance/light/text":     {"appearance": M{"light": M{"text": "red"}}},
			"/appearance/dark/accent":    {"appearance": M{"dark": M{"accent": "#12345"}}},
			"/appearance/logoAssetId":    {"appearance": M{"logoAssetId": "x"}},
			"/content/heading":           {"content": M{"heading": strings.Repeat("x", 121)}},
			"/content/details":           {"content": M{"details": slices.Repeat([]M{{"label": "a", "value": "b"}}, 5)}},
			"/content/details/0/value":   {"content": M{"details": []M{{"label": "a"}}}},
			"/content/actionLabels/open": {"content": M{"actionLabels": M{"open": strings.Repeat("x", 121)}}},
			"/variables/0/key":           {"variables": []M{{"key": "City"}}},
			"/variables/1/key":           {"variables": []M{{"key": "a"}, {"key": "a"}}},
			"/schemaVersion":             {"schemaVersion": 2},
			"/colour":                    {"colour": "#123456"},
		} {
			put(config, match).Refused(fault.ValidationFailed, "/config"+at)
		}
		i.Clock.Move(time.Second)
		saved := put(design("Two", M{"appearance": unreadable}), match).Want(200).
			Has("data.config.content.heading", `"Two"`).Has("data.baseVersion", "null")
		if saved.Revision() == draft.Revision() || saved.Text("data.updatedAt") == draft.Text("data.updatedAt") {
			t.Errorf("the draft is not a new one: %s", saved.Body)
		}
		whole := owner.Call("GET", path, nil).Want(200).Has("data.draft", saved.Value("data")).
			Has("data.template.updatedAt", saved.Value("data.updatedAt"))
		if whole.Revision() == r.Revision() || whole.Revision() == saved.Revision() ||
			whole.Value("data.revision") != whole.Value("data.template.revision") {
			t.Errorf("the revision of the template: %s", whole.Body)
		}
		owner.Call("PATCH", path, M{"name": "x"}, apitest.IfMatch(r.Revision())).Refused(fault.RevisionConflict)
		owner.Call("GET", "/audit-events?resourceType=template_draft", nil).Want(200).
			Has("data.0.operation", `"setTemplatesTemplateIdDraft"`).Has("data.0.revision", saved.Value("data.revision")).
			Has("data.1", "")
	})
}

// Of two that save a draft which both have read, one wins.
func TestTwoSaveADraft(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := made(owner, "ios", nil)
		match := apitest.IfMatch(r.Text("data.draft.revision"))
		var together sync.WaitGroup
		var answers [2]*apitest.Response
		for n := range answers {
			together.Go(func() {
				answers[n] = owner.Call("PUT", pathOf(r)+"/draft", M{"config": design(fmt.Sprint(n), nil)}, match)
			})
		}
		together.Wait()
		won := slices.IndexFunc(answers[:], func(a *apitest.Response) bool { return a.Status == 200 })
		if won < 0 {
			t.Fatalf("nobody won: %s %s", answers[0].Body, answers[1].Body)
		}
		answers[1-won].Refused(fault.RevisionConflict)
		owner.Call("GET", pathOf(r)+"/draft", nil).Want(200).Has("data", answers[won].Value("data"))
	})
}

func TestVersions(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := made(owner, "android", design("One", M{"appearance": unreadable, "variables": []M{{"key": "a"}}}))
		path := pathOf(r)
		refused := owner.Call("POST", path+"/versions", "{}").Refused(fault.ValidationFailed)
		for n := range refused.Len("error.details") {
			if at := refused.Text(fmt.Sprintf("error.details.%d.path", n)); !strings.HasPrefix(at,
				"/config/appearance/light/") {
				t.Errorf("an issue at %s", at)
			}
		}
		draft := owner.Call("PUT", path+"/draft", M{"config": design("One", M{"variables": []M{{"key": "a"}}})},
			apitest.IfMatch(r.Text("data.draft.revision"))).Want(200)
		owner.Call("POST", path+"/versions", "{}", apitest.IfMatch(r.Revision())).Refused(fault.RevisionConflict)
		owner.Call("POST", path+"/versions", M{"name": "x"}).Refused(fault.ValidationFailed, "/name")
		first := owner.Call("POST", path+"/versions", "{}", apitest.IfMatch(draft.Revision())).Want(201).
			Has("data.version", "1").Has("data.baseTemplateId", `"android"`).
			Has("data.config", `{"content":{"heading":"One"},"variables":[{"key":"a"}]}`)
		digest := sha256.Sum256([]byte(first.Value("data.config")))
		first.Has("data.sha256", `"`+hex.EncodeToString(digest[:])+`"`)
		// The draft keeps its revision, so that its designer goes on.
		i.Clock.Move(time.Second)
		next := owner.Call("PUT", path+"/draft", M{"config": design("Two", nil)}, apitest.IfMatch(draft.Revision())).
			Want(200).Has("data.baseVersion", "1")
		second := owner.Call("POST", path+"/versions", "{}", apitest.IfMatch(next.Revision())).Want(201).
			Has("data.version", "2")
		owner.Call("GET", path+"/draft", nil).Want(200).Has("data.baseVersion", "2")
		third := owner.Call("POST", path+"/versions", "{}").Want(201).Has("data.version", "3").
			Has("data.sha256", second.Value("data.sha256"))
		all := owner.Call("GET", path+"/versions?limit=2", nil).Want(200).Has("data.0", third.Value("data")).
			Has("data.1", second.Value("data")).Has("data.2", "")
		owner.Call("GET", path+"/versions?limit=2&cursor="+all.Text("pagination.nextCursor"), nil).Want(200).
			Has("data.0", first.Value("data")).Has("pagination.hasMore", "false")
		owner.Call("GET", path+"/versions/1", nil).Want(200).Has("data", first.Value("data"))
		owner.Call("GET", "/audit-events?resourceType=template_version", nil).Want(200).
			Has("data.2.resource.id", `"`+r.Text("data.template.id")+`@1"`)

		// Choices are the versions of what is not archived, newest first.
		i.Clock.Move(time.Second)
		other := made(owner, "ios", nil)
		owner.Call("POST", pathOf(other)+"/versions", "{}").Want(201)
		choices := "/template-choices?limit=2&appId=" + owner.AppID
		page := owner.Call("GET", choices, nil).Want(200).
			Has("data.0.templateId", other.Value("data.template.id")).Has("data.0.variables", "[]").
			Has("data.0.baseTemplateId", `"ios"`).Has("data.0.name", `"Sale"`).Has("data.1.version", "3")
		owner.Call("GET", choices+"&cursor="+page.Text("pagination.nextCursor"), nil).Want(200).
			Has("data.0.version", "2").Has("data.1.version", "1").Has("data.1.variables", `[{"key":"a"}]`).
			Has("pagination.hasMore", "false")
		owner.Call("PATCH", path, M{"archived": true}, apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200)
		if n := owner.Call("GET", choices, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d choices", n)
		}
	})
}

// A position that is no version is an error, not the start of the list; here there is no database to list from.
func TestPositionAmongVersions(t *testing.T) {
	w := op.Window{Limit: 2, After: &cursor.Position{ID: "first"}}
	if all, err := template.ListVersions(t.Context(), &op.Call{}, "template", w); len(all) != 0 || err == nil {
		t.Errorf("after %q come %v", w.After.ID, all)
	}
}

// What wider scopes chose is asked for only when a link gives values, and must be known then.
func TestChoicesOfWiderScopesAreNeeded(t *testing.T) {
	cause := errors.New("the disk is broken")
	asked := 0
	check := func(text string) ([]fault.Detail, error) {
		return template.CheckData(t.Context(), nil, opt.Object{Value: jsontext.Value(text)}, &binding.Selections{},
			func() ([]*binding.Selections, error) { asked++; return nil, cause })
	}
	if found, err := check(`{}`); len(found) != 0 || err != nil || asked != 0 {
		t.Errorf("without values: %v, %v, asked %d times", found, err, asked)
	}
	if found, err := check(`{"a":"b"}`); len(found) != 0 || !errors.Is(err, cause) || asked != 1 {
		t.Errorf("with a value: %v, %v, asked %d times", found, err, asked)
	}
}

// Two versions made at once have numbers of their own.
func TestTwoMakeAVersion(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := made(owner, "ios", nil)
		var together sync.WaitGroup
		var numbers [2]string
		for n := range numbers {
			together.Go(func() {
				numbers[n] = owner.Call("POST", pathOf(r)+"/versions", "{}",
					apitest.IfMatch(r.Text("data.draft.revision"))).Want(201).Value("data.version")
			})
		}
		together.Wait()
		slices.Sort(numbers[:])
		if numbers != [2]string{"1", "2"} {
			t.Errorf("versions %v", numbers)
		}
	})
}

// What is not named is published as the newest version, while the draft is equal to
// it; and a version is available once it is projected.
func TestToPublish(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := made(owner, "android", design("One", M{"content": M{"actionLabels": M{"open": "Open", "web": "Web",
			"install": "Install", "copy": "Copy", "other": "Other"}}}))
		id, path := r.Text("data.template.id"), pathOf(r)
		publish := func() (number int64) {
			t.Helper()
			if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
				loaded, err := template.Load(t.Context(), tx, id)
				if err != nil {
					return err
				}
				v, err := template.ToPublish(t.Context(), tx, &loaded)
				if err != nil {
					return err
				}
				number = v.Version
				return template.Project(t.Context(), tx, owner.AppID, id, v.Version)
			}); err != nil {
				t.Fatal(err)
			}
			return number
		}
		another := owner.Call("POST", "/templates", M{"appId": owner.AppID, "name": "B",
			"baseTemplateId": "android"}).Want(201)
		owner.Call("POST", "/templates/"+another.Text("data.template.id")+"/versions", "{}").Want(201)
		owner.Call("GET", path+"/availability", nil).Want(200).Has("data.latestVersion", "null").
			Has("data.versions", "[]").Has("data.inUse", `{"app":0,"domains":0,"links":0}`)
		for want := range int64(2) {
			if got := publish(); got != 1 {
				t.Errorf("the publication %d has version %d", want, got)
			}
		}
		draft := owner.Call("PUT", path+"/draft", M{"config": M{}}, apitest.IfMatch(r.Text("data.draft.revision"))).Want(200)
		owner.Call("POST", path+"/versions", "{}").Want(201).Has("data.version", "2")
		owner.Call("PUT", path+"/draft", M{"config": design("Two", nil)}, apitest.IfMatch(draft.Revision())).Want(200)
		if got := publish(); got != 3 {
			t.Errorf("a draft that changed is published as version %d", got)
		}
		owner.Call("GET", path+"/availability", nil).Want(200).Has("data.latestVersion", "3").
			Has("data.templateId", `"`+id+`"`).
			Has("data.versions.0", `{"version":3,"availability":"available"}`).
			Has("data.versions.1", `{"version":2,"availability":"prepared"}`).
			Has("data.versions.2", `{"version":1,"availability":"available"}`)
		if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
			return template.Project(t.Context(), tx, "app_other", id, 1)
		}); err == nil {
			t.Error("another app has a version projected")
		}
		// Who chose the official design, or one for another base, does not use it.
		custom := `{"mode":"custom","templateId":"` + id + `","version":1}`
		for _, other := range []string{`{"android":{"mode":"official"},"ios":null,"recovery":null,"revisions":{}}`,
			`{"android":null,"ios":` + custom + `,"recovery":null,"revisions":{}}`} {
			if _, err := i.DB.Exec(t.Context(), "UPDATE app SET template_defaults = ?", other); err != nil {
				t.Fatal(err)
			}
			owner.Call("GET", path+"/availability", nil).Want(200).Has("data.inUse", `{"app":0,"domains":0,"links":0}`)
		}
		chosen := `{"android":` + custom + `,"ios":null,"recovery":null,"revisions":{}}`
		for _, statement := range []string{"UPDATE app SET template_defaults = ? WHERE id = '" + owner.AppID + "'",
			"UPDATE domain SET template_defaults = ? WHERE app_id = '" + owner.AppID + "'"} {
			if _, err := i.DB.Exec(t.Context(), statement, chosen); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := i.DB.Exec(t.Context(), "INSERT INTO link_template (template_id, link_id) VALUES (?, 'a'), (?, 'b'), "+
			"('another', 'a')", id, id); err != nil {
			t.Fatal(err)
		}
		owner.Call("GET", path+"/availability", nil).Want(200).Has("data.inUse", `{"app":1,"domains":1,"links":2}`)
	})
}

// A version that the redirector has is not given to it once more: each time would be a change
// that all redirectors read.
func TestProvideOnce(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		first, second := made(owner, "android", nil).Text("data.template.id"), made(owner, "android", nil).Text("data.template.id")
		for _, id := range []string{first, second} {
			owner.Call("POST", "/templates/"+id+"/versions", "{}").Want(201).Has("data.version", "1")
		}
		for n, c := range []struct {
			id   string
			want int
		}{{first, 1}, {first, 0}, {second, 1}} {
			var chosen binding.Selections
			if err := json.Unmarshal([]byte(`{"android":{"mode":"custom","templateId":"`+c.id+`","version":1}}`), &chosen); err != nil {
				t.Fatal(err)
			}
			given := 0
			ctx := store.WithFaults(t.Context(), func(query string) error {
				if strings.HasPrefix(query, "INSERT INTO route_template") {
					given++
				}
				return nil
			})
			if err := i.DB.InTx(ctx, func(tx *store.Tx) error {
				return template.Provide(ctx, tx, owner.AppID, &chosen)
			}); err != nil || given != c.want {
				t.Errorf("case %d: the version is given %d times, want %d: %v", n, given, c.want, err)
			}
		}
	})
}
