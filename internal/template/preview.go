package template

import (
	"cmp"
	"context"

	"github.com/waymarkhq/waymark/internal/app"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// Preview is a page as the redirector would serve it (completions.md §5).
type Preview struct {
	HTML        string  `json:"html" maxLength:"65536" doc:"The whole page. It loads nothing."`
	ColorScheme *string `json:"colorScheme" enum:"light,dark" doc:"The scheme that was forced; null: the visitor's device chooses."`
	Bytes       int64   `json:"bytes" doc:"Of html in UTF-8."`
	SideEffects bool    `json:"sideEffects" doc:"Always false."`
}

// SchemaName implements schema.Named.
func (Preview) SchemaName() string { return "TemplatePreview" }

// PreviewTemplate is the body of previewTemplatesTemplateId.
type PreviewTemplate struct {
	Config      opt.Opt[page.Config]    `json:"config,omitzero" doc:"Omitted: the draft."`
	Data        opt.Opt[opt.Object]     `json:"data,omitzero" doc:"The templateData of a link. Omitted: defaults alone."`
	ColorScheme opt.Null[string]        `json:"colorScheme,omitzero" enum:"light,dark" doc:"Forces a scheme. Omitted: the visitor's device chooses, as with the redirector."`
	Platform    opt.Opt[route.Platform] `json:"platform,omitzero" enum:"android,ios,desktop" doc:"Whose visitor sees the page. Omitted: that of the base template."`
}

// SchemaName implements schema.Named.
func (PreviewTemplate) SchemaName() string { return "TemplatePreviewRequest" }

type previewInput struct {
	TemplateID string `path:"templateId"`
	Body       PreviewTemplate
}

func preview(ctx context.Context, c *op.Call, tx *store.Tx, in *previewInput) (op.Item[Preview], error) {
	t, err := Current(ctx, c, tx, in.TemplateID)
	if err != nil {
		return op.Item[Preview]{}, err
	}
	config := t.draft.Config
	if in.Body.Config.Set {
		config = in.Body.Config.Value
	}
	var p fault.Problems
	logo, err := checkDraft(ctx, tx, &p, t.AppID, t.BaseTemplateID, config)
	if err != nil {
		return op.Item[Preview]{}, err
	}
	data := in.Body.Data.Value.Value
	if in.Body.Data.Set {
		p.Include(atData, page.CheckData(config, data)...)
	}
	if err := p.Refusal(); err != nil {
		return op.Item[Preview]{}, err
	}
	visit, err := sampleVisit(ctx, tx, t.AppID, t.BaseTemplateID, in.Body.Platform.Value)
	if err != nil {
		return op.Item[Preview]{}, err
	}
	if visit.Data, err = page.ParseData(cmp.Or(string(data), "{}")); err != nil {
		return op.Item[Preview]{}, err
	}
	visit.Scheme = page.Scheme(in.Body.ColorScheme.Value)
	html := page.Compile(t.BaseTemplateID, config, opt.Text(logo)).Append(nil, visit)
	return op.Item[Preview]{Data: Preview{HTML: string(html), ColorScheme: in.Body.ColorScheme.Ptr(),
		Bytes: int64(len(html))}, Ref: t.Ref()}, nil
}

// What stands in a preview where an app has nothing of its own.
const (
	sampleHost      = "go.example.com"
	sampleScheme    = "example"
	samplePlayStore = "https://play.google.com/store/apps/details?id=com.example.app"
	sampleAppStore  = "https://apps.apple.com/app/id1234567890"
	sampleDesktop   = "https://example.com/"
	// sampleNonce is the same in all previews, so that the same input gives the same
	// bytes.
	sampleNonce = "previewpreviewpreview0"
	sampleToken = "preview"
)

// sampleVisit returns a visit of a link without a title or rules, of an app, as the
// redirector would have it.
func sampleVisit(ctx context.Context, q store.Q, appID string, base binding.Base,
	platform route.Platform) (*page.Visit, error) {
	its, err := app.Load(ctx, q, appID)
	if err != nil {
		return nil, err
	}
	visit := &page.Visit{Language: page.Language(""), Nonce: sampleNonce, AppName: its.Name}
	if its.LogoAssetID != nil {
		logo, err := asset.Icon(ctx, q, appID, *its.LogoAssetID)
		if err != nil {
			return nil, err
		}
		visit.AppLogo = opt.Text(logo)
	}
	if platform == "" {
		platform = platforms[base]
	}
	host := &route.Host{AppID: appID, Scheme: cmp.Or(opt.Text(its.Scheme), sampleScheme), AndroidPackage: opt.Text(its.AndroidPackage)}
	link := &route.Link{AppID: appID, Slug: "sample", DesktopURL: cmp.Or(opt.Text(its.DesktopURL), sampleDesktop),
		PlayStoreURL: cmp.Or(opt.Text(its.PlayStoreURL), samplePlayStore),
		AppStoreURL:  cmp.Or(opt.Text(its.AppStoreURL), sampleAppStore)}
	address := "https://" + cmp.Or(opt.Text(its.DefaultDomain), sampleHost) + "/" + link.Slug
	decision := route.Decide(link, host, route.Visit{Platform: platform, Address: address}, 0)
	if decision.App == nil { // not on a phone: the page for browsers is all there is
		visit.WebURL = decision.Location
		return visit, nil
	}
	a := decision.App
	if base == binding.Recovery { // the way to it begins on the page of the platform
		visit.InstallURL, visit.CopyText = a.StoreURL, route.CopiedAddress(address, sampleToken)
		return visit, nil
	}
	visit.OpenURI, visit.Fallback, visit.InstallURL, visit.WebURL = a.NativeURI, a.Fallback(), a.InstallURL, a.WebURL
	visit.AppStoreID, visit.Address = a.AppStoreID, a.Address
	return visit, nil
}

// platforms are those whose visitors see the pages of a base template.
var platforms = map[binding.Base]route.Platform{
	binding.Android: route.Android, binding.IOS: route.IOS, binding.Recovery: route.IOS,
}
