package delivery

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/schema"
)

// Type of an event, as destinations select it.
type Type string

// The event types. No destination selects Test: it is sent on request.
const (
	LinkCreated                  Type = "link.created"
	LinkUpdated                  Type = "link.updated"
	LinkDeleted                  Type = "link.deleted"
	DomainStatusChanged          Type = "domain.status_changed"
	TemplatePublicationSucceeded Type = "template.publication_succeeded"
	TemplatePublicationFailed    Type = "template.publication_failed"
	OperationCompleted           Type = "operation.completed"
	OperationFailed              Type = "operation.failed"
	ExportReady                  Type = "export.ready"
	Test                         Type = "webhook.test"
)

// Selectable are the types that a destination may select.
var Selectable = []Type{
	LinkCreated, LinkUpdated, LinkDeleted, DomainStatusChanged, TemplatePublicationSucceeded, TemplatePublicationFailed,
	OperationCompleted, OperationFailed, ExportReady,
}

// Types are all types of events.
func Types() []Type { return append(slices.Clone(Selectable), Test) }

// Schema implements schema.Provider.
func (Type) Schema(*schema.Registry) *schema.Schema { return schema.Enum(Types()...) }

// Event is what happened to one resource of an app.
type Event struct {
	ID         string
	Type       Type
	AppID      string
	ResourceID string
	Revision   string // the resource's; its last one when it is gone
	OccurredAt clock.Instant
}
