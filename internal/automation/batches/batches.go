// Package batches owns link batches: up to fifty changes of links in one
// request, done one by one by the executor (api-v1.md, Link batches). It does
// not hold what a change does: package link does.
package batches

import (
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

// CreateBatch is the body of createLinkBatches.
type CreateBatch struct {
	AppID string   `json:"appId" minLength:"1" maxLength:"500"`
	Items []Change `json:"items" minItems:"1" maxItems:"50"`
}

// SchemaName implements schema.Named.
func (CreateBatch) SchemaName() string { return "BatchCreate" }

// Change is one change of a batch.
type Change struct {
	ClientID string              `json:"clientId" pattern:"^[A-Za-z0-9._-]{1,100}$" doc:"Unique in the batch."`
	Action   string              `json:"action" enum:"create,update,move,archive,delete"`
	LinkID   opt.Opt[string]     `json:"linkId,omitzero" minLength:"1" maxLength:"500" doc:"For all but create."`
	Revision opt.Opt[string]     `json:"revision,omitzero" format:"uuid" doc:"The link's revision last read; for all but create."`
	Input    opt.Opt[opt.Object] `json:"input,omitzero" example:"{\"appId\":\"app_01k6fq4w8m3x7c9v2n5b1t0rzy\",\"domain\":\"go.example.com\",\"slug\":\"spring\",\"desktopUrl\":\"https://shop.example.com/spring\"}" doc:"create: a LinkCreate of the same app; update: a LinkPatch; move: its folderId; archive: its lifecycle.archived; delete: none. Fields that are unknown, missing or of another type refuse the batch; any other mistake is the item's error."`
}

// SchemaName implements schema.Named.
func (Change) SchemaName() string { return "BatchChange" }

// Item is a change and how it ended.
type Item struct {
	ClientID string                          `json:"clientId"`
	Ordinal  int64                           `json:"ordinal" minimum:"1"`
	State    string                          `json:"state" enum:"pending,succeeded,failed,cancelled"`
	Result   opt.Null[automation.ItemResult] `json:"result"`
	Error    opt.Null[automation.ItemError]  `json:"error"`
}

// SchemaName implements schema.Named.
func (Item) SchemaName() string { return "BatchItem" }

// Position implements op.Positioned.
func (i Item) Position() cursor.Position {
	return automation.Item{Ordinal: i.Ordinal, ClientID: i.ClientID}.Position()
}

// permission returns the permission that an action needs besides
// batches:create.
func permission(action string) string {
	switch action {
	case automation.ActionCreate:
		return "links:create"
	case automation.ActionDelete:
		return "links:delete"
	default:
		return "links:update"
	}
}

// Register declares the operations of this package, adds what they do to works and
// returns the package's part.
func Register(p *op.Pipeline, works *durable.Works, links *link.Service) part.Part {
	a := &actions{links: links, create: op.Reader[link.CreateLink](p), update: op.Reader[link.UpdateLink](p),
		move: op.Reader[MoveLink](p), archive: op.Reader[ArchiveLink](p)}
	op.Write(p, op.Op{ID: "createLinkBatches", Method: "POST", Path: "/link-batches", Perm: "batches:create",
		App: op.AppInBody, Status: 202, Needs: permissions, Summary: "Create, update or delete links in bulk",
		Doc: "Each item is done on its own, in order; one that fails does not stop the others. Needs links:create, " +
			"links:update or links:delete for the actions in it. " +
			"Audit has an event for each change under the operation that makes it on a single link (createLinks, " +
			"updateLinksLinkId, deleteLinksLinkId) and a createLinkBatches event for the batch, all with the id of " +
			"this request as correlationId."}, a.start)
	op.List(p, op.Op{ID: "getLinkBatchesBatchIdItems", Method: "GET", Path: "/link-batches/{batchId}/items",
		Perm: "batches:read", App: op.AppOf("batchId", automation.AppOf(automation.Batch)), PageLimit: 50,
		Summary: "List the results of a batch"}, items)
	return part.Part{Name: "batches", Kinds: []jobs.Kind{works.Add(automation.ItemKind{
		Kind: automation.Batch, Waiting: automation.Pending, Permission: "batches:create",
		Apply: a.apply, Creates: a.creates, Budget: automation.CreationBudget(p),
	}.Work())}}
}

type createInput struct{ Body CreateBatch }

// permissions returns those that the actions of a batch need.
func permissions(in any) (needed []string) {
	for _, b := range in.(*createInput).Body.Items {
		needed = append(needed, permission(b.Action))
	}
	return needed
}

func (a *actions) start(ctx context.Context, c *op.Call, tx *store.Tx,
	in *createInput) (op.Item[automation.Record], error) {
	if err := a.check(in.Body.Items); err != nil {
		return op.Item[automation.Record]{}, err
	}
	j, err := automation.Create(ctx, c, tx, automation.Batch, durable.Queued, "", len(in.Body.Items))
	if err != nil {
		return op.Item[automation.Record]{}, err
	}
	added := make([]automation.Item, len(in.Body.Items))
	for n, b := range in.Body.Items {
		added[n] = automation.Item{ClientID: b.ClientID, Action: b.Action, LinkID: b.LinkID.Ptr(),
			Revision: b.Revision.Ptr(), Input: b.Input.Value.Value, State: automation.Pending}
	}
	if err := automation.AddItems(ctx, tx, j.ID, added); err != nil {
		return op.Item[automation.Record]{}, err
	}
	o, err := automation.Start(ctx, c, tx, &j)
	return j.Accepted(o), err
}

// check refuses what is wrong with a batch besides the data of its items. It
// refuses inputs with fields that are unknown, missing or of another type;
// anything else wrong with an input becomes the error of its item.
func (a *actions) check(items []Change) error {
	var p fault.Problems
	seen := map[string]bool{}
	for n, b := range items {
		at := fault.Pointer("items", n)
		if seen[b.ClientID] {
			p.Add(at+"/clientId", fault.ReasonDuplicate, "another item has the same clientId; give each item its own")
		}
		seen[b.ClientID] = true
		creates, deletes := b.Action == automation.ActionCreate, b.Action == automation.ActionDelete
		for _, field := range []struct {
			name         string
			sent, wanted bool
		}{{"linkId", b.LinkID.Set, !creates}, {"revision", b.Revision.Set, !creates},
			{"input", b.Input.Set, !deletes}} {
			if field.wanted && !field.sent {
				p.Add(at+"/"+field.name, fault.ReasonRequired, "the action %s needs this field", b.Action)
			} else if field.sent && !field.wanted {
				p.Add(at+"/"+field.name, fault.ReasonNotAllowed, "the action %s does not take this field", b.Action)
			}
		}
		if b.Input.Set && !deletes {
			var input fault.Problems
			input.Keep(a.read(b.Action, b.Input.Value.Value))
			found, err := input.Details()
			if err != nil {
				return err
			}
			p.Include(at+"/input",
				slices.DeleteFunc(found, func(d fault.Detail) bool { return !d.Code.BreaksShape() })...)
		}
	}
	return p.Refusal()
}

type itemsInput struct {
	BatchID string `path:"batchId"`
}

func items(ctx context.Context, c *op.Call, in *itemsInput, w op.Window) ([]Item, error) {
	stored, err := automation.Items(ctx, c.DB, in.BatchID, w)
	shown := make([]Item, len(stored))
	for n, i := range stored {
		shown[n] = Item{ClientID: i.ClientID, Ordinal: i.Ordinal, State: i.State, Result: i.Result, Error: i.Error}
	}
	return shown, err
}
