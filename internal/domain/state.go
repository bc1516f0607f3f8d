package domain

import "github.com/waymarkhq/waymark/internal/schema"

// Mode is how a hostname connects.
type Mode string

// The modes: below the installation's own zone, with a zone that the installation
// serves, or with records that its owner sets elsewhere.
const (
	Platform Mode = "platform"
	Managed  Mode = "managed"
	External Mode = "external"
)

// Schema implements schema.Provider.
func (Mode) Schema(*schema.Registry) *schema.Schema { return schema.Enum(Platform, Managed, External) }

// Ownership is whether the hostname was proved to be the app's.
type Ownership string

// The states of ownership.
const (
	OwnershipUnverified Ownership = "unverified"
	OwnershipPending    Ownership = "pending"
	OwnershipVerified   Ownership = "verified"
	OwnershipFailed     Ownership = "failed"
)

// Schema implements schema.Provider.
func (Ownership) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(OwnershipUnverified, OwnershipPending, OwnershipVerified, OwnershipFailed)
}

// DNS is whether the hostname leads to the redirector.
type DNS string

// The states of DNS.
const (
	DNSPending       DNS = "pending"
	DNSConfigured    DNS = "configured"
	DNSMisconfigured DNS = "misconfigured"
)

// Schema implements schema.Provider.
func (DNS) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(DNSPending, DNSConfigured, DNSMisconfigured)
}

// HTTPS is whether the hostname has a certificate.
type HTTPS string

// The states of HTTPS. It is delegated where TLS ends in front of the redirector.
const (
	HTTPSPending   HTTPS = "pending"
	HTTPSIssuing   HTTPS = "issuing"
	HTTPSActive    HTTPS = "active"
	HTTPSFailed    HTTPS = "failed"
	HTTPSDelegated HTTPS = "delegated"
)

// Schema implements schema.Provider.
func (HTTPS) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(HTTPSPending, HTTPSIssuing, HTTPSActive, HTTPSFailed, HTTPSDelegated)
}

// Links is whether links can be made on the hostname.
type Links string

// The states of links.
const (
	LinksPending Links = "pending"
	LinksReady   Links = "ready"
	LinksBlocked Links = "blocked"
)

// Schema implements schema.Provider.
func (Links) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(LinksPending, LinksReady, LinksBlocked)
}

// Removal is how far the removal of a domain has come.
type Removal string

// The states of a removal.
const (
	RemovalPending Removal = "pending"
	Removing       Removal = "removing"
	Removed        Removal = "removed"
	RemovalFailed  Removal = "failed"
)

// Schema implements schema.Provider.
func (Removal) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(RemovalPending, Removing, Removed, RemovalFailed)
}
