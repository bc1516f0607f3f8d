package organize

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// Common is what tags, folders and campaigns have in common.
type Common struct {
	ID          string        `json:"id" format:"uuid"`
	AppID       string        `json:"appId"`
	Name        string        `json:"name" doc:"Unique in the app, ignoring case."`
	Description *string       `json:"description"`
	Archived    bool          `json:"archived"`
	Revision    string        `json:"revision" format:"uuid"`
	CreatedAt   clock.Instant `json:"createdAt" format:"date-time"`
	UpdatedAt   clock.Instant `json:"updatedAt" format:"date-time"`
}

// Position implements op.Positioned.
func (c Common) Position() cursor.Position { return cursor.Position{At: c.CreatedAt, ID: c.ID} }

func (c Common) ref(kind string) op.Ref {
	return op.Ref{Type: kind, ID: c.ID, AppID: c.AppID, Revision: c.Revision}
}

// created is the answer of a creation.
func created[T any](v T, ref op.Ref) op.Item[T] {
	return op.Item[T]{Data: v, Ref: ref, Location: op.Location(ref.Type+"s", ref.ID)}
}

// CreateCommon is what the bodies that create have in common.
type CreateCommon struct {
	AppID string    `json:"appId" minLength:"1" maxLength:"500"`
	Name  text.Line `json:"name" maxLength:"100"`
	SetCommon
}

// UpdateCommon is what the bodies that change have in common.
type UpdateCommon struct {
	Name opt.Opt[text.Line] `json:"name,omitzero" maxLength:"100" example:"Summer sale"`
	SetCommon
}

// SetCommon are the fields of Common that a client may leave out.
type SetCommon struct {
	Description opt.Null[text.Block] `json:"description,omitzero" maxLength:"1000"`
	Archived    opt.Opt[bool]        `json:"archived,omitzero"`
}

func (s *SetCommon) apply(c *Common) {
	opt.Into(s.Description, &c.Description)
	c.Archived = s.Archived.Or(c.Archived)
}

func (b *CreateCommon) apply(c *Common) {
	c.AppID, c.Name = b.AppID, string(b.Name)
	b.SetCommon.apply(c)
}

func (b *UpdateCommon) apply(c *Common) {
	b.SetCommon.apply(c)
	c.Name = string(b.Name.Or(text.Line(c.Name)))
}

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline, republish Republish) part.Part {
	registerTags(p)
	registerFolders(p)
	registerCampaigns(p, republish)
	return part.Part{Name: "organize", OfApp: part.OfApp{
		Tables: []string{"tag", "folder", "campaign"},
		Remove: part.Executing("DELETE FROM tag WHERE app_id = ?", "DELETE FROM folder WHERE app_id = ?",
			"DELETE FROM campaign WHERE app_id = ?"),
	}}
}

// HasFolder reports whether an app has a folder with an id.
func HasFolder(ctx context.Context, q store.Q, appID, id string) (_ bool, err error) {
	defer fault.Wrap(&err, "organize.HasFolder(%s, %s)", appID, id)
	return store.Exists(ctx, q, "SELECT 1 FROM folder WHERE id = ? AND app_id = ?", id, appID)
}

// HasCampaign reports whether an app has a campaign with an id.
func HasCampaign(ctx context.Context, q store.Q, appID, id string) (_ bool, err error) {
	defer fault.Wrap(&err, "organize.HasCampaign(%s, %s)", appID, id)
	return store.Exists(ctx, q, "SELECT 1 FROM campaign WHERE id = ? AND app_id = ?", id, appID)
}

// HasTags reports whether all of the ids, which differ, are tags of an app.
func HasTags(ctx context.Context, q store.Q, appID string, ids []string) (_ bool, err error) {
	defer fault.Wrap(&err, "organize.HasTags(%s, %q)", appID, ids)
	args := []any{appID}
	for _, id := range ids {
		args = append(args, id)
	}
	n, err := store.One(ctx, q, store.Value[int], "SELECT COUNT(*) FROM tag WHERE app_id = ? AND id IN ("+
		store.Marks(len(ids))+")", args...)
	return n == len(ids), err
}
