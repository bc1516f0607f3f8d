package template_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/template"
)

// The catalog's schema admits its example, which can become a version as it is.
func TestCatalog(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Call("GET", "/template-catalog", nil).Want(200).Has("data.0.baseTemplateId", `"android"`).
			Has("data.1.baseTemplateId", `"ios"`).Has("data.2.baseTemplateId", `"recovery"`).Has("data.3", "").
			Has("data.0.rendererContractVersion", "1").
			Has("data.0.limits", `{"configBytes":12288,"dataBytes":8192,"variables":20,"details":4}`)
		page := owner.Call("GET", "/template-catalog?limit=2", nil).Want(200).Has("data.2", "")
		owner.Call("GET", "/template-catalog?limit=2&cursor="+page.Text("pagination.nextCursor"), nil).Want(200).
			Has("data.0.baseTemplateId", `"recovery"`).Has("pagination.hasMore", "false")
		for _, base := range []string{"android", "ios", "recovery"} {
			r := owner.Call("GET", "/template-catalog/"+base+"/schema", nil).Want(200)
			var rules any
			var example map[string]any
			for text, into := range map[string]any{r.Value("data.schema"): &rules, r.Value("data.example"): &example} {
				if err := json.Unmarshal([]byte(text), into); err != nil {
					t.Fatal(err)
				}
			}
			compiler := jsonschema.NewCompiler()
			if err := compiler.AddResource("config.json", rules); err != nil {
				t.Fatal(err)
			}
			compiled, err := compiler.Compile("config.json")
			if err != nil {
				t.Fatal(err)
			}
			for _, named := range []string{"android", "ios", "recovery", "web"} {
				config := maps.Clone(example)
				config["baseTemplateId"] = named
				if err := compiled.Validate(config); (err == nil) != (named == base) {
					t.Errorf("%s: the example with the base template %s: %v", base, named, err)
				}
			}
			made := owner.Call("POST", "/templates", M{"appId": owner.AppID, "name": "x", "baseTemplateId": base,
				"config": example}).Want(201).Has("data.draft.config", r.Value("data.example"))
			owner.Call("POST", pathOf(made)+"/versions", "{}").Want(201)
		}
	})
}

func TestValidate(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := made(owner, "android", design("Hello {{city}}", M{"variables": []M{{"key": "city", "required": true,
			"maxLength": 5}}}))
		path := pathOf(r)
		validate := func(body any, with ...apitest.With) *apitest.Response {
			return owner.Call("POST", path+"/validate", body, with...)
		}
		valid := validate("{}", apitest.IfMatch(r.Revision())).Want(200).Has("data.valid", "true").Has("data.issues", "[]").
			Has("data.dataBytes", "0")
		if want := len(r.Value("data.draft.config")); valid.Value("data.configBytes") != strconv.Itoa(want) {
			t.Errorf("%s bytes, want %d", valid.Value("data.configBytes"), want)
		}
		validate("{}", apitest.IfMatch(r.Text("data.draft.revision"))).Refused(fault.RevisionConflict)
		issue := func(body M, path string) {
			t.Helper()
			validate(body).Want(200).Has("data.valid", "false").Has("data.issues.0.path", `"`+path+`"`)
		}
		issue(M{"data": M{}}, "/data/city")
		issue(M{"data": M{"city": "London"}}, "/data/city")
		issue(M{"data": M{"city": 1}}, "/data/city")
		issue(M{"data": M{"city": "Paris", "town": "x"}}, "/data/town")
		validate(M{"data": M{"city": "Paris"}}).Want(200).Has("data.valid", "true").Has("data.dataBytes", "16")
		issue(M{"config": M{"appearance": M{"light": M{"text": "red"}}}}, "/config/appearance/light/text")
		issue(M{"config": M{"content": M{"heading": strings.Repeat("x", 121)}}}, "/config/content/heading")
		issue(M{"config": M{"content": M{"heading": "{{town}}"}}}, "/config/content/heading")
		issue(M{"config": M{"appearance": M{"logoAssetId": "x"}}}, "/config/appearance/logoAssetId")
		issue(M{"config": M{"baseTemplateId": "ios"}}, "/config/baseTemplateId")
		issue(M{"config": M{"appearance": unreadable}}, "/config/appearance/light/text")
		validate(M{"config": M{"appearance": M{"light": M{"text": 1}}}}).
			Refused(fault.ValidationFailed, "/config/appearance/light/text")
		validate(M{"config": M{"colour": "red"}}).Refused(fault.ValidationFailed, "/config/colour")
		validate(M{"data": "x"}).Refused(fault.ValidationFailed, "/data")
		owner.Call("GET", path, nil).Want(200).Has("data", r.Value("data"))
	})
}

func TestPreview(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := made(owner, "android", design("Hello <b> {{city}}", M{"variables": []M{{"key": "city",
			"defaultValue": "Porto"}}}))
		path := pathOf(r)
		preview := func(body any) *apitest.Response { return owner.Call("POST", path+"/preview", body) }
		plain := preview("{}").Want(200).Has("data.colorScheme", "null").Has("data.sideEffects", "false")
		html := plain.Text("data.html")
		if !strings.Contains(html, "Hello &lt;b&gt; Porto") || !strings.Contains(html, "prefers-color-scheme") ||
			plain.Value("data.bytes") != strconv.Itoa(len(html)) || len(html) > 14<<10 {
			t.Errorf("%s bytes, %d: %s", plain.Value("data.bytes"), len(html), html)
		}
		if again := preview("{}").Text("data.html"); again != html {
			t.Error("the same input gives other bytes")
		}
		for _, scheme := range []string{"light", "dark"} {
			forced := preview(M{"colorScheme": scheme}).Want(200).Has("data.colorScheme", `"`+scheme+`"`).Text("data.html")
			if forced == html || strings.Contains(forced, "prefers-color-scheme") {
				t.Errorf("%s is not forced: %s", scheme, forced)
			}
		}
		preview(M{"colorScheme": nil}).Want(200).Has("data.html", plain.Value("data.html"))
		preview(M{"platform": "android"}).Want(200).Has("data.html", plain.Value("data.html"))
		for platform, want := range map[string][2]string{"android": {"intent://", "play.google.com"},
			"ios": {"example://", "apps.apple.com"}} {
			page := preview(M{"platform": platform}).Want(200).Text("data.html")
			if !strings.Contains(page, want[0]) || !strings.Contains(page, want[1]) {
				t.Errorf("%s: %s", platform, page)
			}
		}
		if desktop := preview(M{"platform": "desktop"}).Want(200).Text("data.html"); strings.Contains(desktop, "intent://") ||
			!strings.Contains(desktop, "https://example.com/") {
			t.Errorf("desktop: %s", desktop)
		}
		if page := preview(M{"data": M{"city": "Lima"}}).Want(200).Text("data.html"); !strings.Contains(page, "Lima") {
			t.Errorf("data: %s", page)
		}
		preview(M{"data": M{"town": "Lima"}}).Refused(fault.ValidationFailed, "/data/town")
		preview(M{"config": M{"appearance": M{"light": M{"text": "red"}}}}).
			Refused(fault.ValidationFailed, "/config/appearance/light/text")
		preview(M{"config": M{"content": M{"heading": "{{town}}"}}}).Refused(fault.ValidationFailed, "/config/content/heading")
		preview(M{"config": M{"appearance": unreadable}}).Want(200)
		preview(M{"config": M{"appearance": M{"logoAssetId": "x"}}}).
			Refused(fault.ValidationFailed, "/config/appearance/logoAssetId")

		// What the app has of its own stands in place of the examples.
		app := owner.Call("GET", "/apps/"+owner.AppID, nil).Want(200)
		owner.Call("PATCH", "/apps/"+owner.AppID, M{"scheme": "gardens", "androidPackage": "com.example.garden",
			"playStoreUrl": "https://play.example.com/garden", "appStoreUrl": "https://apps.example.com/garden",
			"desktopUrl": "https://www.example.com/garden"}, apitest.IfMatch(app.Revision())).Want(200)
		for platform, own := range map[string][]string{
			"android": {"scheme=gardens", "package=com.example.garden", "https://play.example.com/garden"},
			"ios":     {"gardens://", "https://apps.example.com/garden"},
			"desktop": {"https://www.example.com/garden"},
		} {
			page := preview(M{"platform": platform}).Want(200).Text("data.html")
			for _, text := range own {
				if !strings.Contains(page, text) {
					t.Errorf("the page for %s has no %s: %s", platform, text, page)
				}
			}
		}
		recovery := made(owner, "recovery", nil)
		if page := owner.Call("POST", pathOf(recovery)+"/preview", "{}").Want(200).Text("data.html"); !strings.Contains(page,
			"#waymark_token=") {
			t.Errorf("recovery: %s", page)
		}
	})
}

// imageOf returns a PNG of a size in one colour.
func imageOf(t *testing.T, side int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	for n := range m.Pix {
		m.Pix[n] = uint8(n % 4 * 60)
	}
	m.Set(0, 0, color.Black)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A logo is an image of the app that pages can carry, and stays while a draft or a
// version shows it.
func TestLogo(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		logo, large := owner.Upload("image/png", imageOf(t, 300)).Want(201), owner.Upload("image/png", imageOf(t, 2100)).Want(201)
		foreign := eve.Upload("image/png", imageOf(t, 30)).Want(201)
		r := made(owner, "ios", nil)
		path := pathOf(r)
		with := func(id string) M { return M{"config": M{"appearance": M{"logoAssetId": id}}} }
		match := apitest.IfMatch(r.Text("data.draft.revision"))
		const at = "/config/appearance/logoAssetId"
		unknown := owner.Call("PUT", path+"/draft", with("x"), match).Refused(fault.ValidationFailed, at)
		owner.Call("PUT", path+"/draft", with(foreign.Text("data.id")), match).Refused(fault.ValidationFailed, at).
			Has("error.details", unknown.Value("error.details"))
		owner.Call("PUT", path+"/draft", with(large.Text("data.id")), match).Refused(fault.ValidationFailed, at).
			Has("error.details.0.code", `"too_large"`)
		id := logo.Text("data.id")
		owner.Call("PUT", path+"/draft", with(id), match).Want(200)
		if page := owner.Call("POST", path+"/preview", "{}").Want(200).Text("data.html"); !strings.Contains(page,
			"data:image/png;base64,") {
			t.Errorf("the page has no logo: %s", page)
		}
		owner.Call("DELETE", "/assets/"+id, nil, apitest.IfMatch(logo.Revision())).Refused(fault.ResourceConflict).
			Has("error.dependencies.0.type", `"template_draft"`).
			Has("error.dependencies.0.ids.0", r.Value("data.template.id")).Has("error.dependencies.1", "")

		// An image of before there were icons gets its own.
		if _, err := i.DB.Exec(t.Context(), "UPDATE asset SET icon = NULL"); err != nil {
			t.Fatal(err)
		}
		owner.Call("POST", path+"/preview", "{}").Want(200)
		owner.Call("POST", path+"/versions", "{}").Refused(fault.Unavailable)
		i.Sweep(t)
		owner.Call("POST", path+"/versions", "{}").Want(201)
		if page := owner.Call("POST", path+"/preview", "{}").Want(200).Text("data.html"); !strings.Contains(page,
			"data:image/png;base64,") {
			t.Errorf("the page has no logo after the sweep: %s", page)
		}
		owner.Call("POST", path+"/publish", M{"version": 1, "targets": []M{{"scope": "app", "expectedRevision": nil}}}).Want(202)
		i.Settle(t)
		if published, err := store.One(t.Context(), i.DB, store.Value[string], "SELECT document FROM route_template"); err != nil ||
			!strings.Contains(published, "data:image/png;base64,") {
			t.Errorf("the published version has no logo: %s, %v", published, err)
		}
		owner.Call("POST", path+"/validate", with(large.Text("data.id"))).Want(200).
			Has("data.issues.0.code", `"too_large"`)

		owner.Call("PUT", path+"/draft", M{"config": M{}}, apitest.IfMatch(owner.Call("GET", path+"/draft", nil).
			Revision())).Want(200)
		owner.Call("DELETE", "/assets/"+id, nil, apitest.IfMatch(logo.Revision())).Refused(fault.ResourceConflict).
			Has("error.dependencies.0.type", `"template_version"`).
			Has("error.dependencies.0.ids.0", `"`+r.Text("data.template.id")+`@1"`).Has("error.dependencies.1", "")
		owner.Call("DELETE", "/assets/"+large.Text("data.id"), nil, apitest.IfMatch(large.Revision())).Want(204)
	})
}

// A logo that cannot be read is an internal error, neither a page without it nor one that is unknown; and nothing is stored.
func TestLogoCannotBeRead(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		logo := owner.Upload("image/png", imageOf(t, 30)).Want(201).Text("data.id")
		plain := made(owner, "ios", nil)
		path, its := pathOf(plain), M{"config": M{"appearance": M{"logoAssetId": logo}}}
		cause := errors.New("the disk is broken")
		ctx := store.WithFaults(t.Context(), func(query string) error {
			if strings.HasPrefix(query, "SELECT icon FROM asset") {
				return cause
			}
			return nil
		})
		call := func(method, path, revision string, body any) {
			t.Helper()
			before := owner.Call("GET", pathOf(plain), nil).Want(200)
			owner.Call(method, path, body, apitest.IfMatch(before.Text(revision)),
				func(r *http.Request) { *r = *r.WithContext(ctx) }).Refused(fault.Internal)
			owner.Call("GET", pathOf(plain), nil).Want(200).Has("data", before.Value("data"))
			owner.Call(method, path, body, apitest.IfMatch(before.Text(revision))).Want(200)
		}
		call("POST", path+"/validate", "data.revision", its)
		call("POST", path+"/preview", "data.revision", its)
		call("PUT", path+"/draft", "data.draft.revision", its)
		owner.Call("POST", path+"/versions", "{}").Want(201)
		project := func(ctx context.Context) error {
			return i.DB.InTx(ctx, func(tx *store.Tx) error {
				return template.Project(ctx, tx, owner.AppID, plain.Text("data.template.id"), 1)
			})
		}
		if err := project(ctx); !errors.Is(err, cause) {
			t.Errorf("a version is projected without its logo: %v", err)
		}
		if known, err := template.IsAvailable(t.Context(), i.DB, plain.Text("data.template.id"), 1); known || err != nil {
			t.Errorf("the redirector has the version: %t, %v", known, err)
		}
		storetest.Faulty(t, project)
		// A preview shows the logo of the app, too.
		app := "/apps/" + owner.AppID
		owner.Call("PUT", app+"/logo", M{"assetId": logo}, apitest.IfMatch(owner.Call("GET", app, nil).Revision())).Want(200)
		call("POST", path+"/preview", "data.revision", M{"config": M{}})
	})
}
