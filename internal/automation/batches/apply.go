package batches

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
	FolderID opt.Null[string] `json:"folderId" maxLength:"100"`
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

// read checks the input of an action.
func (a *actions) read(action string, input []byte) (err error) {
	switch action {
	case automation.ActionCreate:
		_, err = a.create(input)
	case automation.ActionMove:
		_, err = a.move(input)
	case automation.ActionArchive:
		_, err = a.archive(input)
	default:
		_, err = a.update(input)
	}
	return err
}

// creates reports whether an item will create a link, as far as can be known
// beforehand.
func (a *actions) creates(c *op.Call, i *automation.Item) bool {
	if i.Action != automation.ActionCreate || !c.Actor.May(permission(i.Action), false) {
		return false
	}
	_, err := a.create(i.Input)
	return err == nil
}

func (a *actions) apply(ctx context.Context, c *op.Call, tx *store.Tx,
	i *automation.Item) (automation.ItemResult, error) {
	if err := c.Require(permission(i.Action)); err != nil {
		return automation.ItemResult{}, err
	}
	l, err := a.change(ctx, c, tx, i)
	return automation.ItemResult{LinkID: l.ID, Revision: l.Revision}, err
}

func (a *actions) change(ctx context.Context, c *op.Call, tx *store.Tx, i *automation.Item) (link.Link, error) {
	var body link.UpdateLink
	switch i.Action {
	case automation.ActionCreate:
		body, err := a.create(i.Input)
		if err == nil && body.AppID != c.AppID {
			err = fault.Invalid("/appId", fault.ReasonNotAllowed, "the appId must be that of the batch")
		}
		if err != nil {
			return link.Link{}, err
		}
		return a.links.Create(ctx, c, tx, &body)
	case automation.ActionDelete:
		return a.links.Delete(ctx, c, tx, *i.LinkID)
	case automation.ActionMove:
		move, err := a.move(i.Input)
		if err != nil {
			return link.Link{}, err
		}
		body.FolderID = move.FolderID
	case automation.ActionArchive:
		archive, err := a.archive(i.Input)
		if err != nil {
			return link.Link{}, err
		}
		body.Lifecycle.Set, body.Lifecycle.Value.Archived = true, opt.OptOf(archive.Lifecycle.Archived)
	default:
		update, err := a.update(i.Input)
		if err != nil {
			return link.Link{}, err
		}
		body = update
	}
	return a.links.Update(ctx, c, tx, *i.LinkID, &body)
}
