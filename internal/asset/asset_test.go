package asset_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

type M = apitest.M

func picture(n int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for x := range 40 {
		for y := range 30 {
			m.Set(x, y, color.NRGBA{R: uint8(x * n), G: uint8(y * n), B: uint8(n), A: 255})
		}
	}
	return m
}

func pngOf(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, picture(n)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture(n), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUpload(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		content := pngOf(t, 1)
		r := owner.Upload("image/png", content).Want(201).Has("data.contentType", `"image/png"`).
			Has("data.width", "40").Has("data.height", "30").
			Has("data.byteSize", fmt.Sprint(len(content))).Has("data.state", `"active"`).
			Has("data.appId", `"`+owner.AppID+`"`)
		url, path := r.Text("data.url"), "/assets/"+r.Text("data.id")
		if !strings.HasPrefix(url, "https://assets."+apitest.Zone+"/") || !strings.HasSuffix(url, ".png") ||
			r.Header.Get("Location") != "/v1"+path {
			t.Errorf("url %s, Location %s", url, r.Header.Get("Location"))
		}
		if left, err := filepath.Glob(filepath.Join(i.DataDir, ".upload-*")); err != nil || len(left) > 0 {
			t.Errorf("the upload leaves %v, %v", left, err)
		}
		for _, name := range storetest.OpenFiles(t, i.DataDir) {
			if strings.HasPrefix(name, "/.upload-") {
				t.Errorf("the upload leaves %s open", name)
			}
		}
		served := i.Visit(t, url, nil, nil)
		body, _ := io.ReadAll(served.Body)
		if served.StatusCode != 200 || !bytes.Equal(body, content) ||
			served.Header.Get("Content-Type") != "image/png" ||
			served.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(served.Header.Get("Cache-Control"), "immutable") ||
			served.Header.Get("Content-Security-Policy") != "default-src 'none'" {
			t.Errorf("%d %v, %d bytes", served.StatusCode, served.Header, len(body))
		}
		if gone := i.Visit(t, strings.Replace(url, ".png", ".jpg", 1), nil, nil); gone.StatusCode != 404 {
			t.Errorf("another object answers %d", gone.StatusCode)
		}
		j := owner.Upload("image/jpeg", jpegOf(t, 2)).Want(201).Has("data.contentType", `"image/jpeg"`)
		if !strings.HasSuffix(j.Text("data.url"), ".jpg") {
			t.Errorf("url %s", j.Text("data.url"))
		}
		owner.Call("GET", path, nil).Want(200).Has("data", r.Value("data"))
		if n := owner.Call("GET", "/assets?appId="+owner.AppID, nil).Want(200).Len("data"); n != 2 {
			t.Errorf("%d assets", n)
		}
		if n := owner.Call("GET", "/assets?state=deleting&appId="+owner.AppID, nil).Want(200).Len("data"); n != 0 {
			t.Errorf("%d assets are being deleted", n)
		}
		owner.Call("GET", "/assets?state=storing&appId="+owner.AppID, nil).Refused(fault.InvalidRequest, "query.state")
		eve.Call("GET", path, nil).Refused(fault.NotFound)
		eve.Call("GET", "/assets?appId="+owner.AppID, nil).Refused(fault.NotFound)
		eve.Call("DELETE", path, nil, apitest.IfMatch(r.Revision())).Refused(fault.NotFound)
		owner.Call("GET", "/audit-events?resourceType=asset", nil).Want(200).Has("data.1.operation", `"createAssets"`).
			Has("data.1.resource.id", r.Value("data.id"))
	})
}

func TestUploadRefused(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		good, app := pngOf(t, 1), apitest.Part{Name: "appId", Content: []byte(owner.AppID)}
		file := func(kind string, content []byte) apitest.Part {
			return apitest.Part{Name: "file", Type: kind, Content: content}
		}
		var wide bytes.Buffer
		if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 4097, 1))); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			parts []apitest.Part
			code  fault.Code
			path  string
		}{
			"no file": {[]apitest.Part{app}, fault.ValidationFailed, "/file"},
			"no app":  {[]apitest.Part{file("image/png", good)}, fault.ValidationFailed, "/appId"},
			"two files": {[]apitest.Part{app, file("image/png", good), file("image/png", good)},
				fault.ValidationFailed, "/file"},
			"two apps": {[]apitest.Part{app, app, file("image/png", good)}, fault.ValidationFailed, "/appId"},
			"another part": {[]apitest.Part{app, file("image/png", good), {Name: "name", Content: []byte("x")}},
				fault.ValidationFailed, "/name"},
			"empty app": {[]apitest.Part{{Name: "appId"}, file("image/png", good)}, fault.ValidationFailed,
				"/appId"},
			"foreign app": {[]apitest.Part{{Name: "appId", Content: []byte(eve.AppID)}, file("image/png", good)},
				fault.NotFound, ""},
			"declared other": {[]apitest.Part{app, file("image/jpeg", good)}, fault.ValidationFailed, "/file"},
			"undeclared":     {[]apitest.Part{app, {Name: "file", Content: good}}, fault.ValidationFailed, "/file"},
			"declared noise": {[]apitest.Part{app, file("image/png\xff", good)}, fault.ValidationFailed, "/file"},
			"declared SVG": {[]apitest.Part{app, file("image/svg+xml", []byte("<svg/>"))}, fault.ValidationFailed,
				"/file"},
			"empty": {[]apitest.Part{app, file("image/png", nil)}, fault.ValidationFailed, "/file"},
			"truncated": {[]apitest.Part{app, file("image/png", good[:len(good)-20])}, fault.ValidationFailed,
				"/file"},
			"too wide": {[]apitest.Part{app, file("image/png", wide.Bytes())}, fault.ValidationFailed, "/file"},
			"a MiB that is no image": {[]apitest.Part{app, file("image/png", make([]byte, 1<<20))},
				fault.ValidationFailed, "/file"},
			"over a MiB": {[]apitest.Part{app, file("image/png", make([]byte, 1<<20+1))}, fault.PayloadTooLarge, ""},
			"far over a MiB": {[]apitest.Part{app, file("image/png", make([]byte, 3<<20))}, fault.PayloadTooLarge,
				""},
			"big appId": {[]apitest.Part{{Name: "appId", Content: make([]byte, 1000)}, file("image/png", good)},
				fault.ValidationFailed, "/appId"},
			"file as a field": {[]apitest.Part{app, {Name: "file", Content: []byte("x")}}, fault.ValidationFailed,
				"/file"},
			"big unknown part": {[]apitest.Part{app, file("image/png", good),
				{Name: "x", Content: make([]byte, 1<<20)}}, fault.ValidationFailed, "/x"},
		} {
			t.Run(name, func(t *testing.T) {
				r := owner.Multipart("/assets", c.parts)
				if c.path == "" {
					r.Refused(c.code)
				} else {
					r.Refused(c.code, c.path)
				}
			})
		}
		owner.Call("POST", "/assets", M{"appId": owner.AppID}).Refused(fault.UnsupportedMediaType)
		owner.Call("POST", "/assets", "x", apitest.Header("Content-Type", "multipart/form-data")).
			Refused(fault.InvalidRequest)
		owner.Call("POST", "/assets", "x", apitest.Header("Content-Type", "multipart/form-data; boundary=b")).
			Refused(fault.InvalidRequest)
		owner.Call("POST", "/assets", "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc",
			apitest.Header("Content-Type", "multipart/form-data; boundary=b")).Refused(fault.InvalidRequest)
		// What follows the last boundary counts as well, also when nobody said how
		// much it would be.
		long := "--b\r\nContent-Disposition: form-data; name=\"appId\"\r\n\r\n" + owner.AppID +
			"\r\n--b\r\nContent-Disposition: form-data; name=\"file\"\r\nContent-Type: image/png\r\n\r\n" +
			string(good) + "\r\n--b--\r\n" + strings.Repeat("x", 2<<20)
		owner.Call("POST", "/assets", long, apitest.Header("Content-Type", "multipart/form-data; boundary=b"),
			func(r *http.Request) { r.ContentLength = -1 }).Refused(fault.PayloadTooLarge)
		owner.Upload("image/png", good, apitest.Header("Content-Encoding", "gzip")).Refused(fault.UnsupportedMediaType)
		owner.Upload("image/png", good, apitest.Header("Idempotency-Key", "")).Refused(fault.InvalidRequest)
		owner.Key("assets:read").Upload("image/png", good).Refused(fault.InsufficientPermission)
		n, err := store.One(t.Context(), i.DB, store.Value[int], "SELECT COUNT(*) FROM asset")
		if err != nil || n != 0 {
			t.Errorf("%d assets, %v", n, err)
		}
	})
}

func TestUploadAgain(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		intent := apitest.Idempotent(apitest.NewKey())
		r := owner.Upload("image/png", pngOf(t, 1), intent).Want(201)
		// Another boundary and another order of the parts are the same intent.
		again := owner.Multipart("/assets", []apitest.Part{{Name: "file", Type: "image/png", Content: pngOf(t, 1)},
			{Name: "appId", Content: []byte(owner.AppID)}}, intent).Want(201)
		if again.Header.Get("Idempotency-Replayed") != "true" || again.Text("data.id") != r.Text("data.id") {
			t.Errorf("%v %s", again.Header, again.Body)
		}
		owner.Upload("image/png", pngOf(t, 2), intent).Refused(fault.IdempotencyConflict)
		owner.Upload("image/png", pngOf(t, 1)).Want(201)
	})
}

// The budget of uploads is the app's.
func TestBudget(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		key := owner.Key("assets:create")
		for n := range 20 {
			// An intent counts, whether or not its image is one.
			content := pngOf(t, n)
			if n%2 == 0 {
				content = content[:40]
			}
			r := []*apitest.Client{owner, key}[n%2].Upload("image/png", content)
			if r.Status != 422 && r.Status != 201 {
				t.Fatalf("upload %d: %d %s", n, r.Status, r.Body)
			}
		}
		key.Upload("image/png", pngOf(t, 1)).Refused(fault.RateLimited)
		i.Clock.Move(time.Minute)
		key.Upload("image/png", pngOf(t, 1)).Want(201)
	})
}

// The images of an account have a bound in bytes, over all of its apps.
func TestImagesOfAnAccountAreBounded(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		second := *owner
		second.AppID = owner.Call("POST", "/apps", M{"name": "Second"}).Want(201).Text("data.id")
		content := pngOf(t, 1)
		first := second.Upload("image/png", content).Want(201)
		// As if there were thousands of them.
		if _, err := i.DB.Exec(t.Context(), "UPDATE asset SET byte_size = ?", 4<<30-len(content)+1); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*apitest.Client{owner, &second} {
			r := c.Upload("image/png", content).Refused(fault.ResourceConflict)
			if m := r.Text("error.message"); !strings.Contains(m, "4095 MiB of the 4096 MiB") {
				t.Errorf("the refusal says %s", m)
			}
		}
		other.Upload("image/png", content).Want(201)
		if _, err := i.DB.Exec(t.Context(), "UPDATE asset SET byte_size = byte_size - 1 WHERE id = ?",
			first.Text("data.id")); err != nil {
			t.Fatal(err)
		}
		owner.Upload("image/png", content).Want(201)
		owner.Upload("image/png", content).Refused(fault.ResourceConflict)
	})
}

func TestReferences(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		r, foreign := owner.Upload("image/png", pngOf(t, 1)).Want(201), eve.Upload("image/png", pngOf(t, 1)).Want(201)
		id, path := r.Text("data.id"), "/assets/"+r.Text("data.id")
		match := apitest.IfMatch(r.Revision())

		logo := "/apps/" + owner.AppID + "/logo"
		before := owner.Call("GET", logo, nil).Want(200).Has("data.assetId", "null").Has("data.url", "null")
		for _, wrong := range []string{foreign.Text("data.id"), "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d", "x"} {
			owner.Call("PUT", logo, M{"assetId": wrong}, apitest.IfMatch(before.Revision())).
				Refused(fault.ValidationFailed, "/assetId")
		}
		owner.Call("PUT", logo, M{"assetId": id}).Refused(fault.PreconditionRequired)
		eve.Call("PUT", logo, M{"assetId": foreign.Text("data.id")}, apitest.IfMatch(before.Revision())).
			Refused(fault.NotFound)
		set := owner.Call("PUT", logo, M{"assetId": id}, apitest.IfMatch(before.Revision())).Want(200).
			Has("data.assetId", `"`+id+`"`).Has("data.url", r.Value("data.url"))
		owner.Call("PUT", logo, M{"assetId": id}, apitest.IfMatch(before.Revision())).Refused(fault.RevisionConflict)
		owner.Call("GET", "/apps/"+owner.AppID, nil).Want(200).Has("data.logoAssetId", `"`+id+`"`).
			Has("data.revision", set.Value("data.revision"))

		link := owner.Link("a", M{"imageUrl": r.Text("data.url")}).Want(201).Has("data.imageUrl", r.Value("data.url"))
		seen := map[string]bool{}
		for _, wrong := range []string{foreign.Text("data.url"), "https://assets." + apitest.Zone + "/nothing.png",
			"http" + r.Text("data.url")[5:], r.Text("data.url") + "?x",
			strings.Replace(r.Text("data.url"), ".example/", ".example./", 1),
			strings.Replace(r.Text("data.url"), "assets", "ａssets", 1),
			strings.Replace(r.Text("data.url"), "assets", "Assets", 1)} {
			seen[owner.Link("b", M{"imageUrl": wrong}).Refused(fault.ValidationFailed, "/imageUrl").
				Value("error.details")] = true
		}
		if len(seen) != 1 {
			t.Errorf("another's and nobody's image are told apart: %v", seen)
		}
		owner.Link("elsewhere", M{"imageUrl": "https://cdn.example/x.png"}).Want(201)

		owner.Call("DELETE", path, nil, match).Refused(fault.ResourceConflict).
			Has("error.dependencies.0.type", `"app"`).Has("error.dependencies.1.type", `"link"`).
			Has("error.dependencies.1.ids.0", link.Value("data.id"))
		owner.Call("DELETE", path, nil, apitest.IfMatch(link.Revision())).Refused(fault.RevisionConflict)
		owner.Call("DELETE", path, nil).Refused(fault.PreconditionRequired)
		// Without a logo there is nothing to take away, but a logo that GET shows
		// as null is not missing.
		taken := owner.Call("DELETE", logo, nil, apitest.IfMatch(set.Revision())).Want(204)
		gone := owner.Call("GET", logo, nil).Want(200).Has("data.assetId", "null")
		again := owner.Call("DELETE", logo, nil, apitest.IfMatch(gone.Revision())).Want(204)
		if etag := gone.Header.Get("ETag"); etag == set.Header.Get("ETag") || taken.Header.Get("ETag") != etag ||
			again.Header.Get("ETag") != etag {
			t.Errorf("ETag %s, after the removal %s, after another %s", etag, taken.Header.Get("ETag"),
				again.Header.Get("ETag"))
		}
		owner.Call("DELETE", logo, nil, apitest.IfMatch(set.Revision())).Refused(fault.RevisionConflict)
		owner.Call("PATCH", "/links/"+apitest.Path(link.Text("data.id")), M{"imageUrl": nil},
			apitest.IfMatch(link.Revision())).Want(200)
		intent := apitest.Idempotent(apitest.NewKey())
		owner.Call("DELETE", path, nil, match, intent).Want(204)
		owner.Call("DELETE", path, nil, match, intent).Want(204)
		owner.Call("GET", path, nil).Refused(fault.NotFound)
		owner.Call("DELETE", path, nil, match).Refused(fault.NotFound)
		if gone := i.Visit(t, r.Text("data.url"), nil, nil); gone.StatusCode != 404 {
			t.Errorf("a deleted image answers %d", gone.StatusCode)
		}
		owner.Link("c", M{"imageUrl": r.Text("data.url")}).Refused(fault.ValidationFailed, "/imageUrl")
	})
}

// failing is an asset store that fails when told to, before or after it has
// done what was asked.
type failing struct {
	blob.Store
	before, after bool
}

var errAway = errors.New("away")

func (f *failing) Put(ctx context.Context, name, contentType string, r io.Reader, size int64) error {
	if f.before {
		return errAway
	}
	if err := f.Store.Put(ctx, name, contentType, r, size); err != nil || !f.after {
		return err
	}
	return errAway
}

func (f *failing) Delete(ctx context.Context, name string) error {
	if f.before {
		return errAway
	}
	if err := f.Store.Delete(ctx, name); err != nil || !f.after {
		return err
	}
	return errAway
}

// names lists what the asset store holds.
func (f *failing) names(t *testing.T) (all []string) {
	t.Helper()
	if err := f.Store.Names(t.Context(), func(name string) error { all = append(all, name); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// However an upload or a removal is cut off between the two stores, the client
// that repeats it finds its end, and otherwise a sweep leaves nothing behind.
func TestCutOff(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		for _, engine := range []string{"sqlite", "postgres"} {
			t.Run(engine+"/"+when, func(t *testing.T) {
				files, err := blob.Open("file", t.TempDir(), blob.Images)
				if err != nil {
					t.Fatal(err)
				}
				f := &failing{Store: files}
				i := apitest.New(t, engine, apitest.Options{Blobs: f})
				owner := i.Prepared(t, "ann@example.com")
				fail := func(on bool) { f.before, f.after = on && when == "before", on && when == "after" }

				fail(true)
				intent := apitest.Idempotent(apitest.NewKey())
				refused := owner.Upload("image/png", pngOf(t, 1), intent).Refused(fault.Unavailable)
				if refused.Header.Get("Retry-After") == "" || strings.Contains(string(refused.Body), "away") {
					t.Errorf("%v %s", refused.Header, refused.Body)
				}
				if n := owner.Call("GET", "/assets?appId="+owner.AppID, nil).Want(200).Len("data"); n != 0 {
					t.Errorf("an unfinished upload is listed")
				}
				object, err := store.One(t.Context(), i.DB, store.Value[string], "SELECT object FROM asset")
				if err != nil {
					t.Fatal(err)
				}
				fail(false)
				r := owner.Upload("image/png", pngOf(t, 1), intent).Want(201)
				if !strings.HasSuffix(r.Text("data.url"), object) || len(f.names(t)) != 1 {
					t.Errorf("the repeated upload has %s, the first had %s; %v is stored", r.Text("data.url"), object,
						f.names(t))
				}

				fail(true)
				path, match := "/assets/"+r.Text("data.id"), apitest.IfMatch(r.Revision())
				removal := apitest.Idempotent(apitest.NewKey())
				owner.Call("DELETE", path, nil, match, removal).Refused(fault.Unavailable)
				owner.Call("GET", path, nil).Want(200).Has("data.state", `"deleting"`)
				if n := owner.Call("GET", "/assets?state=deleting&appId="+owner.AppID, nil).Want(200).
					Len("data"); n != 1 {
					t.Errorf("%d assets are being deleted", n)
				}
				owner.Link("a", M{"imageUrl": r.Text("data.url")}).Refused(fault.ValidationFailed, "/imageUrl")
				app := owner.Call("GET", "/apps/"+owner.AppID, nil).Want(200)
				owner.Call("PUT", "/apps/"+owner.AppID+"/logo", M{"assetId": r.Text("data.id")},
					apitest.IfMatch(app.Revision())).Refused(fault.ValidationFailed, "/assetId")
				fail(false)
				owner.Call("DELETE", path, nil, match, removal).Want(204)
				owner.Call("GET", path, nil).Refused(fault.NotFound)

				// Nobody comes back: a sweep ends both.
				kept := owner.Upload("image/png", pngOf(t, 5)).Want(201)
				left := owner.Upload("image/png", pngOf(t, 3)).Want(201)
				fail(true)
				owner.Upload("image/png", pngOf(t, 4)).Refused(fault.Unavailable)
				owner.Call("DELETE", "/assets/"+left.Text("data.id"), nil, apitest.IfMatch(left.Revision())).
					Refused(fault.Unavailable)
				fail(false)
				if n, err := asset.Sweep(t.Context(), i.DB, f, 100); n != 0 || err != nil {
					t.Errorf("a sweep took %d that may still be under way, %v", n, err)
				}
				i.Clock.Move(time.Hour)
				if n, err := asset.Sweep(t.Context(), i.DB, f, 100); n != 2 || err != nil {
					t.Errorf("swept %d, %v; want 2", n, err)
				}
				if names := f.names(t); len(names) != 1 || !strings.HasSuffix(kept.Text("data.url"), names[0]) {
					t.Errorf("left in the store: %v", names)
				}
				owner.Call("GET", "/assets/"+left.Text("data.id"), nil).Refused(fault.NotFound)
			})
		}
	}
}

// Of several removals at once one does it; the others find nothing.
func TestRemovalsAtOnce(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := owner.Upload("image/png", pngOf(t, 1)).Want(201)
		var all sync.WaitGroup
		var done, missing atomic.Int64
		for range 6 {
			all.Go(func() {
				switch a := owner.Call("DELETE", "/assets/"+r.Text("data.id"), nil,
					apitest.IfMatch(r.Revision())); a.Status {
				case 204:
					done.Add(1)
				case 404:
					missing.Add(1)
				default:
					t.Errorf("%d %s", a.Status, a.Body)
				}
			})
		}
		all.Wait()
		if done.Load() != 1 || missing.Load() != 5 {
			t.Errorf("%d removed it, %d found nothing", done.Load(), missing.Load())
		}
		if n := owner.Call("GET", "/audit-events?operation=deleteAssetsAssetId", nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d audit events", n)
		}
	})
}

// An app may go while it has images; they go after it.
func TestAppGone(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Owner(t, "ann@example.com")
		app := owner.Call("POST", "/apps", M{"name": "App"}).Want(201)
		owner.AppID = app.Text("data.id")
		r := owner.Upload("image/png", pngOf(t, 1)).Want(201)
		owner.Call("DELETE", "/apps/"+owner.AppID, nil, apitest.IfMatch(app.Revision())).Want(204)
		owner.Call("GET", "/assets/"+r.Text("data.id"), nil).Refused(fault.NotFound)
		i.Clock.Move(time.Hour)
		if n, err := asset.Sweep(t.Context(), i.DB, i.Blobs, 100); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		if gone := i.Visit(t, r.Text("data.url"), http.Header{}, nil); gone.StatusCode != 404 {
			t.Errorf("the image answers %d", gone.StatusCode)
		}
	})
}
