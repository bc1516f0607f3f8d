package domain

import (
	"context"
	"net/url"
	"slices"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// WebConfig tells what browsers and crawlers get on a hostname (completions.md §4).
type WebConfig struct {
	RootURL        *string `json:"rootUrl" maxLength:"4096" doc:"Where visitors of the hostname itself are sent; null: a page with the status 404."`
	NotFoundURL    *string `json:"notFoundUrl" maxLength:"4096" doc:"Where visitors of an unknown path are sent; null: a page with the status 404."`
	Robots         string  `json:"robots" enum:"index,noindex" doc:"What robots.txt allows to search engines: all, or nothing."`
	RedirectStatus int64   `json:"redirectStatus" enum:"302,307" minimum:"302" maximum:"307" doc:"The status with which links redirect."`
}

// SchemaName implements schema.Named.
func (WebConfig) SchemaName() string { return "DomainWebConfig" }

// defaultWeb is the configuration of a domain for which none was set.
var defaultWeb = WebConfig{Robots: "index", RedirectStatus: 302}

// SetWebConfig is the body of setDomainsDomainIdWebConfig.
type SetWebConfig struct {
	RootURL        opt.Null[string] `json:"rootUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password, not on a hostname of this installation."`
	NotFoundURL    opt.Null[string] `json:"notFoundUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password, not on a hostname of this installation."`
	Robots         opt.Opt[string]  `json:"robots,omitzero" enum:"index,noindex" default:"index"`
	RedirectStatus opt.Opt[int64]   `json:"redirectStatus,omitzero" enum:"302,307" minimum:"302" maximum:"307" default:"302"`
}

// SchemaName implements schema.Named.
func (SetWebConfig) SchemaName() string { return "DomainWebConfigInput" }

// config checks a body and returns the configuration of d that it describes.
func (in *SetWebConfig) config(ctx context.Context, q store.Q, d *Domain) (WebConfig, error) {
	c := WebConfig{RootURL: in.RootURL.Ptr(), NotFoundURL: in.NotFoundURL.Ptr(),
		Robots: in.Robots.Or(defaultWeb.Robots), RedirectStatus: in.RedirectStatus.Or(defaultWeb.RedirectStatus)}
	var p fault.Problems
	p.Keep(checkElsewhere(ctx, q, d, "/rootUrl", c.RootURL))
	p.Keep(checkElsewhere(ctx, q, d, "/notFoundUrl", c.NotFoundURL))
	return c, p.Refusal()
}

// checkElsewhere refuses an address that is no URL of the web, and one on a hostname
// of the installation: its answer can depend on the same settings, so that visitors
// would be sent round in a circle.
func checkElsewhere(ctx context.Context, q store.Q, d *Domain, path string, value *string) error {
	if err := weburl.CheckHTTPS(path, value); err != nil || value == nil {
		return err
	}
	u, err := url.Parse(*value)
	if err != nil {
		return err
	}
	host, ok := weburl.Hostname(u.Hostname())
	if !ok {
		return nil // an IP literal
	}
	ours, err := Held(ctx, q, host)
	if err != nil {
		return err
	}
	if host == d.Hostname || slices.Contains(ours, host) {
		return fault.Invalid(path, fault.ReasonRedirectLoop, "the address is on %s, which this installation serves, and "+
			"could lead visitors in a circle; use an address elsewhere", host)
	}
	return nil
}
