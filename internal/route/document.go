package route

import (
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/page"
)

// Link is the document of a link: all that a visit needs to know. Empty
// strings stand for what is not set.
type Link struct {
	LinkID     string   `json:"id"`
	AppID      string   `json:"app"`
	Prefix     string   `json:"pre,omitempty"`
	Slug       string   `json:"slug"`
	Group      string   `json:"grp,omitempty"`
	CampaignID string   `json:"camp,omitempty"`
	FolderID   string   `json:"fold,omitempty"`
	TagIDs     []string `json:"tags,omitempty"`

	// Lifecycle (completions.md §3): the start is inclusive, the end
	// exclusive.
	Archived   bool           `json:"arch,omitzero"`
	StartsAt   *clock.Instant `json:"from,omitempty" format:"date-time"`
	ExpiresAt  *clock.Instant `json:"to,omitempty" format:"date-time"`
	MaxClicks  *int64         `json:"max,omitempty"`
	ExpiredURL string         `json:"exp,omitempty"`

	DesktopURL   string `json:"web,omitempty"`
	PlayStoreURL string `json:"play,omitempty"`
	AppStoreURL  string `json:"ios,omitempty"`
	// WebOnly sends phones to the web page rather than to the store.
	WebOnly  bool     `json:"wo,omitzero"`
	Behavior Behavior `json:"beh,omitempty"`

	// What the app opens: a path of its own, and parameters as a JSON object.
	AppPath    string `json:"path,omitempty"`
	Parameters string `json:"par,omitempty"`
	// Templates are those of its pages; Data are the values of their variables, as a
	// JSON object.
	Templates Templates `json:"tpl,omitzero"`
	Data      string    `json:"data,omitempty"`

	// Rules come before the destinations above; the first that matches wins.
	Rules []Rule `json:"rules,omitempty"`

	UTM         UTM `json:"utm,omitzero"`
	CampaignUTM UTM `json:"cutm,omitzero"`

	// What a link preview shows. The size of the image is in pixels, and 0
	// unless the image is an uploaded one.
	Title       string `json:"ttl,omitempty"`
	Description string `json:"desc,omitempty"`
	ImageURL    string `json:"img,omitempty"`
	ImageWidth  int64  `json:"imgw,omitzero"`
	ImageHeight int64  `json:"imgh,omitzero"`

	// plan is what can be computed before any visit. It is set when the link
	// enters the cache.
	plan *plan
}

// ByCountry reports whether the visitor's country decides where a link leads.
func (l *Link) ByCountry() bool {
	for i := range l.Rules {
		if l.Rules[i].Country != "" {
			return true
		}
	}
	return false
}

// hasPreview reports whether the link has a preview of its own. A title alone
// does not count: it names the link in lists, and a preview with nothing else
// would hide the description and the image of the destination.
func (l *Link) hasPreview() bool { return l.Description != "" || l.ImageURL != "" }

// Variables returns the values of the variables of the link's templates, as package
// page takes them. The result is shared and must not be changed.
func (l *Link) Variables() map[string]string {
	if l.plan != nil {
		return l.plan.data
	}
	data, err := page.ParseData(l.Data)
	if err != nil {
		return nil // a page shows the defaults rather than nothing
	}
	return data
}

// Templates name a template for each base template: "" where the host decides,
// "official", or "<template id>@<version>" (binding.Selection.Ref).
type Templates struct {
	Android  string `json:"a,omitempty"`
	IOS      string `json:"i,omitempty"`
	Recovery string `json:"r,omitempty"`
}

// Of returns the template for a base template.
func (t *Templates) Of(base binding.Base) string { return *t.at(base) }

// TemplatesOf returns the names of the choices that choose makes for base templates.
func TemplatesOf(choose func(binding.Base) binding.Selection) (t Templates) {
	for _, base := range binding.Bases {
		*t.at(base) = choose(base).Ref()
	}
	return t
}

func (t *Templates) at(base binding.Base) *string {
	switch base {
	case binding.Android:
		return &t.Android
	case binding.IOS:
		return &t.IOS
	default:
		return &t.Recovery
	}
}

// Rule sends the visits that it matches to a destination of its own. What is
// not set matches every visit.
type Rule struct {
	ID string `json:"id"`
	// Platform is Android, IOS or Desktop. A visitor whose platform is unknown
	// is Other. Rules with a platform do not match it; without a rule it gets
	// the desktop destination.
	Platform Platform `json:"plat,omitempty"`
	// Country is an ISO 3166-1 alpha-2 code in capitals.
	Country string `json:"ctry,omitempty"`
	// The start is inclusive, the end exclusive.
	StartsAt  *clock.Instant `json:"from,omitempty" format:"date-time"`
	ExpiresAt *clock.Instant `json:"to,omitempty" format:"date-time"`
	URL       string         `json:"url"`
	// UTM wins over the campaign parameters of the link.
	UTM UTM `json:"utm,omitzero"`
}

// matches reports whether a rule is meant for a visit. A rule with a country
// does not match a visit whose country is unknown.
func (r *Rule) matches(visit *Visit, now clock.Instant) bool {
	return (r.Platform == "" || r.Platform == visit.Platform) &&
		(r.Country == "" || r.Country == visit.Country && r.Country != UnknownCountry) &&
		(r.StartsAt == nil || now >= *r.StartsAt) &&
		(r.ExpiresAt == nil || now < *r.ExpiresAt)
}

// UTM are the campaign parameters of a rule, link or campaign.
type UTM struct {
	Source   string `json:"s,omitempty"`
	Medium   string `json:"m,omitempty"`
	Campaign string `json:"c,omitempty"`
	Term     string `json:"t,omitempty"`
	Content  string `json:"n,omitempty"`
}

// Host is the document of a hostname. Its route has the path "".
type Host struct {
	DomainID string `json:"id"`
	AppID    string `json:"app"`
	// Connected tells that the DNS of an owner's hostname was seen to lead here. Before
	// that an authority could not reach this installation to issue a certificate.
	Connected bool `json:"conn,omitzero"`
	// NoIndex asks crawlers to stay away (robots.txt).
	NoIndex bool `json:"noidx,omitzero"`
	// RedirectStatus is 302 or 307; anything else means 302.
	RedirectStatus int    `json:"st,omitzero"`
	RootURL        string `json:"root,omitempty"`
	NotFoundURL    string `json:"nf,omitempty"`
	// AppleAppSiteAssociation and AssetLinks are the texts of the files that tell
	// iOS and Android which apps open the links; "" where there is none.
	AppleAppSiteAssociation string `json:"aasa,omitempty"`
	AssetLinks              string `json:"alinks,omitempty"`
	// The app, as its pages show it: its name, its logo as a data URI, and where a
	// visitor of a page of ours can go on.
	AppName string `json:"name,omitempty"`
	AppLogo string `json:"logo,omitempty"`
	HomeURL string `json:"home,omitempty"`
	// What opens the app: its own scheme, and the package of the Android app.
	Scheme         string `json:"scheme,omitempty"`
	AndroidPackage string `json:"pkg,omitempty"`
	// Templates are those of links that choose none.
	Templates Templates `json:"tpl,omitzero"`
	// Recovery is how links that were opened before an app was installed are found
	// again; nil means not at all.
	Recovery *Recovery `json:"rec,omitempty"`
}

// Recovery tells how an app that was just installed finds the link that led to
// its installation.
type Recovery struct {
	TokenTTLSeconds int64 `json:"ttl"`
	// ByToken says that the app's token tells the link; without it nothing does.
	ByToken bool `json:"tok,omitzero"`
}

// Path returns the route path of a link: "<prefix>/<slug>", or "<slug>"
// without a prefix. Both are stored decoded and in NFC.
func Path(prefix, slug string) string {
	if prefix == "" {
		return slug
	}
	return prefix + "/" + slug
}
