package organize

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/utm"
)

// Tag marks links; a link may have many.
type Tag struct {
	Common
	Kind string  `json:"kind" enum:"tag"`
	UTM  utm.UTM `json:"utm" doc:"For the owner's own use: destinations get those of links and campaigns."`
}

func (t Tag) ref() op.Ref { return t.Common.ref("tag") }

var tags = table[Tag]{
	name: "tag", columns: []string{"utm"},
	common: func(t *Tag) *Common { return &t.Common },
	values: func(t *Tag) ([]any, error) {
		text, err := json.Marshal(t.UTM)
		return []any{string(text)}, err
	},
	scan: func(r store.Row, t *Tag, common []any) error {
		var text string
		if err := r.Scan(append(common, &text)...); err != nil {
			return err
		}
		t.Kind = "tag"
		return json.Unmarshal([]byte(text), &t.UTM)
	},
}

func registerTags(p *op.Pipeline) {
	app := op.AppOf("tagId", tags.appOf)
	op.List(p, op.Op{ID: "getTags", Method: "GET", Path: "/tags", Perm: "tags:read", App: op.AppInQuery,
		Summary: "List tags"}, tags.list)
	op.Write(p, op.Op{ID: "createTags", Method: "POST", Path: "/tags", Perm: "tags:create", App: op.AppInBody,
		Summary: "Create a tag"}, createTag)
	op.Read(p, op.Op{ID: "getTagsTagId", Method: "GET", Path: "/tags/{tagId}", Perm: "tags:read", App: app,
		Summary: "Get a tag"}, getTag)
	op.Write(p, op.Op{ID: "updateTagsTagId", Method: "PATCH", Path: "/tags/{tagId}", Perm: "tags:update", App: app,
		IfMatch: op.IfMatchRequired, Summary: "Update a tag", Doc: "Only the fields sent change; null clears one."},
		updateTag)
	op.Write(p, op.Op{ID: "deleteTagsTagId", Method: "DELETE", Path: "/tags/{tagId}", Perm: "tags:delete", App: app,
		IfMatch: op.IfMatchRequired, Summary: "Delete a tag",
		Doc: "Its links lose it and get a new revision, the same for all of them; nothing else changes. Their " +
			"history does not tell of it, and no event is sent."}, removeTag)
}

// CreateTag is the body of createTags.
type CreateTag struct {
	CreateCommon
	UTM opt.Opt[utm.SetUTM] `json:"utm,omitzero"`
}

// SchemaName implements schema.Named.
func (CreateTag) SchemaName() string { return "TagCreate" }

func createTag(ctx context.Context, _ *op.Call, tx *store.Tx, in *struct{ Body CreateTag }) (op.Item[Tag], error) {
	t := Tag{Kind: "tag"}
	in.Body.UTM.Value.Apply(&t.UTM)
	in.Body.CreateCommon.apply(&t.Common)
	err := tags.insert(ctx, tx, &t)
	return created(t, t.ref()), err
}

type tagInput struct {
	TagID string `path:"tagId"`
}

func getTag(ctx context.Context, c *op.Call, in *tagInput) (op.Item[Tag], error) {
	t, err := tags.load(ctx, c.DB, in.TagID)
	return op.Item[Tag]{Data: t, Ref: t.ref()}, err
}

// UpdateTag is the body of updateTagsTagId.
type UpdateTag struct {
	UpdateCommon
	UTM opt.Opt[utm.SetUTM] `json:"utm,omitzero"`
}

// SchemaName implements schema.Named.
func (UpdateTag) SchemaName() string { return "TagPatch" }

type updateTagInput struct {
	TagID string `path:"tagId"`
	Body  UpdateTag
}

func updateTag(ctx context.Context, c *op.Call, tx *store.Tx, in *updateTagInput) (op.Item[Tag], error) {
	t, err := tags.current(ctx, c, tx, in.TagID)
	if err == nil {
		in.Body.UTM.Value.Apply(&t.UTM)
		in.Body.UpdateCommon.apply(&t.Common)
		err = tags.save(ctx, tx, &t)
	}
	return op.Item[Tag]{Data: t, Ref: t.ref()}, err
}

// removeTag takes the tag from its links, which get one new revision: their tags
// are read under it. They are not published again, as visitors get the same; their
// clicks name the removed tag until the links change.
func removeTag(ctx context.Context, c *op.Call, tx *store.Tx, in *tagInput) (op.Item[op.Nothing], error) {
	t, err := tags.current(ctx, c, tx, in.TagID)
	revision := ids.Revision()
	for left := err == nil; left; {
		left, err = untag(ctx, tx, t.ID, revision)
	}
	if err == nil {
		err = tags.remove(ctx, tx, t.ID)
	}
	return op.Removed(t.ref()), err
}

// untagged is how many links a statement takes a tag from: a statement has less time than
// the call.
const untagged = 5000

// untag takes a tag from some of its links, and reports whether others may be left.
func untag(ctx context.Context, tx *store.Tx, id, revision string) (left bool, err error) {
	const some = "FROM link_tag WHERE tag_id = ? ORDER BY link_created_at, link_id LIMIT ?"
	err = publication.Links.Renew(ctx, tx, revision, "id IN (SELECT link_id "+some+")", id, untagged)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(ctx, "DELETE FROM link_tag WHERE (tag_id, link_created_at, link_id) IN "+
		"(SELECT tag_id, link_created_at, link_id "+some+")", id, untagged)
	return err == nil && n == untagged, err
}
