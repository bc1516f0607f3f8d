package template

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

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

// Version is a design of a template that is never changed (completions.md §5).
type Version struct {
	TemplateID     string        `json:"templateId" format:"uuid"`
	AppID          string        `json:"appId"`
	Version        int64         `json:"version" minimum:"1" doc:"1, 2, …"`
	BaseTemplateID binding.Base  `json:"baseTemplateId" enum:"android,ios,recovery"`
	Config         page.Config   `json:"config"`
	SHA256         string        `json:"sha256" pattern:"^[0-9a-f]{64}$" maxLength:"64" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"Of config as canonical JSON. Versions with the same design have the same."`
	CreatedAt      clock.Instant `json:"createdAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Version) SchemaName() string { return "TemplateVersion" }

// Position implements op.Positioned.
func (v Version) Position() cursor.Position {
	return cursor.Position{At: v.CreatedAt, ID: fmt.Sprint(v.Version)}
}

func (v *Version) item() op.Item[Version] {
	return op.Item[Version]{Data: *v, Ref: op.Ref{Type: "template_version", AppID: v.AppID,
		ID: binding.CustomOf(v.TemplateID, v.Version).Ref()}}
}

const versions = `SELECT v.template_id, v.app_id, v.version, t.base, v.config, v.sha256, v.created_at
	FROM template_version AS v JOIN template AS t ON t.id = v.template_id WHERE v.template_id = ?`

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
	return store.One(ctx, q, scanVersion, versions+" AND v.version = ?", templateID, version)
}

type versionsInput struct {
	TemplateID string `path:"templateId"`
}

func listVersions(ctx context.Context, c *op.Call, in *versionsInput, w op.Window) ([]Version, error) {
	before := int64(MaxVersions + 1)
	if w.After != nil {
		var err error
		if before, err = strconv.ParseInt(w.After.ID, 10, 64); err != nil {
			return nil, err
		}
	}
	return store.All(ctx, c.DB, scanVersion, versions+" AND v.version < ? ORDER BY v.version DESC LIMIT ?",
		in.TemplateID, before, w.Limit)
}

type versionInput struct {
	TemplateID string `path:"templateId"`
	Version    string `path:"version" maxLength:"10" example:"1"`
}

func getVersion(ctx context.Context, c *op.Call, in *versionInput) (op.Item[Version], error) {
	n, err := strconv.ParseInt(in.Version, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != in.Version {
		return op.Item[Version]{}, fault.Missing()
	}
	v, err := op.Found(FindVersion(ctx, c.DB, in.TemplateID, n))
	return v.item(), err
}

// CreateVersion is the body of createTemplatesTemplateIdVersions.
type CreateVersion struct{}

// SchemaName implements schema.Named.
func (CreateVersion) SchemaName() string { return "TemplateVersionCreate" }

type createVersionInput struct {
	TemplateID string `path:"templateId"`
	Body       CreateVersion
}

func createVersion(ctx context.Context, c *op.Call, tx *store.Tx, in *createVersionInput) (op.Item[Version], error) {
	t, err := currentDraft(ctx, c, tx, in.TemplateID)
	if err != nil {
		return op.Item[Version]{}, err
	}
	v, err := Snapshot(ctx, tx, &t)
	item := v.item()
	item.Location = op.Location("templates", t.ID, "versions", fmt.Sprint(v.Version))
	return item, err
}

// Snapshot makes a version of the draft of a template, which was loaded in tx. It
// refuses a draft with an issue (422 with all of them, at /config), and a version
// too many (409).
func Snapshot(ctx context.Context, tx *store.Tx, t *Template) (v Version, err error) {
	defer fault.Wrap(&err, "template.Snapshot(%s)", t.ID)
	config := t.draft.Config
	var p fault.Problems
	logo, err := checkVersion(ctx, tx, &p, t.AppID, t.BaseTemplateID, config)
	if err == nil {
		err = p.Refusal()
	}
	if err != nil {
		return v, err
	}
	if logoOf(config) != nil && logo == nil {
		// An image of before there were templates, which a sweep gets to.
		refusal := fault.New(fault.Unavailable, "The logo of the template is being prepared. Try again in a minute.")
		refusal.RetryAfter = 60
		return v, refusal
	}
	if t.lastVersion >= MaxVersions {
		return v, fault.New(fault.ResourceConflict, "The template has %d versions, as many as it may have. Duplicate "+
			"it and go on with the copy.", t.lastVersion)
	}
	text := config.Canonical()
	digest := sha256.Sum256(text)
	t.lastVersion++
	v = Version{TemplateID: t.ID, AppID: t.AppID, Version: t.lastVersion, BaseTemplateID: t.BaseTemplateID,
		Config: config, SHA256: hex.EncodeToString(digest[:]), CreatedAt: tx.Now}
	t.draft.BaseVersion = &v.Version
	// The template comes first: of two who make a version at once, one loses the race for
	// its row and runs again. They must not meet at the number of the version.
	if _, err = tx.Exec(ctx, "UPDATE template SET last_version = ?, draft_base_version = ? WHERE id = ?", v.Version,
		v.Version, t.ID); err != nil {
		return v, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO template_version (template_id, version, app_id, config, sha256, logo,
		created_at) VALUES (`+store.Marks(7)+`)`, v.TemplateID, v.Version, v.AppID, string(text), v.SHA256,
		logoOf(config), v.CreatedAt)
	return v, err
}

// ToPublish returns the version that is published when none is named: the newest
// one if the draft is still equal to it, else a Snapshot of the draft.
func ToPublish(ctx context.Context, tx *store.Tx, t *Template) (v Version, err error) {
	defer fault.Wrap(&err, "template.ToPublish(%s)", t.ID)
	if t.lastVersion > 0 {
		v, err = FindVersion(ctx, tx, t.ID, t.lastVersion)
		if err != nil || string(v.Config.Canonical()) == string(t.draft.Config.Canonical()) {
			return v, err
		}
	}
	return Snapshot(ctx, tx, t)
}
