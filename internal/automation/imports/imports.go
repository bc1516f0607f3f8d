// Package imports owns imports: links that come in a file, from another product
// or written by hand, are validated first and created on commit (api-v1.md,
// Imports; completions.md §8). It does not hold what a link is: package link
// does.
package imports

import (
	"context"

	"github.com/go-json-experiment/json"

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

const (
	// maxContent is the largest content in bytes.
	maxContent = 24_000
	// maxRows is how many links an import may have.
	maxRows = 50
)

// CreateImport is the body of createImports.
type CreateImport struct {
	AppID   string           `json:"appId" minLength:"1" maxLength:"500"`
	Format  string           `json:"format" enum:"csv,json"`
	Content string           `json:"content" maxLength:"32768" controls:"allowed" example:"domain,slug,desktopUrl\ngo.example.com,spring,https://shop.example.com/spring\n" doc:"A CSV text with a header, or a JSON array of objects: at most 24,000 bytes and 50 links."`
	Mapping opt.Opt[Mapping] `json:"mapping,omitzero" maxProperties:"100" doc:"The field that each column gives, as {\"long_url\": \"desktopUrl\"}, and constants, as {\"webOnly\": {\"value\": true}}, for rows that say nothing about a field. Columns that it does not name are ignored; where it names none, the columns must be named as fields."`
}

// SchemaName implements schema.Named.
func (CreateImport) SchemaName() string { return "ImportCreate" }

// ImportItem is one link of an import and how it ended.
type ImportItem struct {
	ClientID string                          `json:"clientId" doc:"row-1, row-2 and so on where the content gives none."`
	Ordinal  int64                           `json:"ordinal" minimum:"1"`
	State    string                          `json:"state" enum:"pending,valid,invalid,succeeded,failed,cancelled"`
	Input    opt.Null[opt.Object]            `json:"input" doc:"The fields of the link as they were read. Store pages that neither the row nor the mapping gives are null: an import does not take the app's."`
	Result   opt.Null[automation.ItemResult] `json:"result"`
	Error    opt.Null[automation.ItemError]  `json:"error"`
}

// Position implements op.Positioned.
func (i ImportItem) Position() cursor.Position {
	return automation.Item{Ordinal: i.Ordinal, ClientID: i.ClientID}.Position()
}

// request is what is stored of an import besides its items.
type request struct {
	// Problems are the fields that could not be read, by the ordinal of their
	// row. Such a row is refused when the import is validated; it does not
	// refuse the whole import.
	Problems map[int64][]fault.Detail `json:"problems"`
}

// service holds what the operations and the work need.
type service struct {
	links  *link.Service
	create func([]byte) (link.CreateLink, error)
}

// Register declares the operations of this package, adds what they do to works and
// returns the package's part.
func Register(p *op.Pipeline, works *durable.Works, links *link.Service) part.Part {
	i := &service{links, op.Reader[link.CreateLink](p)}
	app := op.AppOf("importId", automation.AppOf(automation.Import))
	op.Write(p, op.Op{ID: "createImports", Method: "POST", Path: "/imports", Perm: "imports:create", App: op.AppInBody,
		Summary: "Import links from CSV or JSON", Doc: "Mistakes in the text, its columns or the mapping are refused " +
			"here. Mistakes in a single link make its item invalid when the import is validated."}, i.upload)
	op.Write(p, op.Op{ID: "validateImportsImportId", Method: "POST", Path: "/imports/{importId}/validate",
		Perm: "imports:validate", App: app, Needs: creates, IfMatch: op.IfMatchOptional, Status: 200,
		Summary: "Validate an import without creating links",
		Doc: "Each item becomes valid or invalid; the answer counts both, and the items tell what is wrong. It " +
			"creates and reserves nothing, and can be repeated. Needs links:create."}, i.validate)
	op.Write(p, op.Op{ID: "commitImportsImportId", Method: "POST", Path: "/imports/{importId}/commit",
		Perm: "imports:commit", App: app, Needs: creates, IfMatch: op.IfMatchRequired, Status: 202,
		Summary: "Create the links of an import", Doc: "Each link is created on its own; one that fails does not " +
			"stop the others. Invalid items are left out and counted: with any of them the import is " +
			"partially_succeeded at best. " +
			"Audit has a createLinks event for each link and a commitImportsImportId event for the import, all with " +
			"the id of this request as correlationId. Needs links:create."}, i.commit)
	op.Read(p, op.Op{ID: "getImportsImportId", Method: "GET", Path: "/imports/{importId}", Perm: "imports:read",
		App: app, Summary: "Get the status of an import"}, get)
	op.ListOrFile(p, op.Op{ID: "getImportsImportIdItems", Method: "GET", Path: "/imports/{importId}/items",
		Perm: "imports:read", App: app, Summary: "List the results of an import",
		Doc: "format=csv returns everything as a report; limit and cursor are then not allowed."}, []string{"text/csv"},
		report, items)
	return part.Part{Name: "imports", Kinds: []jobs.Kind{works.Add(automation.ItemKind{
		Kind: automation.Import, Waiting: automation.Valid, Permission: "imports:commit",
		Apply: i.apply, Creates: func(c *op.Call, _ *automation.Item) bool { return c.Actor.May(createLinks, false) },
		Budget: automation.CreationBudget(p),
	}.Work())}}
}

// createLinks is the permission that every step towards links needs.
const createLinks = "links:create"

func creates(any) []string { return []string{createLinks} }

func (s *service) upload(ctx context.Context, c *op.Call, tx *store.Tx,
	in *struct{ Body CreateImport }) (op.Item[automation.Record], error) {
	rows, constants, err := read(&in.Body)
	if err == nil {
		err = s.checkConstants(constants)
	}
	if err != nil {
		return op.Item[automation.Record]{}, err
	}
	domain, err := store.One(ctx, tx, store.Value[*string], "SELECT default_domain FROM app WHERE id = ?", c.AppID)
	if err != nil {
		return op.Item[automation.Record]{}, err
	}
	r := request{Problems: map[int64][]fault.Detail{}}
	added := make([]automation.Item, len(rows))
	for n := range rows {
		added[n] = automation.Item{ClientID: rows[n].clientID(n), Action: automation.ActionCreate,
			Input: rows[n].input(domain), State: automation.Pending}
		unread, err := rows[n].problems.Details()
		if err != nil {
			return op.Item[automation.Record]{}, err
		}
		if len(unread) > 0 {
			r.Problems[int64(n+1)] = unread
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		return op.Item[automation.Record]{}, err
	}
	j, err := automation.Create(ctx, c, tx, automation.Import, automation.Uploaded, string(text), len(added))
	if err == nil {
		err = automation.AddItems(ctx, tx, j.ID, added)
	}
	return op.Item[automation.Record]{Data: j, Ref: j.Ref(), Location: op.Location("imports", j.ID)}, err
}
