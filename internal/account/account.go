// Package account owns the profile and the preferences of the owner who calls
// (api-v1.md, Me and Preferences). It does not hold credentials: sessions are
// package actor's, keys package apikey's.
package account

import (
	"context"
	"fmt"

	"golang.org/x/text/language"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// Me is the caller. For an API key it is a minimal technical identity: the
// owner's id without name and photo.
type Me struct {
	UserID      string  `json:"userId" format:"uuid"`
	DisplayName *string `json:"displayName" doc:"At first the name that the identity provider tells, else the e-mail address."`
	PhotoURL    *string `json:"photoUrl"`
	ActorType   string  `json:"actorType" enum:"human,api_key"`
	Revision    string  `json:"revision" format:"uuid"`
	Email       *string `json:"email,omitempty" maxLength:"254" extension:"true" example:"ada@example.com" doc:"As the identity provider or the operator told it; absent when nobody did, and for API keys."`
}

// SchemaName implements schema.Named.
func (Me) SchemaName() string { return "Profile" }

// Preferences of a human owner.
type Preferences struct {
	SelectedAppID *string `json:"selectedAppId" doc:"Null, under a new revision, once the app was deleted."`
	Theme         string  `json:"theme" enum:"system,light,dark"`
	Timezone      *string `json:"timezone" maxLength:"64" extension:"true" example:"Europe/Berlin" doc:"The IANA time zone that the dashboard shows and takes times in; null where it follows the browser."`
	Locale        *string `json:"locale" maxLength:"35" extension:"true" example:"en-GB" doc:"The BCP 47 tag by which the dashboard writes dates and numbers; null where it follows the browser."`
	Revision      string  `json:"revision" format:"uuid"`
}

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline) part.Part {
	op.Read(p, op.Op{ID: "getMe", Method: "GET", Path: "/me", Perm: "identity:read", Summary: "Get the current user"},
		getMe)
	op.Write(p, op.Op{ID: "updateMe", Method: "PATCH", Path: "/me", Perm: "profile:update", Human: true,
		IfMatch: op.IfMatchRequired, Summary: "Update your profile",
		Doc: "Omitted fields keep their values; a null photoUrl removes the photo."}, updateMe)
	op.Read(p, op.Op{ID: "getMePreferences", Method: "GET", Path: "/me/preferences", Perm: "preferences:read",
		Human: true, Summary: "Get your preferences"}, getPreferences)
	op.Write(p, op.Op{ID: "updateMePreferences", Method: "PATCH", Path: "/me/preferences", Perm: "preferences:update",
		Human: true, IfMatch: op.IfMatchRequired, Summary: "Update your preferences",
		Doc: "Omitted fields keep their values; null clears a selectedAppId, a timezone or a locale."}, updatePreferences)
	return part.Part{Name: "account", OfApp: part.OfApp{Remove: forgetApp}}
}

func getMe(ctx context.Context, c *op.Call, _ *struct{}) (op.Item[Me], error) {
	me, err := loadMe(ctx, c.DB, c.Actor)
	return me.item(), err
}

// UpdateMe is the body of updateMe.
type UpdateMe struct {
	DisplayName opt.Opt[text.Line] `json:"displayName,omitzero" maxLength:"100" example:"Ada Lovelace"`
	PhotoURL    opt.Null[string]   `json:"photoUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password."`
}

// SchemaName implements schema.Named.
func (UpdateMe) SchemaName() string { return "ProfilePatch" }

func updateMe(ctx context.Context, c *op.Call, tx *store.Tx, in *struct{ Body UpdateMe }) (op.Item[Me], error) {
	me, err := loadMe(ctx, tx, c.Actor)
	if err != nil {
		return me.item(), err
	}
	if c.Stale(me.Revision) {
		return me.item(), fault.Stale()
	}
	if in.Body.DisplayName.Set {
		name := string(in.Body.DisplayName.Value)
		me.DisplayName = &name
	}
	if err := weburl.CheckHTTPS("/photoUrl", in.Body.PhotoURL.Ptr()); err != nil {
		return me.item(), err
	}
	in.Body.PhotoURL.Apply(&me.PhotoURL)
	me.Revision = ids.Revision()
	_, err = tx.Exec(ctx, "UPDATE users SET display_name = ?, photo_url = ?, revision = ?, updated_at = ? WHERE id = ?",
		me.DisplayName, me.PhotoURL, me.Revision, tx.Now, me.UserID)
	return me.item(), err
}

func (m Me) item() op.Item[Me] {
	return op.Item[Me]{Data: m, Ref: op.Ref{Type: "user", ID: m.UserID, Revision: m.Revision}}
}

func loadMe(ctx context.Context, q store.Q, a *actor.Actor) (Me, error) {
	me, err := store.One(ctx, q, func(r store.Row) (m Me, err error) {
		err = r.Scan(&m.UserID, &m.DisplayName, &m.PhotoURL, &m.Revision, &m.Email)
		return m, err
	}, "SELECT id, display_name, photo_url, revision, email FROM users WHERE id = ?", a.OwnerID)
	if err != nil {
		return me, fmt.Errorf("load user %s: %w", a.OwnerID, err)
	}
	me.ActorType = string(a.Type)
	if a.Type == actor.APIKey {
		me.DisplayName, me.PhotoURL, me.Email = nil, nil, nil
	}
	return me, nil
}

func getPreferences(ctx context.Context, c *op.Call, _ *struct{}) (op.Item[Preferences], error) {
	p, err := loadPreferences(ctx, c.DB, c.Actor.OwnerID)
	return p.item(c), err
}

// UpdatePreferences is the body of updateMePreferences.
type UpdatePreferences struct {
	SelectedAppID opt.Null[string] `json:"selectedAppId,omitzero" maxLength:"500" doc:"An app of the caller."`
	Theme         opt.Opt[string]  `json:"theme,omitzero" enum:"system,light,dark" example:"dark"`
	Timezone      opt.Null[string] `json:"timezone,omitzero" maxLength:"64" extension:"true" example:"Europe/Berlin" doc:"An IANA time zone; null follows the browser."`
	Locale        opt.Null[string] `json:"locale,omitzero" maxLength:"35" extension:"true" example:"en-GB" doc:"A BCP 47 language tag; null follows the browser."`
}

// SchemaName implements schema.Named.
func (UpdatePreferences) SchemaName() string { return "PreferencesPatch" }

func updatePreferences(ctx context.Context, c *op.Call, tx *store.Tx,
	in *struct{ Body UpdatePreferences }) (op.Item[Preferences], error) {
	p, err := loadPreferences(ctx, tx, c.Actor.OwnerID)
	if err != nil {
		return p.item(c), err
	}
	if c.Stale(p.Revision) {
		return p.item(c), fault.Stale()
	}
	if app := in.Body.SelectedAppID; app.Valid {
		visible, err := c.Actor.Reaches(ctx, tx, app.Value)
		if err != nil {
			return p.item(c), err
		}
		if !visible {
			return p.item(c), fault.Invalid("/selectedAppId", fault.ReasonUnknownReference, "there is no such app")
		}
	}
	if err := in.Body.check(); err != nil {
		return p.item(c), err
	}
	in.Body.SelectedAppID.Apply(&p.SelectedAppID)
	in.Body.Timezone.Apply(&p.Timezone)
	in.Body.Locale.Apply(&p.Locale)
	p.Theme = in.Body.Theme.Or(p.Theme)
	p.Revision = ids.Revision()
	_, err = tx.Exec(ctx, `UPDATE users SET selected_app_id = ?, theme = ?, timezone = ?, locale = ?,
		preferences_revision = ?, updated_at = ? WHERE id = ?`,
		p.SelectedAppID, p.Theme, p.Timezone, p.Locale, p.Revision, tx.Now, c.Actor.OwnerID)
	return p.item(c), err
}

// check refuses a time zone and a locale that do not exist, and writes the locale as
// BCP 47 does.
func (u *UpdatePreferences) check() error {
	if u.Timezone.Valid {
		if _, ok := clock.Zone(u.Timezone.Value); !ok {
			return fault.Invalid("/timezone", fault.ReasonInvalidFormat, clock.ZoneExpected)
		}
	}
	if u.Locale.Valid {
		tag, err := language.Parse(u.Locale.Value)
		if err != nil {
			return fault.Invalid("/locale", fault.ReasonInvalidFormat, "must be a BCP 47 language tag such as en-GB")
		}
		u.Locale.Value = tag.String()
	}
	return nil
}

func (p Preferences) item(c *op.Call) op.Item[Preferences] {
	return op.Item[Preferences]{Data: p, Ref: op.Ref{Type: "preferences", ID: c.Actor.OwnerID, Revision: p.Revision}}
}

func loadPreferences(ctx context.Context, q store.Q, userID string) (Preferences, error) {
	return store.One(ctx, q, func(r store.Row) (p Preferences, err error) {
		err = r.Scan(&p.SelectedAppID, &p.Theme, &p.Timezone, &p.Locale, &p.Revision)
		return p, err
	}, "SELECT selected_app_id, theme, timezone, locale, preferences_revision FROM users WHERE id = ?", userID)
}

// forgetApp clears the selection of a deleted app.
func forgetApp(ctx context.Context, tx *store.Tx, ownerID, appID string) error {
	_, err := tx.Exec(ctx, `UPDATE users SET selected_app_id = NULL, preferences_revision = ?, updated_at = ?
		WHERE id = ? AND selected_app_id = ?`,
		ids.Revision(), tx.Now, ownerID, appID)
	return err
}
