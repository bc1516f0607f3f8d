package domain

import (
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
)

// NativeConfig tells which native apps open the links of a hostname
// (completions.md §4).
type NativeConfig struct {
	IOS     opt.Null[IOSConfig]     `json:"ios"`
	Android opt.Null[AndroidConfig] `json:"android"`
}

// SchemaName implements schema.Named.
func (NativeConfig) SchemaName() string { return "DomainNativeConfig" }

// IOSConfig names the iOS apps that open a hostname's links.
type IOSConfig struct {
	AppIDs []string `json:"appIds" doc:"TEAMID.bundle of each app."`
	Paths  []string `json:"paths" doc:"The first that matches a path decides; NOT keeps its paths in the browser."`
}

// SchemaName implements schema.Named.
func (IOSConfig) SchemaName() string { return "IosNativeConfig" }

// AndroidConfig names the Android apps that open a hostname's links.
type AndroidConfig struct {
	Apps []AndroidApp `json:"apps"`
}

// SchemaName implements schema.Named.
func (AndroidConfig) SchemaName() string { return "AndroidNativeConfig" }

// AndroidApp is an Android app with the certificates that sign it.
type AndroidApp struct {
	PackageName            string   `json:"packageName"`
	SHA256CertFingerprints []string `json:"sha256CertFingerprints" doc:"Upper-case, with colons."`
}

// SetNativeConfig is the body of setDomainsDomainIdNativeConfig.
type SetNativeConfig struct {
	IOS     opt.Null[SetIOSConfig]     `json:"ios,omitzero" doc:"Omitted or null: no iOS app opens the links."`
	Android opt.Null[SetAndroidConfig] `json:"android,omitzero" doc:"Omitted or null: no Android app opens the links."`
}

// SchemaName implements schema.Named.
func (SetNativeConfig) SchemaName() string { return "DomainNativeConfigInput" }

// SetIOSConfig is IOSConfig as clients send it.
type SetIOSConfig struct {
	AppIDs opt.Opt[[]string] `json:"appIds,omitzero" minItems:"1" maxItems:"10" uniqueItems:"true" maxLength:"166" pattern:"^[A-Z0-9]{10}(\\.[A-Za-z0-9-]+){2,}$" example:"[\"A1B2C3D4E5.com.example.shop\"]" doc:"TEAMID.bundle of each app. Omitted: the iosTeamId and iosBundleId of the app."`
	Paths  opt.Opt[[]string] `json:"paths,omitzero" minItems:"1" maxItems:"50" uniqueItems:"true" maxLength:"500" example:"[\"NOT /admin/*\", \"/*\"]" doc:"Each begins with / or is *, with NOT and a space before it where the app is not to open; * stands for any characters, ? for one. The first that matches decides. Omitted: all paths."`
}

// SchemaName implements schema.Named.
func (SetIOSConfig) SchemaName() string { return "IosNativeConfigInput" }

// SetAndroidConfig is AndroidConfig as clients send it.
type SetAndroidConfig struct {
	Apps []SetAndroidApp `json:"apps" minItems:"1" maxItems:"10"`
}

// SchemaName implements schema.Named.
func (SetAndroidConfig) SchemaName() string { return "AndroidNativeConfigInput" }

// SetAndroidApp is AndroidApp as clients send it.
type SetAndroidApp struct {
	PackageName            opt.Opt[string] `json:"packageName,omitzero" maxLength:"255" pattern:"^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+$" doc:"Omitted: the androidPackage of the app."`
	SHA256CertFingerprints []string        `json:"sha256CertFingerprints" minItems:"1" maxItems:"10" maxLength:"95" pattern:"^([0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31}|[0-9A-Fa-f]{64})$" doc:"SHA-256 of the certificates that sign the app, as keytool or apksigner print them: 32 bytes in hexadecimal, with colons or without."`
}

// SchemaName implements schema.Named.
func (SetAndroidApp) SchemaName() string { return "AndroidAppInput" }

// identity is what the app of a domain says of its native apps; "" for what it
// does not say.
type identity struct {
	// iosApp is TEAMID.bundle.
	iosApp, androidPackage string
}

// native is the configuration of a domain for which none was set. A certificate of
// an Android app is not known before an owner tells it.
func (i identity) native() (c NativeConfig) {
	if i.iosApp != "" {
		c.IOS = opt.NullOf(IOSConfig{AppIDs: []string{i.iosApp}, Paths: []string{"/*"}})
	}
	return c
}

// config checks a body and returns the configuration that it describes.
func (in *SetNativeConfig) config(own identity) (c NativeConfig, err error) {
	var p fault.Problems
	if in.IOS.Valid {
		c.IOS = opt.NullOf(in.IOS.Value.config(&p, own))
		if n := len(c.IOS.Value.file()); !p.Any() && n > maxAppleFile {
			p.Add("/ios", fault.ReasonTooLarge, "the apple-app-site-association file would have %d bytes and iOS reads "+
				"at most %d; use fewer or shorter paths", n, maxAppleFile)
		}
	}
	if in.Android.Valid {
		c.Android = opt.NullOf(in.Android.Value.config(&p, own))
	}
	return c, p.Refusal()
}

func (in *SetIOSConfig) config(p *fault.Problems, own identity) IOSConfig {
	c := IOSConfig{AppIDs: in.AppIDs.Or([]string{own.iosApp}), Paths: in.Paths.Or([]string{"/*"})}
	if !in.AppIDs.Set && own.iosApp == "" {
		p.Add("/ios/appIds", fault.ReasonRequired, "the app has no iosTeamId and iosBundleId to take; set them in the "+
			"app, or name appIds such as A1B2C3D4E5.com.example.shop")
	}
	for i, path := range c.Paths {
		if problem := pathProblem(path); problem != "" {
			p.Add(fault.Pointer("ios", "paths", i), fault.ReasonInvalidFormat, "%s", problem)
		}
	}
	return c
}

// pathProblem tells why a path is none that iOS matches, or "".
func pathProblem(path string) string {
	path = strings.TrimPrefix(path, "NOT ")
	switch {
	case path != "*" && !strings.HasPrefix(path, "/"):
		return "the path must begin with / or NOT /, such as /* or NOT /admin/*"
	case strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`#"<>\^{|}`+"`", r) }):
		return "the path must be written as in a URL: spaces and letters beyond ASCII percent-encoded, without query " +
			"and fragment"
	}
	return ""
}

func (in *SetAndroidConfig) config(p *fault.Problems, own identity) (c AndroidConfig) {
	for i, sent := range in.Apps {
		app := AndroidApp{PackageName: sent.PackageName.Or(own.androidPackage)}
		switch {
		case app.PackageName == "":
			p.Add(fault.Pointer("android", "apps", i, "packageName"), fault.ReasonRequired, "the app has no "+
				"androidPackage to take; set it in the app, or name a package such as com.example.shop")
		case slices.ContainsFunc(c.Apps, func(a AndroidApp) bool { return a.PackageName == app.PackageName }):
			p.Add(fault.Pointer("android", "apps", i, "packageName"), fault.ReasonDuplicate, "the package %s stands "+
				"here twice; list all its fingerprints once", app.PackageName)
		}
		for j, f := range sent.SHA256CertFingerprints {
			f = fingerprint(f)
			if slices.Contains(app.SHA256CertFingerprints, f) {
				p.Add(fault.Pointer("android", "apps", i, "sha256CertFingerprints", j), fault.ReasonDuplicate,
					"the fingerprint stands here twice")
			}
			app.SHA256CertFingerprints = append(app.SHA256CertFingerprints, f)
		}
		c.Apps = append(c.Apps, app)
	}
	return c
}

// fingerprint returns the form in which Android compares fingerprints: upper-case,
// a colon between the bytes.
func fingerprint(sent string) string {
	digits := strings.ToUpper(strings.ReplaceAll(sent, ":", ""))
	var pairs []string
	for pair := range slices.Chunk([]byte(digits), 2) {
		pairs = append(pairs, string(pair))
	}
	return strings.Join(pairs, ":")
}
