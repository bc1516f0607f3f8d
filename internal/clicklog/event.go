package clicklog

import "github.com/waymarkhq/waymark/internal/clock"

// EventType tells what a visitor or an app did (completions.md §7).
type EventType string

// The event types of analytics.
const (
	Click             EventType = "click"
	AppOpen           EventType = "app_open"
	ContentView       EventType = "content_view"
	LegacyContentLoad EventType = "legacy_content_load"
	RecoveryCreated   EventType = "recovery_created"
	RecoveryMatched   EventType = "recovery_matched"
)

// Event is one row of analytics: everything it will ever be counted or
// filtered by, as it was at that moment. It holds no client address and no
// raw user agent.
type Event struct {
	// ID deduplicates the event. Append sets it: 47 random bits, so that with
	// app and instant it is unique and costs an event store six bytes.
	ID   int64
	At   clock.Instant
	Type EventType

	Link Link

	// Visitor is a keyed hash of (day-rotated salt, client address, user
	// agent); it cannot be turned back once the salt is destroyed.
	Visitor int64
	// Install is a keyed hash of the SDK's install id, 0 when unknown.
	Install int64

	Device       string // android, ios, desktop, other, bot
	OS           string // "" when unknown
	Browser      string // "" when unknown
	Source       string // browser, social, qr, app, unknown
	Country      string // ISO 3166-1 alpha-2, or ZZ
	ReferrerHost string // "" when none
	RuleID       string // the routing rule that matched, "" when none
	Destination  string // web, store, app, page, none

	// Limited tells that the event counts against its link's limit of clicks.
	Limited bool
	// Unstored tells that the event is not stored for analytics. It is in the log because
	// it is Limited: those are counted from the log, each exactly once.
	Unstored bool
}

// Link is what analytics groups an event by: the link as it was when the
// event happened. It outlives the link.
type Link struct {
	ID         string
	AppID      string
	Hostname   string
	Prefix     string
	Slug       string
	Group      string // main, operational
	CampaignID string // "" when none
	FolderID   string // "" when none
	TagIDs     []string
}
