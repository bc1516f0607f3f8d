package batch

import (
	"context"

	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

// MoveLink is the input of the action move; null takes the link out of its
// folder.
type MoveLink struct {
	FolderID opt.Null[string] `json:"folderId" maxLength:"100" required:"true"`
}

// ArchiveLink is the input of the action archive.
type ArchiveLink struct {
	Lifecycle struct {
		Archived bool `json:"archived"`
	} `json:"lifecycle"`
}

// actions do the items of batches.
type actions struct {
	links   *link.Service
	create  func([]byte) (link.CreateLink, error)
	update  func([]byte) (link.UpdateLink, error)
	move    func([]byte) (MoveLink, error)
	archive func([]byte) (ArchiveLink, error)
}

// creates reports that an item will make a link, as far as can be told before.
func (a *actions) creates(c *op.Call, i *automation.Item) bool {
	if i.Action != "create" || !c.Actor.May(permission(i.Action), false) {
		return false
	}
	_, err := a.create(i.Input)
	return err == nil
}

func (a *actions) apply(ctx context.Context, c *op.Call, tx *store.Tx, i *automation.Item) (automation.ItemResult, error) {
	if p := permission(i.Action); !c.Actor.May(p, false) {
		return automation.ItemResult{}, fault.New(fault.InsufficientPermission, "The credential no longer holds the permission %s.", p)
	}
	l, err := a.change(ctx, c, tx, i)
	return automation.ItemResult{LinkID: l.ID, Revision: l.Revision}, err
}

func (a *actions) change(ctx context.Context, c *op.Call, tx *store.Tx, i *automation.Item) (link.Link, error) {
	var body link.UpdateLink
	switch i.Action {
	case "create":
		body, err := a.create(i.Input)
		if err == nil && body.AppID != c.AppID {
			err = fault.Invalid("/appId", "not_allowed", "the app must be the batch's")
		}
		if err != nil {
			return link.Link{}, err
		}
		return a.links.Create(ctx, c, tx, &body)
	case "delete":
		return a.links.Delete(ctx, c, tx, *i.LinkID)
	case "move":
		move, err := a.move(i.Input)
		if err != nil {
			return link.Link{}, err
		}
		body.FolderID = move.FolderID
	case "archive":
		archive, err := a.archive(i.Input)
		if err != nil {
			return link.Link{}, err
		}
		body.Lifecycle.Set, body.Lifecycle.Value.Archived = true, opt.Some(archive.Lifecycle.Archived)
	default:
		update, err := a.update(i.Input)
		if err != nil {
			return link.Link{}, err
		}
		body = update
	}
	return a.links.Update(ctx, c, tx, *i.LinkID, &body)
}
