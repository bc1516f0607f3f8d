package link

import (
	"bytes"
	"io"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// CreateLink is the body of createLinks.
type CreateLink struct {
	AppID  string          `json:"appId" minLength:"1" maxLength:"500"`
	Domain string          `json:"domain" minLength:"1" maxLength:"253" doc:"A domain of the app that is ready for links."`
	Prefix opt.Opt[string] `json:"prefix,omitzero" maxLength:"200"`
	Slug   string          `json:"slug" minLength:"1" maxLength:"200"`
	Content
}

// Content is what a client may set of a link besides its identity.
type Content struct {
	FolderID          opt.Null[string]           `json:"folderId,omitzero" maxLength:"100"`
	CampaignID        opt.Null[string]           `json:"campaignId,omitzero" maxLength:"100"`
	Lifecycle         opt.Opt[SetLifecycle]      `json:"lifecycle,omitzero"`
	UTM               opt.Opt[SetUTM]            `json:"utm,omitzero"`
	Title             opt.Null[string]           `json:"title,omitzero" maxLength:"200"`
	Description       opt.Null[string]           `json:"description,omitzero" maxLength:"1000"`
	ImageURL          opt.Null[string]           `json:"imageUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password."`
	DesktopURL        opt.Null[string]           `json:"desktopUrl,omitzero" maxLength:"4096" doc:"HTTPS. Omitted on creation: the app's default."`
	PlayStoreURL      opt.Null[string]           `json:"playStoreUrl,omitzero" maxLength:"4096" doc:"HTTPS. Omitted on creation: the app's default."`
	AppStoreURL       opt.Null[string]           `json:"appStoreUrl,omitzero" maxLength:"4096" doc:"HTTPS. Omitted on creation: the app's default."`
	AppPath           opt.Null[string]           `json:"appPath,omitzero" maxLength:"2048" doc:"Relative path without leading slash, read by the app."`
	Parameters        opt.Opt[Object]            `json:"parameters,omitzero" doc:"At most 16 KiB and 5 levels deep."`
	WebOnly           opt.Opt[bool]              `json:"webOnly,omitzero"`
	Behavior          opt.Opt[string]            `json:"behavior,omitzero" enum:"manual,automatic,intelligent" doc:"Default manual."`
	Group             opt.Opt[string]            `json:"group,omitzero" enum:"main,operational" doc:"Default operational."`
	TemplateData      opt.Opt[Object]            `json:"templateData,omitzero"`
	TemplateSelection opt.Opt[SetTemplateChoice] `json:"templateSelection,omitzero"`
}

// SetLifecycle changes the members sent and keeps the others.
type SetLifecycle struct {
	Archived   opt.Opt[bool]           `json:"archived,omitzero"`
	StartsAt   opt.Null[clock.Instant] `json:"startsAt,omitzero" format:"date-time"`
	ExpiresAt  opt.Null[clock.Instant] `json:"expiresAt,omitzero" format:"date-time"`
	MaxClicks  opt.Null[int64]         `json:"maxClicks,omitzero" minimum:"1" maximum:"1000000000"`
	ExpiredURL opt.Null[string]        `json:"expiredUrl,omitzero" maxLength:"4096"`
}

// SetUTM changes the members sent and keeps the others.
type SetUTM struct {
	Source   opt.Null[string] `json:"source,omitzero" minLength:"1" maxLength:"255"`
	Medium   opt.Null[string] `json:"medium,omitzero" minLength:"1" maxLength:"255"`
	Campaign opt.Null[string] `json:"campaign,omitzero" minLength:"1" maxLength:"255"`
	Term     opt.Null[string] `json:"term,omitzero" minLength:"1" maxLength:"255"`
	Content  opt.Null[string] `json:"content,omitzero" minLength:"1" maxLength:"255"`
}

// SetTemplateChoice changes the members sent and keeps the others.
type SetTemplateChoice struct {
	Android  opt.Null[TemplateChoice] `json:"android,omitzero"`
	IOS      opt.Null[TemplateChoice] `json:"ios,omitzero"`
	Recovery opt.Null[TemplateChoice] `json:"recovery,omitzero"`
}

const (
	maxParameters      = 16 << 10
	maxParametersDepth = 5
)

// apply checks the fields that were sent and puts them into l.
func (c *Content) apply(l *Link) error {
	for _, reference := range []struct {
		path  string
		value opt.Null[string]
		into  **string
	}{{"/folderId", c.FolderID, &l.FolderID}, {"/campaignId", c.CampaignID, &l.CampaignID}} {
		if reference.value.Valid {
			return fault.Invalid(reference.path, "unknown_reference", "there is no such resource in this app")
		}
		reference.value.Apply(reference.into)
	}
	for _, field := range []struct {
		path  string
		value opt.Null[string]
		into  **string
	}{
		{"/imageUrl", c.ImageURL, &l.ImageURL}, {"/desktopUrl", c.DesktopURL, &l.DesktopURL},
		{"/playStoreUrl", c.PlayStoreURL, &l.PlayStoreURL}, {"/appStoreUrl", c.AppStoreURL, &l.AppStoreURL},
	} {
		if err := weburl.CheckHTTPS(field.path, field.value.Ptr()); err != nil {
			return err
		}
		field.value.Apply(field.into)
	}
	if err := c.applyLifecycle(&l.Lifecycle); err != nil {
		return err
	}
	u := c.UTM.Value
	u.Source.Apply(&l.UTM.Source)
	u.Medium.Apply(&l.UTM.Medium)
	u.Campaign.Apply(&l.UTM.Campaign)
	u.Term.Apply(&l.UTM.Term)
	u.Content.Apply(&l.UTM.Content)
	c.Title.Apply(&l.Title)
	c.Description.Apply(&l.Description)
	if p := c.AppPath.Value; strings.HasPrefix(p, "/") || strings.ContainsFunc(p, func(r rune) bool { return unicode.IsControl(r) || r == '\\' }) {
		return fault.Invalid("/appPath", "invalid", "the path must not start with a slash or contain control characters or backslashes")
	}
	c.AppPath.Apply(&l.AppPath)
	l.WebOnly = c.WebOnly.Or(l.WebOnly)
	l.Behavior = c.Behavior.Or(l.Behavior)
	l.Group = c.Group.Or(l.Group)
	if c.Parameters.Set {
		if len(c.Parameters.Value.Value) > maxParameters || deeperThan(c.Parameters.Value, maxParametersDepth) {
			return fault.Invalid("/parameters", "too_large", "the object exceeds %d bytes or %d levels", maxParameters, maxParametersDepth)
		}
		l.Parameters = c.Parameters.Value
	}
	return c.applyTemplates(l)
}

func (c *Content) applyLifecycle(l *Lifecycle) error {
	s := c.Lifecycle.Value
	l.Archived = s.Archived.Or(l.Archived)
	s.StartsAt.Apply(&l.StartsAt)
	s.ExpiresAt.Apply(&l.ExpiresAt)
	s.MaxClicks.Apply(&l.MaxClicks)
	if err := weburl.CheckHTTPS("/lifecycle/expiredUrl", s.ExpiredURL.Ptr()); err != nil {
		return err
	}
	s.ExpiredURL.Apply(&l.ExpiredURL)
	if l.StartsAt != nil && l.ExpiresAt != nil && *l.StartsAt >= *l.ExpiresAt {
		return fault.Invalid("/lifecycle/expiresAt", "out_of_range", "the end must be after the start")
	}
	return nil
}

// applyTemplates accepts what can be checked without templates: the choices
// inherit and official, and no data.
func (c *Content) applyTemplates(l *Link) error {
	if c.TemplateData.Set {
		if string(c.TemplateData.Value.Value) != "{}" {
			return fault.Invalid("/templateData", "unknown_reference", "no selected template has variables")
		}
		l.TemplateData = c.TemplateData.Value
	}
	s := c.TemplateSelection.Value
	for _, choice := range []struct {
		path  string
		value opt.Null[TemplateChoice]
		into  *opt.Null[TemplateChoice]
	}{
		{"/templateSelection/android", s.Android, &l.TemplateSelection.Android},
		{"/templateSelection/ios", s.IOS, &l.TemplateSelection.IOS},
		{"/templateSelection/recovery", s.Recovery, &l.TemplateSelection.Recovery},
	} {
		if !choice.value.Set {
			continue
		}
		if v := choice.value.Value; choice.value.Valid && v.Mode == "custom" {
			return fault.Invalid(choice.path, "unknown_reference", "there is no such template version in this app")
		} else if v.TemplateID.Set || v.Version.Set {
			return fault.Invalid(choice.path, "invalid", "templateId and version go with the mode custom")
		}
		*choice.into = choice.value
	}
	return nil
}

// deeperThan reports whether an object nests deeper than limit; the object
// itself is level 1.
func deeperThan(o Object, limit int) bool {
	d := jsontext.NewDecoder(bytes.NewReader(o.Value))
	for {
		if _, err := d.ReadToken(); err == io.EOF {
			return false
		} else if err != nil || d.StackDepth() > limit {
			return true
		}
	}
}
