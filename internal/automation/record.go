// Package automation owns the record that exports, batches and imports share,
// their items, and the way items are worked off one transaction at a time
// (api-v1.md, Automation job; completions.md §8). Packages batches, exports and
// imports, inside this folder, know what an item does.
package automation

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
)

// The kinds of jobs. They are also the types of their operations.
const (
	Export = "export"
	Batch  = "batch"
	Import = "import"
)

// The states of a job besides those of its operation.
const (
	Uploaded  = "uploaded"
	Validated = "validated"
	Expired   = "expired"
)

// Retention is how long a job and its items can be read.
const Retention = 30 * 24 * time.Hour

// Unfinished is how long an import may wait for its commit, and how long the
// file of an export can be downloaded.
const Unfinished = 24 * time.Hour

// MaxRecords is how many jobs of an app are kept (api-v1.md, Sizes and counts).
const MaxRecords = 100

// Record is an export, a batch or an import.
type Record struct {
	ID          string        `json:"id" format:"uuid"`
	AppID       string        `json:"appId"`
	Kind        string        `json:"kind" enum:"export,batch,import"`
	State       string        `json:"state" enum:"uploaded,validated,queued,running,succeeded,partially_succeeded,failed,cancelled,expired"`
	OperationID *string       `json:"operationId" doc:"The operation to follow; null for an import that is not committed."`
	Revision    string        `json:"revision" format:"uuid"`
	Total       int64         `json:"total" doc:"How many items there are, or records in an export."`
	Invalid     int64         `json:"invalid" doc:"How many items of an import have invalid data: no commit tries them. 0 until the import is validated."`
	Succeeded   int64         `json:"succeeded"`
	Failed      int64         `json:"failed" doc:"How many items were tried and failed; those that are invalid are not among them."`
	ExpiresAt   clock.Instant `json:"expiresAt" format:"date-time" doc:"When the file of an export is removed; of a batch or an import, when the record is removed."`
	CreatedAt   clock.Instant `json:"createdAt" format:"date-time"`
	UpdatedAt   clock.Instant `json:"updatedAt" format:"date-time"`
	DownloadURL *string       `json:"downloadUrl" doc:"Path of the file of an export; null before it is ready and after it is removed."`

	// Request is what the kind needs to know besides its items, as JSON.
	Request string `json:"-"`
}

// SchemaName implements schema.Named.
func (Record) SchemaName() string { return "AutomationJob" }

// Ref names the record for audit.
func (j *Record) Ref() op.Ref {
	return op.Ref{Type: j.Kind, ID: j.ID, AppID: j.AppID, Revision: j.Revision}
}

// Accepted is the answer of an operation that started the record's work.
func (j *Record) Accepted(o durable.Operation) op.Item[Record] {
	return op.Item[Record]{Data: *j, Ref: j.Ref(), Location: o.Location(), RetryAfter: durable.PollSeconds}
}

// The actions of items. The items of an import all have the action create.
const (
	ActionCreate  = "create"
	ActionUpdate  = "update"
	ActionMove    = "move"
	ActionArchive = "archive"
	ActionDelete  = "delete"
)

// Item is one part of a batch or an import.
type Item struct {
	Ordinal  int64
	ClientID string
	Action   string
	LinkID   *string
	Revision *string
	Input    jsontext.Value
	State    string
	Result   opt.Null[ItemResult]
	Error    opt.Null[ItemError]
}

// The states of an item. An item of a batch is pending until it is tried; an
// item of an import first becomes valid or invalid.
const (
	Pending   = "pending"
	Valid     = "valid"
	Invalid   = "invalid"
	Succeeded = "succeeded"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// ItemResult names the link that an item made or changed, with its revision;
// for a deleted link that is its last one.
type ItemResult struct {
	LinkID   string `json:"linkId"`
	Revision string `json:"revision" format:"uuid"`
}

// SchemaName implements schema.Named.
func (ItemResult) SchemaName() string { return "AutomationItemResult" }

// ItemError says why an item failed or is invalid, sanitized.
type ItemError struct {
	Code    fault.Code     `json:"code" example:"validation_failed"`
	Message string         `json:"message"`
	Details []fault.Detail `json:"details,omitempty" doc:"What exactly was refused, at JSON Pointers into the item's input; absent when there is nothing to point at."`
	// Dependencies stand in the way of a removal.
	Dependencies []fault.Dependency `json:"dependencies,omitempty"`
}

// SchemaName implements schema.Named.
func (ItemError) SchemaName() string { return "AutomationItemError" }

// Refused returns the error of an item that a refusal stopped.
func Refused(f *fault.Error) ItemError {
	e := ItemError{Code: f.Code, Message: f.Message, Details: f.Details, Dependencies: f.Dependencies}
	if f.Code == fault.RevisionConflict {
		e.Message = "The revision is not the current one of the link. Read the link again and send its new revision."
	}
	return e
}

// operation returns the API operation that does the item's action to a single
// link: audit records the effect under its name.
func (i *Item) operation() string {
	switch i.Action {
	case ActionCreate:
		return "createLinks"
	case ActionDelete:
		return "deleteLinksLinkId"
	default:
		return "updateLinksLinkId"
	}
}

// Position implements op.Positioned: items are listed in their order.
func (i Item) Position() cursor.Position {
	return cursor.Position{At: clock.Instant(i.Ordinal), ID: i.ClientID}
}
