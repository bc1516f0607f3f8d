// Package app owns apps, the scope in which everything else lives, and their
// defaults (api-v1.md, App). Logos are package asset's, which knows images.
package app

import (
	"regexp"
	"slices"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// App is an app of an owner.
type App struct {
	ID             string        `json:"id"`
	Name           string        `json:"name"`
	DefaultDomain  *string       `json:"defaultDomain"`
	DesktopURL     *string       `json:"desktopUrl"`
	PlayStoreURL   *string       `json:"playStoreUrl"`
	AppStoreURL    *string       `json:"appStoreUrl"`
	Scheme         *string       `json:"scheme"`
	AndroidPackage *string       `json:"androidPackage"`
	IOSBundleID    *string       `json:"iosBundleId"`
	IOSTeamID      *string       `json:"iosTeamId"`
	LogoAssetID    *string       `json:"logoAssetId"`
	Revision       string        `json:"revision" format:"uuid"`
	CreatedAt      clock.Instant `json:"createdAt" format:"date-time"`
	UpdatedAt      clock.Instant `json:"updatedAt" format:"date-time"`
}

// Position implements op.Positioned.
func (a App) Position() cursor.Position { return cursor.Position{At: a.CreatedAt, ID: a.ID} }

// Ref names the app for audit and as ETag of what belongs to it.
func (a App) Ref() op.Ref {
	return op.Ref{Type: "app", ID: a.ID, AppID: a.ID, Revision: a.Revision}
}

// iosApp names the iOS app, which domains take as theirs; "" without one.
func (a App) iosApp() string {
	if a.IOSTeamID == nil || a.IOSBundleID == nil {
		return ""
	}
	return *a.IOSTeamID + "." + *a.IOSBundleID
}

// shown is what the redirector knows of an app.
type shown struct{ name, desktopURL, scheme, androidPackage, iosApp string }

func (a App) shown() shown {
	return shown{a.Name, opt.Text(a.DesktopURL), opt.Text(a.Scheme), opt.Text(a.AndroidPackage), a.iosApp()}
}

func (a App) item() op.Item[App] { return op.Item[App]{Data: a, Ref: a.Ref()} }

// Defaults are what new links of an app copy when they name nothing else.
type Defaults struct {
	AppID         string  `json:"appId"`
	DefaultDomain *string `json:"defaultDomain"`
	DesktopURL    *string `json:"desktopUrl"`
	PlayStoreURL  *string `json:"playStoreUrl"`
	AppStoreURL   *string `json:"appStoreUrl"`
	Revision      string  `json:"revision" format:"uuid" doc:"The app's."`
}

// SchemaName implements schema.Named.
func (Defaults) SchemaName() string { return "AppDefaults" }

func (a App) defaults() op.Item[Defaults] {
	return op.Item[Defaults]{Ref: a.Ref(), Data: Defaults{
		AppID: a.ID, DefaultDomain: a.DefaultDomain, DesktopURL: a.DesktopURL,
		PlayStoreURL: a.PlayStoreURL, AppStoreURL: a.AppStoreURL, Revision: a.Revision,
	}}
}

// Fields are what a client may set of an app besides its name.
type Fields struct {
	DefaultDomain  opt.Null[string] `json:"defaultDomain,omitzero" maxLength:"253" doc:"A domain of this app that is ready for links."`
	DesktopURL     opt.Null[string] `json:"desktopUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password."`
	PlayStoreURL   opt.Null[string] `json:"playStoreUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password."`
	AppStoreURL    opt.Null[string] `json:"appStoreUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password."`
	Scheme         opt.Null[string] `json:"scheme,omitzero" maxLength:"64" doc:"Native scheme without ://."`
	AndroidPackage opt.Null[string] `json:"androidPackage,omitzero" maxLength:"255" pattern:"^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+$" example:"com.example.shop"`
	IOSBundleID    opt.Null[string] `json:"iosBundleId,omitzero" maxLength:"155" pattern:"^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$" example:"com.example.shop"`
	IOSTeamID      opt.Null[string] `json:"iosTeamId,omitzero" pattern:"^[A-Z0-9]{10}$" example:"A1B2C3D4E5"`
}

// apply checks the fields and puts those sent into a. That the domain belongs
// to the app is the caller's to check.
func (f *Fields) apply(a *App) error {
	for _, field := range []struct {
		path  string
		value opt.Null[string]
		into  **string
	}{{"/desktopUrl", f.DesktopURL, &a.DesktopURL}, {"/playStoreUrl", f.PlayStoreURL, &a.PlayStoreURL},
		{"/appStoreUrl", f.AppStoreURL, &a.AppStoreURL}} {
		if err := weburl.CheckHTTPS(field.path, field.value.Ptr()); err != nil {
			return err
		}
		field.value.Apply(field.into)
	}
	if f.Scheme.Valid && !nativeScheme(f.Scheme.Value) {
		return fault.Invalid("/scheme", fault.ReasonInvalidFormat,
			"the scheme must be that of a native app, such as myapp: 2 to 64 characters of a-z, 0-9, +, - and ., "+
				"beginning with a letter, and none that browsers or systems use")
	}
	f.Scheme.Apply(&a.Scheme)
	f.AndroidPackage.Apply(&a.AndroidPackage)
	f.IOSBundleID.Apply(&a.IOSBundleID)
	f.IOSTeamID.Apply(&a.IOSTeamID)
	if f.DefaultDomain.Valid {
		host, ok := weburl.Hostname(f.DefaultDomain.Value)
		if !ok {
			return unknownDomain()
		}
		f.DefaultDomain.Value = host
	}
	f.DefaultDomain.Apply(&a.DefaultDomain)
	return nil
}

func unknownDomain() error {
	return fault.Invalid("/defaultDomain", fault.ReasonUnknownReference,
		"the domain must be one of this app that is ready for links")
}

var schemeText = regexp.MustCompile(`^[a-z][a-z0-9+.-]{1,63}$`)

// reservedSchemes navigate, run script or belong to the system
// (completions.md §3).
var reservedSchemes = []string{
	"http", "https", "javascript", "data", "file", "about", "blob", "vbscript", "ftp", "ws", "wss", "intent", "mailto",
	"tel", "sms",
}

func nativeScheme(s string) bool {
	return schemeText.MatchString(s) && !slices.Contains(reservedSchemes, s)
}
