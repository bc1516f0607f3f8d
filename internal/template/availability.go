package template

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// The availabilities of a version.
const (
	// Available is a version that the redirector has.
	Available = "available"
	// Prepared is one that the redirector gets once it is published or chosen.
	Prepared = "prepared"
)

// Availability tells which versions of a template the redirector has, and how many
// chose one of them (completions.md §5).
type Availability struct {
	TemplateID    string                `json:"templateId" format:"uuid"`
	LatestVersion *int64                `json:"latestVersion" doc:"null before the first."`
	Versions      []VersionAvailability `json:"versions" maxItems:"1000" doc:"Newest first."`
	InUse         InUse                 `json:"inUse"`
}

// SchemaName implements schema.Named.
func (Availability) SchemaName() string { return "TemplateAvailability" }

// VersionAvailability tells whether the redirector has a version.
type VersionAvailability struct {
	Version      int64  `json:"version" minimum:"1"`
	Availability string `json:"availability" enum:"available,prepared"`
}

// SchemaName implements schema.Named.
func (VersionAvailability) SchemaName() string { return "TemplateVersionAvailability" }

// InUse counts those that chose a version of a template themselves.
type InUse struct {
	App     int64 `json:"app" maximum:"1" doc:"1 when the app's defaults choose it."`
	Domains int64 `json:"domains"`
	Links   int64 `json:"links"`
}

// SchemaName implements schema.Named.
func (InUse) SchemaName() string { return "TemplateInUse" }

func availability(ctx context.Context, c *op.Call, in *templateInput) (op.Item[Availability], error) {
	t, err := Load(ctx, c.DB, in.TemplateID)
	if err != nil {
		return op.Item[Availability]{}, err
	}
	a := Availability{TemplateID: t.ID, LatestVersion: t.draft.BaseVersion}
	a.Versions, err = store.All(ctx, c.DB, func(r store.Row) (v VersionAvailability, err error) {
		var available bool
		err = r.Scan(&v.Version, &available)
		if v.Availability = Prepared; available {
			v.Availability = Available
		}
		return v, err
	}, `SELECT v.version, r.version IS NOT NULL FROM template_version AS v
		LEFT JOIN route_template AS r ON r.template_id = v.template_id AND r.version = v.version
		WHERE v.template_id = ? ORDER BY v.version DESC`, t.ID)
	if err != nil {
		return op.Item[Availability]{}, err
	}
	a.InUse, err = inUse(ctx, c.DB, &t)
	return op.Item[Availability]{Data: a, Ref: t.Ref()}, err
}

func inUse(ctx context.Context, q store.Q, t *Template) (n InUse, err error) {
	for _, count := range []struct {
		into *int64
		sql  string
	}{
		{&n.App, "SELECT template_defaults FROM app WHERE id = ?"},
		{&n.Domains, "SELECT template_defaults FROM domain WHERE app_id = ? AND NOT detached"},
	} {
		all, err := store.All(ctx, q, store.Value[*string], count.sql+" AND template_defaults IS NOT NULL", t.AppID)
		if err != nil {
			return n, err
		}
		for _, text := range all {
			var chosen binding.Bindings
			if err := chosen.SetColumn(text); err != nil {
				return n, err
			}
			if choice := chosen.Of(t.BaseTemplateID).Ptr(); choice != nil && choice.TemplateID != nil &&
				*choice.TemplateID == t.ID {
				*count.into++
			}
		}
	}
	n.Links, err = store.One(ctx, q, store.Value[int64], "SELECT COUNT(*) FROM link_template WHERE template_id = ?", t.ID)
	return n, err
}
