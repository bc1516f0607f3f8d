package domain

import (
	"context"

	"github.com/waymarkhq/waymark/internal/op"
)

// Choices are how an installation connects domains (getDomainOptions; completions.md
// §4).
type Choices struct {
	Modes         []Mode        `json:"modes" doc:"The modes that createDomains accepts here."`
	PlatformZones []string      `json:"platformZones" doc:"Zones below which platform domains are made."`
	ApexProfiles  []ApexProfile `json:"apexProfiles" doc:"How a hostname connects that cannot have a CNAME, such as example.com."`
	Connection    Target        `json:"connection"`
	Nameservers   []string      `json:"nameservers" doc:"Where the zone of a managed domain is delegated to."`
	Limits        ChoiceLimits  `json:"limits"`
}

// SchemaName implements schema.Named.
func (Choices) SchemaName() string { return "DomainOptions" }

// Target is where the DNS of an owner's hostname must lead.
type Target struct {
	CNAME *string  `json:"cname" maxLength:"253" example:"connect.example.com" doc:"Target of a CNAME record; null when hostnames need addresses."`
	A     []string `json:"a" doc:"IPv4 addresses for A records."`
	AAAA  []string `json:"aaaa" doc:"IPv6 addresses for AAAA records."`
}

// SchemaName implements schema.Named.
func (Target) SchemaName() string { return "DomainConnection" }

// ApexProfile is a set of records that connects an apex hostname.
type ApexProfile struct {
	ID      string       `json:"id" doc:"The apexProfileId of createDomains."`
	Name    string       `json:"name"`
	Records []ApexRecord `json:"records"`
}

// SchemaName implements schema.Named.
func (ApexProfile) SchemaName() string { return "DomainApexProfile" }

// ApexRecord is a record of the apex hostname itself.
type ApexRecord struct {
	Type  string `json:"type" enum:"A,AAAA"`
	Value string `json:"value"`
}

// SchemaName implements schema.Named.
func (ApexRecord) SchemaName() string { return "DomainApexRecord" }

// ChoiceLimits bound what createDomains takes.
type ChoiceLimits struct {
	Prefix  int64 `json:"prefix" doc:"Most characters of a prefix."`
	Domains int64 `json:"domains" doc:"Most domains of one app."`
}

// SchemaName implements schema.Named.
func (ChoiceLimits) SchemaName() string { return "DomainLimits" }

type choicesInput struct {
	AppID string `query:"appId" required:"true" maxLength:"500"`
}

func (o Options) choices(context.Context, *op.Call, *choicesInput) (op.Item[Choices], error) {
	all := Choices{Modes: []Mode{}, PlatformZones: []string{}, ApexProfiles: []ApexProfile{}, Nameservers: []string{},
		Connection: Target{A: []string{}, AAAA: []string{}},
		Limits:     ChoiceLimits{Prefix: maxPrefix, Domains: o.PerApp}}
	for _, mode := range []Mode{Platform, Managed, External} {
		if o.unavailable(mode) == nil {
			all.Modes = append(all.Modes, mode)
		}
	}
	if o.PlatformZone != "" {
		all.PlatformZones = append(all.PlatformZones, o.PlatformZone)
	}
	all.Nameservers = append(all.Nameservers, o.Nameservers...)
	if o.Connection.CNAME != "" {
		all.Connection.CNAME = &o.Connection.CNAME
	}
	profile := ApexProfile{ID: apexByAddress, Name: "By address", Records: []ApexRecord{}}
	for _, address := range o.Connection.Addresses {
		kind, list := addressType(address), &all.Connection.A
		if kind == "AAAA" {
			list = &all.Connection.AAAA
		}
		*list = append(*list, address.String())
		profile.Records = append(profile.Records, ApexRecord{kind, address.String()})
	}
	if len(profile.Records) > 0 {
		all.ApexProfiles = append(all.ApexProfiles, profile)
	}
	return op.Item[Choices]{Data: all}, nil
}
