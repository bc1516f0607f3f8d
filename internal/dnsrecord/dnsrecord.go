// Package dnsrecord owns the DNS records of managed domains and brings them to the
// DNS provider of the installation (api-v1.md, Domains; completions.md §4, DNS
// records).
//
// A call changes rows and leaves a job; only the job speaks to the provider. What a
// provider changes is a set, all records of one name and type, so a set is what is
// applied, has one TTL, and is found as it should be or not. A set that somebody
// changed at the provider is shown and left alone until the owner changes one of
// its records here: that replaces what was shown.
//
// The package does not hold domains: it reads them, and package domain says which
// records the installation itself needs (Ensure) and when all go (RemoveAll).
package dnsrecord

import (
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/schema"
)

const (
	// maxPerDomain bounds the records that an owner adds to a domain.
	maxPerDomain = 200
	// maxPerSet and maxSetBytes bound the values of one name and type, so that two
	// contents of a set fit into one message to a provider.
	maxPerSet   = 20
	maxSetBytes = 16 << 10
	// defaultTTL is the TTL in seconds of a set that was given none.
	defaultTTL = 300
)

// Record is a DNS record of a managed domain.
type Record struct {
	ID        string                      `json:"id" format:"uuid"`
	DomainID  string                      `json:"domainId"`
	Type      Type                        `json:"type"`
	Name      string                      `json:"name" maxLength:"253" doc:"Relative to the domain's hostname, whatever its zone; @ is the hostname itself."`
	Value     string                      `json:"value" doc:"As zone files have it, hostnames without a final dot, texts without quotes, MX and SRV without their priority."`
	TTL       int64                       `json:"ttl" minimum:"60" maximum:"86400" doc:"Seconds. All records of one name and type have the same."`
	Priority  *int64                      `json:"priority" minimum:"0" maximum:"65535" doc:"Of MX and SRV; null for others."`
	System    bool                        `json:"system" doc:"Made by the installation, and read only."`
	Status    Status                      `json:"status" doc:"Whether the DNS provider has the records of this name and type: pending while they are brought there, wrong when it has others or they could not be brought there. Not part of the revision."`
	Observed  []string                    `json:"observed" doc:"What the DNS provider had for this name and type at the last look, MX and SRV with their priority. Not part of the revision."`
	LastError opt.Null[publication.Error] `json:"lastError" doc:"Why the status is wrong, and what to do. Not part of the revision."`

	Revision  string        `json:"revision" format:"uuid"`
	CreatedAt clock.Instant `json:"createdAt" format:"date-time"`
	UpdatedAt clock.Instant `json:"updatedAt" format:"date-time"`

	set set
}

// SchemaName implements schema.Named.
func (Record) SchemaName() string { return "DnsRecord" }

// Type is the type of a record.
type Type string

// The types.
const (
	A     Type = "A"
	AAAA  Type = "AAAA"
	CNAME Type = "CNAME"
	TXT   Type = "TXT"
	MX    Type = "MX"
	CAA   Type = "CAA"
	SRV   Type = "SRV"
	NS    Type = "NS"
)

// Schema implements schema.Provider.
func (Type) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(A, AAAA, CNAME, TXT, MX, CAA, SRV, NS)
}

// Status is whether the DNS provider has the records of a name and type.
type Status string

// The statuses of a set.
const (
	Pending Status = "pending"
	OK      Status = "ok"
	Wrong   Status = "wrong"
)

// Schema implements schema.Provider.
func (Status) Schema(*schema.Registry) *schema.Schema { return schema.Enum(Pending, OK, Wrong) }

// Position implements op.Positioned.
func (r Record) Position() cursor.Position { return cursor.Position{At: r.CreatedAt, ID: r.ID} }

func (r Record) ref(appID string) op.Ref {
	return op.Ref{Type: "dns_record", ID: r.ID, AppID: appID, Revision: r.Revision}
}
