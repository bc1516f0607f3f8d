package link

import (
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/store"
)

// Tags are the tags of a link.
type Tags struct {
	LinkID   string   `json:"linkId"`
	AppID    string   `json:"appId"`
	Revision string   `json:"revision" format:"uuid" doc:"The link's."`
	TagIDs   []string `json:"tagIds"`
}

// SchemaName implements schema.Named.
func (Tags) SchemaName() string { return "LinkTags" }

func (l *Link) withTags(tagIDs []string) op.Item[Tags] {
	return op.Item[Tags]{Ref: l.ref(), Data: Tags{LinkID: l.ID, AppID: l.AppID, Revision: l.Revision, TagIDs: tagIDs}}
}

func tagsOf(ctx context.Context, q store.Q, linkID string) ([]string, error) {
	return store.All(ctx, q, store.Value[string], "SELECT tag_id FROM link_tag WHERE link_id = ? ORDER BY tag_id",
		linkID)
}

// readTags adds the tags of links that have any.
func readTags(ctx context.Context, q store.Q, ids []any, all map[string][]string) error {
	_, err := store.All(ctx, q, func(r store.Row) (_ struct{}, err error) {
		var link, tag string
		err = r.Scan(&link, &tag)
		all[link] = append(all[link], tag)
		return struct{}{}, err
	}, "SELECT link_id, tag_id FROM link_tag WHERE link_id IN ("+store.Marks(len(ids))+") ORDER BY link_id, tag_id",
		ids...)
	return err
}

// addTags marks a link that has no tags.
func addTags(ctx context.Context, tx *store.Tx, l *Link, tagIDs []string) error {
	for _, id := range tagIDs {
		if _, err := tx.Exec(ctx, "INSERT INTO link_tag (tag_id, link_created_at, link_id) VALUES (?, ?, ?)", id,
			l.CreatedAt, l.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) tags(ctx context.Context, c *op.Call, in *linkInput) (op.Item[Tags], error) {
	l, err := s.load(ctx, c.DB, c, in.LinkID)
	if err != nil {
		return op.Item[Tags]{}, err
	}
	all, err := tagsOf(ctx, c.DB, l.ID)
	return l.withTags(all), err
}

// SetTags is the body of setLinksLinkIdTags.
type SetTags struct {
	TagIDs []string `json:"tagIds" maxItems:"50" uniqueItems:"true" example:"[\"0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d\"]" doc:"Tags of the same app."`
}

// SchemaName implements schema.Named.
func (SetTags) SchemaName() string { return "LinkTagsInput" }

type setTagsInput struct {
	LinkID string `path:"linkId"`
	Body   SetTags
}

func (s *Service) setTags(ctx context.Context, c *op.Call, tx *store.Tx, in *setTagsInput) (op.Item[Tags], error) {
	l, err := s.current(ctx, c, tx, in.LinkID)
	if err != nil {
		return op.Item[Tags]{}, err
	}
	if found, err := organize.HasTags(ctx, tx, l.AppID, in.Body.TagIDs); err != nil {
		return op.Item[Tags]{}, err
	} else if !found {
		return op.Item[Tags]{}, fault.UnknownReference("/tagIds")
	}
	if _, err := tx.Exec(ctx, "DELETE FROM link_tag WHERE link_id = ?", l.ID); err != nil {
		return op.Item[Tags]{}, err
	}
	slices.Sort(in.Body.TagIDs)
	if err := addTags(ctx, tx, &l, in.Body.TagIDs); err != nil {
		return op.Item[Tags]{}, err
	}
	if err := touch(ctx, tx, &l); err != nil {
		return op.Item[Tags]{}, err
	}
	return l.withTags(in.Body.TagIDs), changed(ctx, tx, &l, "tags_replaced", []string{"tagIds"}, delivery.LinkUpdated)
}

// touch gives a link a new revision for a change of what belongs to it.
func touch(ctx context.Context, tx *store.Tx, l *Link) error {
	l.Revision, l.UpdatedAt = ids.Revision(), tx.Now
	_, err := tx.Exec(ctx, `UPDATE link SET revision = ?, updated_at = ?,
		publication_status = 'pending', publication_attempts = 0, publication_error = NULL, publication_updated_at = ?
		WHERE id = ?`,
		l.Revision, l.UpdatedAt, tx.Now, l.ID)
	return err
}
