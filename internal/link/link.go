// Package link owns links: their identity, content, lifecycle and history, and
// their way to the redirector (api-v1.md, Link; completions.md §3). It does not
// resolve visits: package route does.
package link

import (
	"net/url"
	"strings"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/utm"
)

// Link is a web or deep link.
type Link struct {
	ID                string             `json:"id" doc:"Opaque; percent-encode it in paths." example:"go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"`
	AppID             string             `json:"appId"`
	Domain            string             `json:"domain"`
	Prefix            string             `json:"prefix"`
	Slug              string             `json:"slug"`
	URL               string             `json:"url" format:"uri" doc:"The public address."`
	FolderID          *string            `json:"folderId"`
	CampaignID        *string            `json:"campaignId"`
	Lifecycle         Lifecycle          `json:"lifecycle"`
	UTM               utm.UTM            `json:"utm"`
	Title             *string            `json:"title"`
	Description       *string            `json:"description"`
	ImageURL          *string            `json:"imageUrl"`
	DesktopURL        *string            `json:"desktopUrl"`
	PlayStoreURL      *string            `json:"playStoreUrl"`
	AppStoreURL       *string            `json:"appStoreUrl"`
	AppPath           *string            `json:"appPath" maxLength:"2048"`
	Parameters        opt.Object         `json:"parameters"`
	WebOnly           bool               `json:"webOnly"`
	Behavior          string             `json:"behavior" enum:"manual,automatic,intelligent"`
	Group             string             `json:"group" enum:"main,operational"`
	Origin            string             `json:"origin" doc:"Who created the link; api for this API."`
	TemplateData      opt.Object         `json:"templateData"`
	TemplateSelection binding.Selections `json:"templateSelection"`
	State             string             `json:"state" enum:"active,scheduled,expired,archived" doc:"What the lifecycle comes to now; expired also when maxClicks is reached. Not part of the revision."`
	Revision          string             `json:"revision" format:"uuid"`
	CreatedAt         clock.Instant      `json:"createdAt" format:"date-time"`
	UpdatedAt         clock.Instant      `json:"updatedAt" format:"date-time"`
	Publication       publication.State  `json:"publication" doc:"Not part of the revision."`
	TagIDs            []string           `json:"tagIds,omitzero" extension:"true" doc:"In lists only, so that a table of links takes one call; getLinksLinkIdTags has those of one link."`

	// bindingRevisions are those of TemplateSelection.
	bindingRevisions binding.Revisions
	// imageAssetID is the uploaded asset that ImageURL shows, if it shows one.
	imageAssetID *string
}

// Lifecycle bounds when and how often a link resolves.
type Lifecycle struct {
	Archived   bool           `json:"archived"`
	StartsAt   *clock.Instant `json:"startsAt" format:"date-time" doc:"Inclusive."`
	ExpiresAt  *clock.Instant `json:"expiresAt" format:"date-time" doc:"Exclusive."`
	MaxClicks  *int64         `json:"maxClicks" doc:"How many human clicks resolve, counted from when a limit is first set."`
	Clicks     *int64         `json:"clicks" doc:"How many human clicks are counted; null without a limit. Read only and not part of the revision."`
	ExpiredURL *string        `json:"expiredUrl" doc:"Where visitors go once the link is expired or its clicks are used up."`
}

// SchemaName implements schema.Named.
func (Lifecycle) SchemaName() string { return "LinkLifecycle" }

// Position implements op.Positioned.
func (l Link) Position() cursor.Position { return cursor.Position{At: l.CreatedAt, ID: l.ID} }

func (l Link) ref() op.Ref {
	return op.Ref{Type: "link", ID: l.ID, AppID: l.AppID, Revision: l.Revision}
}

// Location is the link's own path in the API.
func (l Link) Location() string { return op.Location("links", l.ID) }

// usedUp reports whether the clicks have reached their limit.
func (l *Lifecycle) usedUp() bool { return l.MaxClicks != nil && *l.Clicks >= *l.MaxClicks }

// count sets how many clicks there are; without a limit none are counted.
func (l *Lifecycle) count(clicks int64) {
	if l.Clicks = nil; l.MaxClicks != nil {
		l.Clicks = &clicks
	}
}

// state returns the state that the lifecycle gives at an instant.
func (l *Lifecycle) state(now clock.Instant) string {
	switch {
	case l.Archived:
		return "archived"
	case l.StartsAt != nil && now < *l.StartsAt:
		return "scheduled"
	case l.ExpiresAt != nil && now >= *l.ExpiresAt, l.usedUp():
		return "expired"
	default:
		return "active"
	}
}

// Addresses makes the public addresses of links.
type Addresses struct {
	// Scheme is https, or http in development; Port is ":8081" there.
	Scheme, Port string
}

// URL returns the public address of a link.
func (a Addresses) URL(hostname, prefix, slug string) string {
	parts := strings.Split(route.Path(prefix, slug), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return a.Scheme + "://" + hostname + a.Port + "/" + strings.Join(parts, "/")
}
