package qr_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/fault"
)

type M = apitest.M

// read returns what zbarimg reads in an answer of the API, by way of
// rsvg-convert for SVG.
func read(t *testing.T, r *apitest.Response) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "code.png")
	content := r.Body
	if r.Header.Get("Content-Type") == "image/svg+xml" {
		convert := exec.Command("rsvg-convert")
		convert.Stdin = bytes.NewReader(r.Body)
		var err error
		if content, err = convert.Output(); err != nil {
			t.Fatalf("rsvg-convert (scripts/tools installs it): %v", err)
		}
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file).Output()
	if err != nil {
		t.Fatalf("zbarimg (scripts/tools installs it): %v", err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

func TestDraw(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		link := owner.Link("straße", M{"prefix": "p"}).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id")) + "/qr"
		want := link.Text("data.url") + "?qr=1"
		for _, query := range []string{"", "?format=svg", "?size=128&margin=0&errorCorrection=L",
			"?size=2048&margin=16&errorCorrection=H&format=svg", "?foreground=%23003366&background=transparent",
			"?background=%23ffeecc"} {
			r := owner.Call("GET", path+query, nil).Want(200)
			format := "png"
			if strings.Contains(query, "svg") {
				format = "svg"
			}
			if r.Header.Get("ETag") == "" || r.Header.Get("X-Content-Type-Options") != "nosniff" ||
				r.Header.Get("Content-Disposition") != "inline; filename=qr-code."+format {
				t.Errorf("%s: %v", query, r.Header)
			}
			if strings.Contains(query, "margin=0") {
				continue // zbarimg needs light around a code
			}
			if got := read(t, r); got != want {
				t.Errorf("%s reads %q, want %q", query, got, want)
			}
		}
		if one, two := owner.Call("GET", path, nil), owner.Call("GET", path,
			nil); one.Header.Get("ETag") != two.Header.Get("ETag") || !bytes.Equal(one.Body, two.Body) {
			t.Error("the same code is drawn in two ways")
		}
		config, err := png.DecodeConfig(bytes.NewReader(owner.Call("GET", path+"?size=777", nil).Want(200).Body))
		if err != nil || config.Width != 777 || config.Height != 777 {
			t.Errorf("%v %v", config, err)
		}
		for query, at := range map[string]string{
			"size=63": "query.size", "size=2049": "query.size", "margin=17": "query.margin",
			"margin=-1": "query.margin", "format=gif": "query.format",
			"foreground=red": "query.foreground", "foreground=transparent": "query.foreground",
			"background=%23fff": "query.background", "errorCorrection=X": "query.errorCorrection",
			"logo=1": "query.logo",
		} {
			owner.Call("GET", path+"?"+query, nil).Refused(fault.InvalidRequest, at)
		}
		owner.Call("GET", path+"?foreground=%23999999", nil).Refused(fault.ValidationFailed, "query.foreground")
		owner.Call("GET", path+"?size=64&margin=16", nil).Refused(fault.ValidationFailed, "query.size")
		eve.Call("GET", path, nil).Refused(fault.NotFound)
		owner.Key("links:read").Call("GET", path, nil).Refused(fault.InsufficientPermission)
		i.Settle(t)
		i.Visit(t, want, nil, nil)
		i.LoadClicks(t)
		owner.Call("GET", "/analytics/summary?appId="+owner.AppID+
			"&start=2026-11-01T00:00:00Z&end=2026-12-01T00:00:00Z&source=qr", nil).Want(200).
			Has("data.totals.clicks", "1")
	})
}

func logo(t *testing.T, size int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, size, size))
	for at := range m.Pix {
		m.Pix[at] = []uint8{200, 30, 60, 255}[at%4]
	}
	m.Set(1, 1, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What was drawn is kept by all that it depends on, and not sent again to who has it.
func TestDrawnOnce(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		images := []string{owner.Upload("image/png", logo(t, 200)).Want(201).Text("data.id"),
			owner.Upload("image/png", logo(t, 100)).Want(201).Text("data.id")}
		code := owner.Call("POST", "/qr-codes", M{"appId": owner.AppID, "name": "x",
			"linkId": owner.Link("a", nil).Want(201).Text("data.id"), "logoAssetId": images[0]}).Want(201)
		path := "/qr-codes/" + code.Text("data.id")
		first := owner.Call("GET", path+"/download", nil).Want(200)
		etag := first.Header.Get("ETag")
		seen := map[string]bool{etag: true}
		for _, change := range []M{{"logoAssetId": images[1]}, {"logoAssetId": nil}, {"format": "svg"}, {"size": 600},
			{"margin": 5}, {"foreground": "#112233"}, {"background": "#ddeeff"}, {"errorCorrection": "H"}} {
			owner.Call("PATCH", path, change, apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200)
			if e := owner.Call("GET", path+"/download", nil).Want(200).Header.Get("ETag"); seen[e] {
				t.Errorf("after %v the picture is one of before", change)
			} else {
				seen[e] = true
			}
		}
		other := owner.Call("POST", "/qr-codes", M{"appId": owner.AppID, "name": "y",
			"linkId": owner.Link("b", nil).Want(201).Text("data.id"), "logoAssetId": images[0]}).Want(201)
		if owner.Call("GET", "/qr-codes/"+other.Text("data.id")+"/download", nil).Want(200).Header.Get("ETag") == etag {
			t.Error("the code of another link is the same picture")
		}

		// Without the bytes of the logo it could not be drawn again.
		again := owner.Call("POST", "/qr-codes", M{"appId": owner.AppID, "name": "z",
			"linkId": code.Text("data.linkId"), "logoAssetId": images[0]}).Want(201)
		path = "/qr-codes/" + again.Text("data.id") + "/download"
		object, err := asset.Object(t.Context(), i.DB, owner.AppID, images[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := i.Blobs.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		if r := owner.Call("GET", path, nil).Want(200); !bytes.Equal(r.Body, first.Body) {
			t.Error("the same picture is another")
		}
		for known, status := range map[string]int{etag: 304, "W/" + etag: 304, `"x", ` + etag: 304, "*": 304, `"x"`: 200} {
			r := owner.Call("GET", path, nil, apitest.Header("If-None-Match", known)).Want(status)
			if r.Header.Get("ETag") != etag || (len(r.Body) == 0) != (status == 304) {
				t.Errorf("If-None-Match %s: %d bytes, %v", known, len(r.Body), r.Header)
			}
		}
		owner.Call("GET", path+"?format=svg", nil).Refused(fault.Unavailable)
	})
}

func TestStored(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		link, foreign := owner.Link("a", nil).Want(201), eve.Link("a", nil).Want(201)
		image, foreignImage := owner.Upload("image/png", logo(t, 200)).Want(201), eve.Upload("image/png", logo(t, 200)).
			Want(201)
		body := func(more M) M {
			all := M{"appId": owner.AppID, "linkId": link.Text("data.id"), "name": " Poster "}
			for name, value := range more {
				all[name] = value
			}
			return all
		}
		for _, c := range []struct {
			path string
			more M
		}{
			{"/linkId", M{"linkId": foreign.Text("data.id")}}, {"/linkId", M{"linkId": "x"}}, {"/name", M{"name": " "}},
			{"/name", M{"name": strings.Repeat("n", 101)}},
			{"/size", M{"size": 63}}, {"/size", M{"size": 2049}}, {"/size", M{"size": 100.5}},
			{"/margin", M{"margin": 17}}, {"/format", M{"format": "gif"}},
			{"/foreground", M{"foreground": "#12345"}}, {"/foreground", M{"foreground": "transparent"}},
			{"/background", M{"background": nil}}, {"/errorCorrection", M{"errorCorrection": "m"}},
			{"/foreground", M{"foreground": "#eeeeee"}}, {"/size", M{"size": 64, "margin": 16}},
			{"/extra", M{"extra": 1}},
			{"/logoAssetId", M{"logoAssetId": foreignImage.Text("data.id")}}, {"/logoAssetId", M{"logoAssetId": "x"}},
			{"/logoAssetId", M{"logoAssetId": owner.Upload("image/png", logo(t, 1025)).Want(201).Text("data.id")}},
		} {
			owner.Call("POST", "/qr-codes", body(c.more)).Refused(fault.ValidationFailed, c.path)
		}
		owner.Call("POST", "/qr-codes", body(M{"appId": eve.AppID})).Refused(fault.NotFound)

		r := owner.Call("POST", "/qr-codes", body(nil)).Want(201).Has("data.name", `"Poster"`).
			Has("data.format", `"png"`).Has("data.size", "512").Has("data.margin", "4").
			Has("data.foreground", `"#000000"`).Has("data.background", `"#ffffff"`).Has("data.errorCorrection", `"M"`).
			Has("data.logoAssetId", "null")
		id, path := r.Text("data.id"), "/qr-codes/"+r.Text("data.id")
		if r.Header.Get("Location") != "/v1"+path {
			t.Errorf("Location %s", r.Header.Get("Location"))
		}
		want := link.Text("data.url") + "?qr=1"
		if got := read(t, owner.Call("GET", path+"/download", nil).Want(200)); got != want {
			t.Errorf("reads %q, want %q", got, want)
		}
		// A size that was given is never raised, also when what it holds grows later.
		small := owner.Call("POST", "/qr-codes", body(M{"size": 64, "margin": 0, "errorCorrection": "L"})).Want(201).
			Has("data.size", "64")
		owner.Call("PATCH", "/qr-codes/"+small.Text("data.id"), M{"margin": 16}, apitest.IfMatch(small.Revision())).
			Refused(fault.ValidationFailed, "/size")
		owner.Call("DELETE", "/qr-codes/"+small.Text("data.id"), nil, apitest.IfMatch(small.Revision())).Want(204)
		owner.Call("POST", "/qr-codes", body(M{"name": "Wide", "margin": 16, "errorCorrection": "H"})).Want(201).
			Has("data.size", "512")
		changed := owner.Call("PATCH", path, M{"format": "svg", "logoAssetId": image.Text("data.id"), "size": 1024},
			apitest.IfMatch(r.Revision())).Want(200).
			Has("data.errorCorrection", `"Q"`).Has("data.size", "1024").Has("data.name", `"Poster"`)
		svg := owner.Call("GET", path+"/download", nil).Want(200)
		if svg.Header.Get("Content-Type") != "image/svg+xml" ||
			!bytes.Contains(svg.Body, []byte("data:image/png;base64,")) {
			t.Errorf("%v", svg.Header)
		}
		for _, r := range []*apitest.Response{svg, owner.Call("GET", path+"/download?format=png", nil).Want(200)} {
			if got := read(t, r); got != want {
				t.Errorf("with a logo it reads %q, want %q", got, want)
			}
		}
		owner.Call("GET", path+"/download?format=gif", nil).Refused(fault.InvalidRequest, "query.format")
		owner.Call("GET", path, nil).Want(200).Has("data.revision", changed.Value("data.revision"))
		owner.Call("PATCH", path, M{"name": "x"}, apitest.IfMatch(r.Revision())).Refused(fault.RevisionConflict)
		owner.Call("PATCH", path, M{"linkId": "x"}, apitest.IfMatch(changed.Revision())).
			Refused(fault.ValidationFailed, "/linkId")
		owner.Call("DELETE", "/assets/"+image.Text("data.id"), nil, apitest.IfMatch(image.Revision())).
			Refused(fault.ResourceConflict).
			Has("error.dependencies.0.type", `"qr_code"`).Has("error.dependencies.0.ids.0", `"`+id+`"`)
		linkPath, linkMatch := "/links/"+apitest.Path(link.Text("data.id")), apitest.IfMatch(link.Revision())
		owner.Call("DELETE", linkPath, nil, linkMatch).Refused(fault.ResourceConflict).
			Has("error.dependencies.0.type", `"qr_code"`)

		owner.Call("POST", "/qr-codes", body(M{"name": "Flyer", "logoAssetId": image.Text("data.id"),
			"errorCorrection": "H"})).Want(201).Has("data.errorCorrection", `"H"`)
		for query, n := range map[string]int{"": 3, "&q=FLY": 1, "&q=none": 0,
			"&linkId=" + apitest.Path(link.Text("data.id")): 3, "&linkId=x": 0} {
			if got := owner.Call("GET", "/qr-codes?appId="+owner.AppID+query, nil).Want(200).Len("data"); got != n {
				t.Errorf("%s lists %d, want %d", query, got, n)
			}
		}
		match := apitest.IfMatch(changed.Revision())
		for _, address := range []string{path, "/qr-codes/x"} {
			eve.Call("GET", address, nil).Refused(fault.NotFound)
			eve.Call("GET", address+"/download", nil).Refused(fault.NotFound)
			eve.Call("PATCH", address, M{"name": "x"}, match).Refused(fault.NotFound)
			eve.Call("DELETE", address, nil, match).Refused(fault.NotFound)
		}
		owner.Call("DELETE", path, nil, match).Want(204)
		owner.Call("GET", path, nil).Refused(fault.NotFound)
	})
}
