// Package domain owns hostnames: who holds them, how they connect and what
// state they are in (api-v1.md, Domain; completions.md §4). It does not hold what
// is served on them: routes are package route's.
package domain

import (
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
)

// Domain is a hostname of an app.
type Domain struct {
	ID                string                      `json:"id" format:"uuid"`
	AppID             string                      `json:"appId"`
	Hostname          string                      `json:"hostname"`
	Mode              Mode                        `json:"mode"`
	Ownership         Ownership                   `json:"ownership" doc:"Observed; not part of the revision."`
	DNS               DNS                         `json:"dns" doc:"Observed; not part of the revision."`
	HTTPS             HTTPS                       `json:"https" doc:"Observed; not part of the revision."`
	Links             Links                       `json:"links" doc:"Whether links can be made. Observed; not part of the revision."`
	Detached          bool                        `json:"detached"`
	RemovalState      opt.Null[Removal]           `json:"removalState" doc:"Not part of the revision."`
	CanManageDNS      bool                        `json:"canManageDns"`
	ZoneName          string                      `json:"zoneName" doc:"The DNS zone of the hostname; of a managed domain the one at the DNS provider. Not part of the revision."`
	Nameservers       []string                    `json:"nameservers"`
	Challenge         opt.Null[Challenge]         `json:"challenge"`
	ConnectionRecords []Record                    `json:"connectionRecords"`
	NativeConfig      NativeConfig                `json:"nativeConfig"`
	Publication       publication.State           `json:"publication" doc:"Not part of the revision."`
	LastCheckedAt     *clock.Instant              `json:"lastCheckedAt" format:"date-time" doc:"Not part of the revision."`
	LastError         opt.Null[publication.Error] `json:"lastError" doc:"Not part of the revision."`
	Revision          string                      `json:"revision" format:"uuid"`
	CreatedAt         clock.Instant               `json:"createdAt" format:"date-time"`
	UpdatedAt         clock.Instant               `json:"updatedAt" format:"date-time"`

	// verifiedAt is when the ownership was proved first; nil means never.
	verifiedAt *clock.Instant
	// apexProfile is how an apex hostname connects; "" means by CNAME.
	apexProfile string
	// verification is what the last verification saw; null before the first.
	verification opt.Null[verification]
	// failures counts the failed checks in a row of a domain that works, the first of
	// which was at failingSince.
	failures     int64
	failingSince *clock.Instant
	// nextCheckAt is when the domain is checked again by itself; nil means never.
	nextCheckAt *clock.Instant
	web         WebConfig
	recovery    RecoveryConfig
	templates   binding.Bindings
}

// Challenge proves the ownership of a hostname.
type Challenge struct {
	Type      string         `json:"type" enum:"TXT"`
	Name      string         `json:"name"`
	Value     string         `json:"value"`
	Status    string         `json:"status" enum:"pending,verified"`
	ExpiresAt *clock.Instant `json:"expiresAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Challenge) SchemaName() string { return "DomainChallenge" }

// Record is a DNS record that connects a hostname.
type Record struct {
	Type     string   `json:"type"`
	Name     string   `json:"name"`
	Value    string   `json:"value"`
	TTL      int64    `json:"ttl"`
	Status   string   `json:"status" enum:"pending,ok,wrong"`
	Observed []string `json:"observed"`
}

// SchemaName implements schema.Named.
func (Record) SchemaName() string { return "DnsConnectionRecord" }

// Position implements op.Positioned.
func (d Domain) Position() cursor.Position { return cursor.Position{At: d.CreatedAt, ID: d.ID} }

func (d Domain) ref() op.Ref {
	return op.Ref{Type: "domain", ID: d.ID, AppID: d.AppID, Revision: d.Revision}
}
