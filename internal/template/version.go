package template

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

// MaxVersions is how many versions a template has at most.
const MaxVersions = 1000

// Version is a design of a template that is never changed.
type Version struct {
	TemplateID     string        `json:"templateId" format:"uuid"`
	AppID          string        `json:"appId"`
	Version        int64         `json:"version" doc:"1, 2, …"`
	BaseTemplateID binding.Base  `json:"baseTemplateId" enum:"android,ios,recovery"`
	Config         page.Config   `json:"config"`
	SHA256         string        `json:"sha256" pattern:"^[0-9a-f]{64}$" maxLength:"64" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"Of config without white space and needless escapes, the members of each object in the order of their names."`
	CreatedAt      clock.Instant `json:"createdAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Version) SchemaName() string { return "TemplateVersion" }

// Position implements op.Positioned.
func (v Version) Position() cursor.Position {
	return cursor.Position{At: v.CreatedAt, ID: fmt.Sprint(v.Version)}
}

func (v *Version) ref() op.Ref {
	return op.Ref{Type: "template_version", ID: binding.CustomOf(v.TemplateID, v.Version).Ref(), AppID: v.AppID}
}

const versionColumns = "v.template_id, v.app_id, v.version, t.base, v.config, v.sha256, v.created_at"

const versions = " FROM template_version AS v JOIN template AS t ON t.id = v.template_id"

func scanVersion(r store.Row) (v Version, err error) {
	var config string
	if err = r.Scan(&v.TemplateID, &v.AppID, &v.Version, &v.BaseTemplateID, &config, &v.SHA256,
		&v.CreatedAt); err != nil {
		return v, err
	}
	return v, json.Unmarshal([]byte(config), &v.Config)
}

// FindVersion returns a version of a template, or store.ErrNotFound.
func FindVersion(ctx context.Context, q store.Q, templateID string, version int64) (_ Version, err error) {
	defer fault.Wrap(&err, "template.FindVersion(%s, %d)", templateID, version)
	return store.One(ctx, q, scanVersion, "SELECT "+versionColumns+versions+
		" WHERE v.template_id = ? AND v.version = ?", templateID, version)
}

// Snapshot makes a version of the draft of a template as it is in tx. It refuses
// one that has an issue (422, pointers begin with /config), and one too many (409).
// It puts the number into the draft.
func Snapshot(ctx context.Context, tx *store.Tx, t *Template) (v Version, err error) {
	defer fault.Wrap(&err, "template.Snapshot(%s)", t.ID)
	var p fault.Problems
	if err = checkDesign(ctx, tx, &p, t.AppID, t.BaseTemplateID, t.draft.Config); err != nil {
		return v, err
	}
	if err = p.Refusal(); err != nil {
		return v, err
	}
	if t.lastVersion >= MaxVersions {
		return v, fault.New(fault.ResourceConflict, "The template has %d versions, as many as it may have. Duplicate "+
			"it and go on with the copy.", t.lastVersion)
	}
	config, err := canonical(t.draft.Config)
	if err != nil {
		return v, err
	}
	digest := sha256.Sum256([]byte(config))
	t.lastVersion++
	v = Version{TemplateID: t.ID, AppID: t.AppID, Version: t.lastVersion, BaseTemplateID: t.BaseTemplateID,
		Config: t.draft.Config, SHA256: hex.EncodeToString(digest[:]), CreatedAt: tx.Now}
	t.draft.BaseVersion = &v.Version
	if _, err = tx.Exec(ctx, `INSERT INTO template_version (template_id, version, app_id, config, sha256, logo,
		created_at) VALUES (`+store.Marks(7)+`)`, v.TemplateID, v.Version, v.AppID, config, v.SHA256,
		logoOf(v.Config), v.CreatedAt); err != nil {
		return v, err
	}
	_, err = tx.Exec(ctx, "UPDATE template SET last_version = ?, draft_base_version = ? WHERE id = ?", v.Version,
		v.Version, t.ID)
	return v, err
}

// Newest returns the version to publish when none is named: the newest one if the
// draft is as it was then, else a Snapshot of the draft.
func Newest(ctx context.Context, tx *store.Tx, t *Template) (v Version, err error) {
	defer fault.Wrap(&err, "template.Newest(%s)", t.ID)
	if t.lastVersion > 0 {
		draft, err := canonical(t.draft.Config)
		if err != nil {
			return v, err
		}
		same, err := store.Exists(ctx, tx, `SELECT 1 FROM template_version WHERE template_id = ? AND version = ?
			AND config = ?`, t.ID, t.lastVersion, draft)
		if err != nil {
			return v, err
		}
		if same {
			return FindVersion(ctx, tx, t.ID, t.lastVersion)
		}
	}
	return Snapshot(ctx, tx, t)
}
