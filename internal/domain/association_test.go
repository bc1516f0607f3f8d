package domain

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
)

const team = "A1B2C3D4E5.com.example.shop"

// The files have the forms that Apple and Google describe.
func TestAssociationFiles(t *testing.T) {
	ios := IOSConfig{AppIDs: []string{team, "F6G7H8I9J0.com.example.b"}, Paths: []string{"NOT /admin/*", "/*"}}
	entry := func(id string) string {
		return `{"appIDs":["` + id + `"],"components":[{"/":"/_service/*","exclude":true},` +
			`{"/":"/.well-known/*","exclude":true},{"/":"/admin/*","exclude":true},{"/":"/*"}],"appID":"` + id +
			`","paths":["NOT /_service/*","NOT /.well-known/*","NOT /admin/*","/*"]}`
	}
	want := `{"applinks":{"apps":[],"details":[` + entry(team) + "," + entry("F6G7H8I9J0.com.example.b") + `]}}`
	if got := ios.file(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	android := AndroidConfig{Apps: []AndroidApp{{PackageName: "com.example.shop",
		SHA256CertFingerprints: []string{fingerprint(strings.Repeat("a0", 32))}}}}
	want = `[{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app",` +
		`"package_name":"com.example.shop","sha256_cert_fingerprints":["` + strings.Repeat("A0:", 31) + `A0"]}}]`
	if got := android.file(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPaths(t *testing.T) {
	for path, ok := range map[string]bool{
		"/": true, "/*": true, "*": true, "NOT *": true, "NOT /a/*": true, "/a?c/%C3%A9": true, "/a$(b)": true,
		"/~a": true, "/!": true,
		"": false, "a": false, "NOT": false, "NOT ": false, "NOT a": false, "NOT NOT /a": false, "not /a": false,
		"*/a": false, "/é": false, "/a b": false, "/a#b": false, "/a\\b": false, "/a\x7f": false, "/a\"": false,
	} {
		if problem := pathProblem(path); (problem == "") != ok {
			t.Errorf("%q: %q", path, problem)
		}
	}
}

// A file that iOS would not read whole is refused, and the largest one that it
// reads is not.
func TestAppleFileIsBounded(t *testing.T) {
	body := func(longest int) *SetNativeConfig {
		ids := make([]string, 10)
		for i := range ids {
			ids[i] = team + strings.Repeat("x", i)
		}
		paths := make([]string, 50)
		for i := range paths {
			paths[i] = "/" + strings.Repeat("p", i)
		}
		paths[0] += strings.Repeat("y", longest)
		return &SetNativeConfig{IOS: opt.NullOf(SetIOSConfig{AppIDs: opt.OptOf(ids), Paths: opt.OptOf(paths)})}
	}
	c, err := body(0).config(identity{})
	if err != nil {
		t.Fatal(err)
	}
	// Each character stands in the file twice for each app.
	room := (128<<10 - len(c.IOS.Value.file())) / 20
	if _, err := body(room).config(identity{}); err != nil {
		t.Errorf("the largest: %v", err)
	}
	_, err = body(room + 1).config(identity{})
	if refusal, ok := fault.From(err); !ok || len(refusal.Details) != 1 || refusal.Details[0].Path != "/ios" ||
		refusal.Details[0].Code != fault.ReasonTooLarge {
		t.Errorf("one more: %v", err)
	}
}
